// How floats become halves under the machine's floating-point control. The
// reference and the kernel share these functions, so that both give the same
// bits.
#pragma once

#include <cstdint>

// Static, not inline: the loops compile this once per instruction set.
namespace kernels::rounding {

// Bits of the floating-point control that change values;
// Target::makeFpIctlValue has all of them.
inline constexpr std::uint32_t stochasticBit = 1U << 3;
inline constexpr std::uint32_t nanOnOverflowBit = 1U << 4;

inline constexpr float largestHalf = 65504.0f;

// What rounds the elements of one result.
struct Control {
  bool isStochastic = false;
  bool isNanOnOverflow = false;
  // The operation gave infinity because its result is too large for a float.
  bool isInfinityOverflow = false;
};

// The half below or above `value`, the nearer one more likely in proportion; as
// a float, which may be beyond the largest half.
static inline float roundStochastically(float value, std::uint32_t word) {
  constexpr std::uint32_t smallestNormal = 0x38800000; // 2^-14
  constexpr std::uint32_t beyondLargest = 0x47800000;  // 65536
  constexpr std::uint32_t discarded = 0x1fff;
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  // A carry out of the discarded bits goes on to the next half.
  const std::uint32_t normal = (magnitude + (word >> 19)) & ~discarded;
  // Below the normal halves one is 2^-24 from the next.
  const bool isSubnormal = magnitude < smallestNormal;
  const float steps =
      __builtin_bit_cast(float, isSubnormal ? magnitude : 0U) * 0x1p24f;
  const auto whole = static_cast<std::int32_t>(steps);
  const float part = steps - static_cast<float>(whole);
  const float uniform =
      static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24f;
  const float subnormal =
      static_cast<float>(whole + (uniform < part ? 1 : 0)) * 0x1p-24f;
  const std::uint32_t rounded =
      isSubnormal ? __builtin_bit_cast(std::uint32_t, subnormal) : normal;
  return __builtin_bit_cast(float,
                            (magnitude < beyondLargest ? rounded : magnitude) |
                                (bits & 0x80000000));
}

// `value` or, where the nearest half would be beyond the largest, what stands
// for an overflow.
static inline float limit(float value, const Control &control) {
  constexpr std::uint32_t firstBeyond = 0x477ff000; // 65520
  constexpr std::uint32_t infinity = 0x7f800000;
  constexpr std::uint32_t nan = 0x7fc00000;
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  const std::uint32_t last =
      control.isInfinityOverflow ? infinity : infinity - 1;
  const std::uint32_t instead =
      control.isNanOnOverflow
          ? nan
          : (__builtin_bit_cast(std::uint32_t, largestHalf) |
             (bits & 0x80000000));
  const bool isBeyond = magnitude >= firstBeyond && magnitude <= last;
  return __builtin_bit_cast(float, isBeyond ? instead : bits);
}

} // namespace kernels::rounding
