// half: IEEE binary16, rounded to nearest even by every operation. In the
// global namespace, so that vertex names have it as "half".
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace poplar {
namespace popc {

// Doubles hold every float, so this rounds once whatever it is given.
inline std::uint16_t toHalfBits(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint64_t sign = (bits >> 48) & 0x8000u;
  const double magnitude = value < 0 ? -value : value;
  std::uint64_t half;
  if (value != value) {
    half = 0x7e00u;
  } else if (magnitude >= 65520.0) { // rounds to infinity
    half = 0x7c00u;
  } else if (magnitude < 1.0 / 16384) {
    // A subnormal, in units of 2^-24: those are the last place of 2^28, so that
    // adding it rounds.
    const double shifted = magnitude + 268435456.0;
    std::memcpy(&half, &shifted, sizeof half);
    half &= 0x7ffu;
  } else {
    // The exponent's bias goes from 1023 to 15. The carry of the rounding may
    // run into the exponent, which is then right.
    half = bits & 0x7fffffffffffffffu;
    half += 0x1ffffffffffu + ((half >> 42) & 1u);
    half = (half - (static_cast<std::uint64_t>(1008) << 52)) >> 42;
  }
  return static_cast<std::uint16_t>(sign | half);
}

#if defined(__clang__) && defined(__F16C__)

inline std::uint16_t toHalfBits(float value) {
  const __fp16 half = static_cast<__fp16>(value);
  std::uint16_t bits;
  std::memcpy(&bits, &half, sizeof bits);
  return bits;
}

inline float fromHalfBits(std::uint16_t bits) {
  __fp16 half;
  std::memcpy(&half, &bits, sizeof bits);
  return half;
}

#else

inline std::uint16_t toHalfBits(float value) {
  return toHalfBits(static_cast<double>(value));
}

inline float fromHalfBits(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t magnitude = bits & 0x7fffu;
  std::uint32_t single;
  if (magnitude >= 0x7c00u) { // infinity or NaN
    single = 0x7f800000u | (magnitude & 0x3ffu) << 13;
  } else if (magnitude < 0x400u) { // zero or subnormal
    const float value = static_cast<float>(magnitude) / 16777216.0f;
    std::memcpy(&single, &value, sizeof single);
  } else {
    single = (magnitude << 13) + 0x38000000u;
  }
  single |= sign;
  float value;
  std::memcpy(&value, &single, sizeof value);
  return value;
}

#endif

} // namespace popc
} // namespace poplar

class half {
  // As for the types that C++ has: with an integer the result is a half, with
  // a wider floating-point type it is that.
  template <typename A>
  using ResultWith = typename std::enable_if<
      std::is_arithmetic<A>::value,
      typename std::conditional<std::is_integral<A>::value, half,
                                A>::type>::type;
  template <typename A>
  using BoolWith =
      typename std::enable_if<std::is_arithmetic<A>::value, bool>::type;
  struct FromBits {};
  constexpr half(FromBits, std::uint16_t bits) : bits_(bits) {}

public:
  half() = default;
  template <typename A, typename = BoolWith<A>>
  half(A value)
      : bits_(poplar::popc::toHalfBits(
            typename std::conditional<std::is_same<A, float>::value, float,
                                      double>::type(value))) {}
  operator float() const { return poplar::popc::fromHalfBits(bits_); }

  static constexpr half fromBits(std::uint16_t bits) {
    return half(FromBits(), bits);
  }
  constexpr std::uint16_t bits() const { return bits_; }

  half operator+() const { return *this; }
  half operator-() const {
    return fromBits(static_cast<std::uint16_t>(bits_ ^ 0x8000u));
  }

#define POPLAR_HALF_OPERATOR(op)                                               \
  friend half operator op(half a, half b) {                                    \
    return half(static_cast<float>(a) op static_cast<float>(b));               \
  }                                                                            \
  template <typename A> friend ResultWith<A> operator op(half a, A b) {        \
    return ResultWith<A>(a) op ResultWith<A>(b);                               \
  }                                                                            \
  template <typename A> friend ResultWith<A> operator op(A a, half b) {        \
    return ResultWith<A>(a) op ResultWith<A>(b);                               \
  }                                                                            \
  template <typename A> half &operator op##=(const A &value) {                 \
    return *this = half(*this op value);                                       \
  }
  POPLAR_HALF_OPERATOR(+)
  POPLAR_HALF_OPERATOR(-)
  POPLAR_HALF_OPERATOR(*)
  POPLAR_HALF_OPERATOR(/)
#undef POPLAR_HALF_OPERATOR

#define POPLAR_HALF_COMPARISON(op)                                             \
  friend bool operator op(half a, half b) {                                    \
    return static_cast<float>(a) op static_cast<float>(b);                     \
  }                                                                            \
  template <typename A> friend BoolWith<A> operator op(half a, A b) {          \
    return ResultWith<A>(a) op ResultWith<A>(b);                               \
  }                                                                            \
  template <typename A> friend BoolWith<A> operator op(A a, half b) {          \
    return ResultWith<A>(a) op ResultWith<A>(b);                               \
  }
  POPLAR_HALF_COMPARISON(==)
  POPLAR_HALF_COMPARISON(!=)
  POPLAR_HALF_COMPARISON(<)
  POPLAR_HALF_COMPARISON(<=)
  POPLAR_HALF_COMPARISON(>)
  POPLAR_HALF_COMPARISON(>=)
#undef POPLAR_HALF_COMPARISON

  half &operator++() {
    return *this += 1;
  }
  half &operator--() {
    return *this -= 1;
  }
  half operator++(int) {
    const half old = *this;
    ++*this;
    return old;
  }
  half operator--(int) {
    const half old = *this;
    --*this;
    return old;
  }

private:
  std::uint16_t bits_;
};

namespace poplar {
using ::half;
}

namespace std {

template <> class numeric_limits<half> {
public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr float_denorm_style has_denorm = denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr float_round_style round_style = round_to_nearest;
  static constexpr bool is_iec559 = true;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;
  static constexpr int radix = 2;
  static constexpr int digits = 11;
  static constexpr int digits10 = 3;
  static constexpr int max_digits10 = 5;
  static constexpr int min_exponent = -13;
  static constexpr int min_exponent10 = -4;
  static constexpr int max_exponent = 16;
  static constexpr int max_exponent10 = 4;

  static constexpr half min() { return half::fromBits(0x0400); }
  static constexpr half max() { return half::fromBits(0x7bff); }
  static constexpr half lowest() { return half::fromBits(0xfbff); }
  static constexpr half epsilon() { return half::fromBits(0x1400); }
  static constexpr half round_error() { return half::fromBits(0x3800); }
  static constexpr half infinity() { return half::fromBits(0x7c00); }
  static constexpr half quiet_NaN() { return half::fromBits(0x7e00); }
  static constexpr half signaling_NaN() { return half::fromBits(0x7d00); }
  static constexpr half denorm_min() { return half::fromBits(0x0001); }
};

} // namespace std
