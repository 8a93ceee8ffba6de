// The options of engines as programs hold them. POPLAR_ENGINE_OPTIONS, read by
// every engine, has the form that readJSONFromEnv() takes.
#pragma once

#include <poplar/OptionFlags.hpp>
