// Random numbers as a function of what they are for: Philox4x32-10 (Salmon et
// al., "Parallel random numbers: as easy as 1, 2, 3", 2011) turns a counter and
// a key into four words, so that any element can be computed on its own.
#pragma once

#include <cstdint>

// Static, not inline: the loops compile this once per instruction set.
namespace kernels::random {

inline constexpr int philoxRounds = 10;
inline constexpr std::uint32_t philoxFactor0 = 0xD2511F53;
inline constexpr std::uint32_t philoxFactor1 = 0xCD9E8D57;

// From the key of one round to that of the next.
static inline void philoxNextKey(std::uint32_t &k0, std::uint32_t &k1) {
  k0 += 0x9E3779B9;
  k1 += 0xBB67AE85;
}

// What the numbers of one operation are drawn from.
struct Stream {
  std::uint32_t seed[2];
  std::uint32_t modifier;
};

struct Words {
  std::uint32_t word[4];
};

static inline Words philox(Words counter, std::uint32_t k0, std::uint32_t k1) {
  auto &c = counter.word;
  for (int round = 0; round < philoxRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{philoxFactor0} * c[0];
    const std::uint64_t product1 = std::uint64_t{philoxFactor1} * c[2];
    c[0] = static_cast<std::uint32_t>(product1 >> 32) ^ c[1] ^ k0;
    c[1] = static_cast<std::uint32_t>(product1);
    c[2] = static_cast<std::uint32_t>(product0 >> 32) ^ c[3] ^ k1;
    c[3] = static_cast<std::uint32_t>(product0);
    philoxNextKey(k0, k1);
  }
  return counter;
}

// Elements are numbered in blocks of 64: sixteen counters, whose first words
// are the block's first sixteen elements, and so on. Sixteen counters side by
// side fill the registers, and no word moves to another lane.
inline constexpr std::int64_t countersPerBlock = 16;
inline constexpr std::int64_t elementsPerBlock = 4 * countersPerBlock;

// The random word of one element.
static inline std::uint32_t wordOf(const Stream &stream, std::int64_t element) {
  const std::int64_t block = element / elementsPerBlock;
  const std::int64_t inBlock = element % elementsPerBlock;
  const auto counter = static_cast<std::uint64_t>(block * countersPerBlock +
                                                  inBlock % countersPerBlock);
  const Words words =
      philox({{static_cast<std::uint32_t>(counter),
               static_cast<std::uint32_t>(counter >> 32), stream.modifier, 0}},
             stream.seed[0], stream.seed[1]);
  return words.word[inBlock / countersPerBlock];
}

} // namespace kernels::random
