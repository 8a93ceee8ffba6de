// What max pooling can do in one operation.
#pragma once

#include <cstdint>

namespace popart {

// Elements of a window; the pass splitLargePools takes larger ones apart.
constexpr std::int64_t mostPooledElements = 254;

} // namespace popart
