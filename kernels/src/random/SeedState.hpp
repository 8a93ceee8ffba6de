// The state of a tile's generator: what operations without a seed draw from.
#pragma once

#include "random/Philox.hpp"

namespace kernels::random {

// A seed made of the state, which moves on; its first two words are used. A
// generator that nobody seeded, all zeros, has a state of its own on each tile
// and replica.
inline Words nextSeed(Words &state, std::uint32_t tile, std::uint32_t replica) {
  constexpr std::uint32_t keyOfState = 0;
  constexpr std::uint32_t keyOfSeed = 1;
  auto &w = state.word;
  if ((w[0] | w[1] | w[2] | w[3]) == 0) {
    w[0] = tile;
    w[1] = replica;
    w[2] = 1;
  }
  const Words seed = philox(state, keyOfSeed, 0);
  state = philox(state, keyOfState, 0);
  return seed;
}

} // namespace kernels::random
