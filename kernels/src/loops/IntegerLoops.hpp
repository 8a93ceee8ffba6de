// The loops over blocks of integers: part of the table of Loops.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernels {

inline constexpr std::size_t elementwiseOpCount = 0
#define KERNELS_UNARY(...) +1
#define KERNELS_BINARY(...) +1
#define KERNELS_TERNARY(...) +1
#define KERNELS_PREDICATE(...) +1
#define KERNELS_UNARY_PREDICATE(...) +1
#include <kernels/ElementwiseOps.def>
    ;

// What a block holds. FLOAT, HALF and BOOL are floats (a BOOL is 0 or 1); the
// integers of fewer than 32 bits are Int.
enum class Lane : std::uint8_t { Float, Int, UnsignedInt, Long, UnsignedLong };
inline constexpr std::size_t laneTypeCount = 5;

// The integers of fewer bits.
enum class Narrow : std::uint8_t { Char, UnsignedChar, Short, UnsignedShort };
inline constexpr std::size_t narrowCount = 4;

// Pointers are to blocks of the lanes named; y may be a, not more of it.
struct IntegerLoops {
  using Operator = void (*)(void *y, const void *a, const void *b,
                            const void *c, std::int64_t count);
  // By lane and ElementwiseOp, for integer lanes. Predicates give floats, and
  // the third operand of SELECT is one.
  Operator operators[laneTypeCount][elementwiseOpCount];

  using Convert = void (*)(void *y, const void *a, std::int64_t count);
  // From lane to lane: floating point stays within an integer's range, between
  // integers bits are cut off.
  Convert convert[laneTypeCount][laneTypeCount];
  // Whether it is not 0, as a float, by lane.
  Convert toBool[laneTypeCount];
  // Of Int: cuts bits off, or stays within the range.
  Convert wrap[narrowCount];
  Convert clamp[narrowCount];

  // Between elements `stride` apart and a block: narrow ones and Int; those of
  // 8 bytes as they are.
  using Load = void (*)(void *to, const void *from, std::int64_t stride,
                        std::int64_t count);
  using Store = Load; // the stride is that of `to`
  Load loadNarrow[narrowCount];
  Store storeNarrow[narrowCount];
  Load loadLong;
  Store storeLong;
};

} // namespace kernels
