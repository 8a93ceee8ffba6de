// The largest things that an executable may hold. Numbers within these limits
// can be multiplied with each other, as the compiler and the model do.
#pragma once

#include <cstdint>

namespace poplar::executable {

// Elements of a tensor, and tiles of a system.
constexpr std::int64_t maxElements = std::int64_t(1) << 39;
constexpr std::uint64_t maxTiles = std::uint64_t(1) << 23;

// Programs are walked by recursion.
constexpr std::uint64_t maxNesting = 4096;
// Nodes that a walk over a program meets, shared ones each time.
constexpr std::uint64_t maxWalk = std::uint64_t(1) << 28;

} // namespace poplar::executable
