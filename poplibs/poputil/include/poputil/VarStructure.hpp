// How the elements of a tensor are grouped in memory.
#pragma once

#include <utility>

namespace poputil {

// A dimension, and how many of its consecutive elements lie side by side.
using GroupingInfo = std::pair<unsigned, unsigned>;

} // namespace poputil
