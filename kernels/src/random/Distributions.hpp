// From a random word to a number of a distribution. The reference and the
// vectorised loops share these functions, and are compiled without contraction
// to fused operations, so that both give the same bits.
#pragma once

#include <cmath>
#include <cstdint>

// Static, not inline: the loops compile this once per instruction set.
namespace kernels::random {

static inline float floatOfBits(std::int32_t bits) {
  return __builtin_bit_cast(float, bits);
}
static inline std::int32_t bitsOfFloat(float value) {
  return __builtin_bit_cast(std::int32_t, value);
}

// The natural logarithm of a normal number above zero; coefficients of the
// Cephes library, within 2 units in the last place.
static inline float logarithm(float x) {
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)).
  constexpr std::int32_t rootOfHalf = 0x3f3504f3;
  const std::int32_t exponent = (bitsOfFloat(x) - rootOfHalf) >> 23;
  const float m = floatOfBits(bitsOfFloat(x) -
                              static_cast<std::int32_t>(
                                  static_cast<std::uint32_t>(exponent) << 23)) -
                  1.0f;
  const float e = static_cast<float>(exponent);
  const float square = m * m;
  float y = 7.0376836292e-2f;
  y = y * m - 1.1514610310e-1f;
  y = y * m + 1.1676998740e-1f;
  y = y * m - 1.2420140846e-1f;
  y = y * m + 1.4249322787e-1f;
  y = y * m - 1.6668057665e-1f;
  y = y * m + 2.0000714765e-1f;
  y = y * m - 2.4999993993e-1f;
  y = y * m + 3.3333331174e-1f;
  y = y * m * square + e * -2.12194440e-4f - 0.5f * square;
  return m + y + e * 0.693359375f;
}

// e^x for results that are normal numbers; coefficients of the Cephes library.
static inline float exponential(float x) {
  const float scaled = x * 1.44269504088896341f + 0.5f;
  const auto truncated = static_cast<std::int32_t>(scaled);
  const std::int32_t n =
      truncated - (scaled < static_cast<float>(truncated) ? 1 : 0);
  const auto whole = static_cast<float>(n);
  const float r = x - whole * 0.693359375f - whole * -2.12194440e-4f;
  float y = 1.9875691500e-4f;
  y = y * r + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  return (y * (r * r) + r + 1.0f) *
         floatOfBits(static_cast<std::int32_t>(
             static_cast<std::uint32_t>(n + 127) << 23));
}

// sqrt(2) * erfinv(x) for |x| < 1: the standard normal's value below which lies
// (1 + x) / 2 of it. Coefficients of Giles, "Approximating the erfinv
// function", 2012.
static inline float normalQuantile(float x) {
  const float w = -logarithm((1.0f - x) * (1.0f + x));
  const float c = w - 2.5f;
  float central = 2.81022636e-08f;
  central = central * c + 3.43273939e-07f;
  central = central * c - 3.5233877e-06f;
  central = central * c - 4.39150654e-06f;
  central = central * c + 0.00021858087f;
  central = central * c - 0.00125372503f;
  central = central * c - 0.00417768164f;
  central = central * c + 0.246640727f;
  central = central * c + 1.50140941f;
  const float t = std::sqrt(w < 5.0f ? 5.0f : w) - 3.0f;
  float tail = -0.000200214257f;
  tail = tail * t + 0.000100950558f;
  tail = tail * t + 0.00134934322f;
  tail = tail * t - 0.00367342844f;
  tail = tail * t + 0.00573950773f;
  tail = tail * t - 0.0076224613f;
  tail = tail * t + 0.00943887047f;
  tail = tail * t + 1.00167406f;
  tail = tail * t + 2.83297682f;
  return 1.41421356f * (x * (w < 5.0f ? central : tail));
}

// In [0, 1), and in (-1, 1) without zero: both exact.
static inline float unitOf(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24f;
}
static inline float signedUnitOf(std::uint32_t word) {
  const std::int32_t t = static_cast<std::int32_t>(word) >> 8;
  return static_cast<float>(2 * t + 1) * 0x1p-24f;
}

static inline float within(float value, float low, float high) {
  const float above = value < low ? low : value;
  return above > high ? high : above;
}

// The distributions, with what follows from their parameters worked out.
struct Uniform {
  float low, high, range; // range = high - low

  float operator()(std::uint32_t word) const {
    return within(low + range * unitOf(word), low, high);
  }
};

struct Normal {
  float mean, stdDev;

  float operator()(std::uint32_t word) const {
    return mean + stdDev * normalQuantile(signedUnitOf(word));
  }
};

struct TruncatedNormal {
  float mean, stdDev;
  float low, high; // mean -+ alpha * stdDev
  float inside;    // how much of the normal lies between them

  float operator()(std::uint32_t word) const {
    const float x = normalQuantile(inside * signedUnitOf(word));
    return within(mean + stdDev * x, low, high);
  }
};

struct LogUniform {
  float low, high, logRange; // logRange = ln(high / low)

  float operator()(std::uint32_t word) const {
    return within(low * exponential(logRange * unitOf(word)), low, high);
  }
};

// Of 2^31 equally likely words, `threshold` are hits.
struct Bernoulli {
  std::uint32_t threshold;

  bool isHit(std::uint32_t word) const { return (word >> 1) < threshold; }
  float operator()(std::uint32_t word) const {
    return isHit(word) ? 1.0f : 0.0f;
  }
};

struct UniformInt {
  std::int64_t low;
  std::uint64_t count; // of values, at most 2^32

  std::int32_t operator()(std::uint32_t word) const {
    return static_cast<std::int32_t>(
        low + static_cast<std::int64_t>((word * count) >> 32));
  }
};

struct Bits {
  std::int32_t operator()(std::uint32_t word) const {
    return static_cast<std::int32_t>(word);
  }
};

} // namespace kernels::random
