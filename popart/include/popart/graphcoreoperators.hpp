// The names of ai.graphcore's operators, where programs look for them.
#pragma once

#include <popart/operators.hpp>
