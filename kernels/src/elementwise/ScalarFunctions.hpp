// The functions that ElementwiseOps.def needs beyond <cmath>, for any element
// type: integer results are defined for every operand, as on the device.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace kernels::elementwise {

template <typename T>
concept Integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// Shifts and divisions are done on unsigned numbers of T's size, where they
// cannot overflow.
template <Integer T> using UnsignedOf = std::make_unsigned_t<T>;

template <typename T> T quotient(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == T(0)) {
      return T(0);
    }
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) {
        return T(UnsignedOf<T>(0) - UnsignedOf<T>(a));
      }
    }
    return T(a / b);
  } else {
    return a / b;
  }
}

// With the sign of a, as C's fmod and %.
template <typename T> T remainder(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == T(0) || (std::is_signed_v<T> && b == T(-1))) {
      return T(0);
    }
    return T(a % b);
  } else {
    return std::fmod(a, b);
  }
}

// Products wrap. To a negative power only 1 and -1 are whole numbers.
template <typename T> T power(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b < T(0)) {
      return a == T(1) ? a : T(a == T(-1) ? ((b & T(1)) != 0 ? -1 : 1) : 0);
    }
    std::uint64_t result = 1;
    auto factor = static_cast<std::uint64_t>(a);
    for (auto left = UnsignedOf<T>(b); left != 0;
         left = UnsignedOf<T>(left >> 1)) {
      result *= (left & 1) != 0 ? factor : 1;
      factor *= factor;
    }
    return T(result);
  } else {
    return std::pow(a, b);
  }
}

template <Integer T> T countLeadingZeros(T a) {
  return T(std::countl_zero(UnsignedOf<T>(a)));
}
template <Integer T> T populationCount(T a) {
  return T(std::popcount(UnsignedOf<T>(a)));
}

template <Integer T> bool isShift(T b) {
  return b >= T(0) && b < T(8 * sizeof(T));
}
template <Integer T> T shiftLeft(T a, T b) {
  return isShift(b) ? T(UnsignedOf<T>(a) << b) : T(0);
}
template <Integer T> T shiftRight(T a, T b) {
  return isShift(b) ? T(UnsignedOf<T>(a) >> b) : T(0);
}
template <Integer T> T shiftRightSignExtend(T a, T b) {
  using Signed = std::make_signed_t<T>;
  return isShift(b) ? T(Signed(a) >> b) : T(Signed(a) < 0 ? -1 : 0);
}

} // namespace kernels::elementwise
