// Random numbers, a block of 64 at a time: sixteen counters side by side, then
// the distribution over each sixteen of their words.
#include "Loops.hpp"

#include <cstring>

#include <immintrin.h>

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using random::countersPerBlock;
using random::elementsPerBlock;
using random::Stream;

// One register of words, and of products of two words. The products are
// written out: the compiler sees no vectors in them (2.5 ns a word instead of
// 0.4 with AVX-512, 1.0 with AVX2).
#if defined(__AVX512F__)
constexpr std::size_t registerBytes = 64;
#elif defined(__AVX2__)
constexpr std::size_t registerBytes = 32;
#else
constexpr std::size_t registerBytes = 16;
#endif
using Words = std::uint32_t __attribute__((vector_size(registerBytes)));
using Products = std::uint64_t __attribute__((vector_size(registerBytes)));
constexpr std::size_t wordsPerRegister = registerBytes / sizeof(std::uint32_t);
constexpr std::size_t registers = countersPerBlock / wordsPerRegister;

// Of the even words.
inline Products evenProducts(Words a, Words b) {
#if defined(__AVX512F__)
  return (Products)_mm512_maskz_mul_epu32(0xff, (__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Products)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
  return (Products)_mm_mul_epu32((__m128i)a, (__m128i)b);
#endif
}

inline void multiply(Words a, std::uint32_t factor, Words &high, Words &low) {
  const Words factors = factor - Words{};
  const Products even = evenProducts(a, factors);
  const Products odd = evenProducts((Words)((Products)a >> 32), factors);
  const Products lowHalf = 0xffffffffULL - Products{};
  high = (Words)((even >> 32) | (odd & ~lowHalf));
  low = (Words)((even & lowHalf) | (odd << 32));
}

// The words of one block, in the order of its elements: Philox as
// random::philox() has it, on sixteen counters.
inline void wordsOfBlock(const Stream &stream, std::int64_t block,
                         std::uint32_t *words) {
  const auto counter = static_cast<std::uint64_t>(block * countersPerBlock);
  Words c0[registers], c1[registers], c2[registers], c3[registers];
  for (std::size_t r = 0; r < registers; ++r) {
    for (std::size_t i = 0; i < wordsPerRegister; ++i) {
      c0[r][i] = static_cast<std::uint32_t>(counter + r * wordsPerRegister + i);
    }
    c1[r] = static_cast<std::uint32_t>(counter >> 32) - Words{};
    c2[r] = stream.modifier - Words{};
    c3[r] = Words{};
  }
  std::uint32_t k0 = stream.seed[0], k1 = stream.seed[1];
  for (int round = 0; round < random::philoxRounds; ++round) {
    for (std::size_t r = 0; r < registers; ++r) {
      Words high0, low0, high1, low1;
      multiply(c0[r], random::philoxFactor0, high0, low0);
      multiply(c2[r], random::philoxFactor1, high1, low1);
      c0[r] = high1 ^ c1[r] ^ k0;
      c1[r] = low1;
      c2[r] = high0 ^ c3[r] ^ k1;
      c3[r] = low0;
    }
    random::philoxNextKey(k0, k1);
  }
  std::memcpy(words, c0, sizeof c0);
  std::memcpy(words + countersPerBlock, c1, sizeof c1);
  std::memcpy(words + 2 * countersPerBlock, c2, sizeof c2);
  std::memcpy(words + 3 * countersPerBlock, c3, sizeof c3);
}

template <typename Distribution, typename Number>
void draw(const Stream &stream, const Distribution &distribution,
          std::int64_t firstBlock, std::int64_t blocks, Number *out) {
  const Distribution local = distribution;
  for (std::int64_t block = 0; block < blocks; ++block) {
    std::uint32_t words[elementsPerBlock];
    wordsOfBlock(stream, firstBlock + block, words);
    Number *__restrict to = out + block * elementsPerBlock;
    for (std::int64_t i = 0; i < elementsPerBlock; ++i) {
      to[i] = local(words[i]);
    }
  }
}

void dropout(const Stream &stream, const random::Bernoulli &kept, float scale,
             std::int64_t firstBlock, std::int64_t count, const float *x,
             float *y) {
  const random::Bernoulli local = kept;
  for (std::int64_t at = 0; at < count; at += elementsPerBlock) {
    std::uint32_t words[elementsPerBlock];
    wordsOfBlock(stream, firstBlock + at / elementsPerBlock, words);
    const std::int64_t left = count - at;
    const std::int64_t length =
        left < elementsPerBlock ? left : elementsPerBlock;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < length; ++i) {
      const float scaled = x[at + i] * scale;
      y[at + i] = local.isHit(words[i]) ? scaled : 0.0f;
    }
  }
}

void roundStochastically(const Stream &stream, std::int64_t firstBlock,
                         std::int64_t count, const float *x, float *y) {
  for (std::int64_t at = 0; at < count; at += elementsPerBlock) {
    std::uint32_t words[elementsPerBlock];
    wordsOfBlock(stream, firstBlock + at / elementsPerBlock, words);
    const std::int64_t left = count - at;
    const std::int64_t length =
        left < elementsPerBlock ? left : elementsPerBlock;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < length; ++i) {
      y[at + i] = rounding::roundStochastically(x[at + i], words[i]);
    }
  }
}

void limit(const rounding::Control &control, std::int64_t count, const float *x,
           float *y) {
  const rounding::Control local = control;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] = rounding::limit(x[i], local);
  }
}

} // namespace

RandomLoops randomLoops() {
  return {draw<random::Uniform, float>,
          draw<random::Normal, float>,
          draw<random::TruncatedNormal, float>,
          draw<random::LogUniform, float>,
          draw<random::Bernoulli, float>,
          draw<random::UniformInt, std::int32_t>,
          draw<random::Bits, std::int32_t>,
          dropout,
          roundStochastically,
          limit};
}

} // namespace kernels::loops::LOOPS_LEVEL
