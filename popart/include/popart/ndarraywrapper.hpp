// NDArrayWrapper, where programs look for it.
#pragma once

#include <popart/stepio.hpp>
