// Offsets in one arena for blocks of memory whose lifetimes are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace poplar::compiler {

struct ArenaBlock {
  std::size_t bytes = 0;
  // Positions of the nodes that define or read it, ascending; it is in use from
  // the first to the last of them.
  std::vector<std::uint32_t> uses;
};

// Memory is not reused at once by a node that need not wait for its last users:
// for this many further nodes it stays as it is.
inline constexpr std::uint32_t reuseDistance = 4;

// For each position, which of the `reuseDistance` nodes before it must have run
// anyhow: bit k - 1 stands for the one k positions earlier.
using Forerunners = std::vector<std::uint8_t>;

struct ArenaPlan {
  std::vector<std::size_t> offsets; // by block
  std::size_t bytes = 0;
};

// Blocks that are in use at the same time do not overlap.
ArenaPlan packArena(const std::vector<ArenaBlock> &blocks,
                    const Forerunners &forerunners);

} // namespace poplar::compiler
