// An element-wise expression as straight-line code over blocks: what the
// "elementwise" kernel runs for each block of elements.
#pragma once

#include "loops/Loops.hpp"

#include <kernels/Expression.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kernels {

// What a block of values of this type holds.
Lane laneOf(support::DataType type);
constexpr std::size_t laneBytes(Lane lane) {
  return lane == Lane::Long || lane == Lane::UnsignedLong ? 8 : 4;
}
// Nothing for types that blocks hold with all their bits.
std::optional<Narrow> narrowOf(support::DataType type);

// Where an instruction finds a value: inputs, then constants, then buffers.
using Slot = std::uint16_t;

struct Instruction {
  enum class Kind : std::uint8_t {
    Operator,
    Pair, // of float operators: PairOps of `op`
    RoundToHalf,
    ToBool,
    Convert, // from `lane` to the lane numbered `op`
    Wrap,    // to the Narrow numbered `op`
    Clamp,
  };
  Kind kind;
  Lane lane;        // of the operands
  std::uint16_t op; // ElementwiseOp, or as the kind says
  unsigned arity;
  std::array<Slot, 3> operands;
  Slot result;
};

// What the `op` of a pair stands for.
constexpr std::uint16_t pairOf(PairOp first, PairOp second) {
  return static_cast<std::uint16_t>(static_cast<std::size_t>(first) *
                                        pairOpCount +
                                    static_cast<std::size_t>(second));
}
constexpr std::size_t firstOfPair(std::uint16_t op) {
  return op / pairOpCount;
}
constexpr std::size_t secondOfPair(std::uint16_t op) {
  return op % pairOpCount;
}

// The last instruction's result is the output.
struct BlockCode {
  static constexpr std::size_t maxSlots = 512;

  std::vector<Instruction> instructions;
  // Blocks of equal elements, blockElements * elementBytes bytes each.
  std::vector<std::uint64_t> constants;
  std::size_t inputCount = 0;
  std::size_t constantCount = 0;
  std::size_t bufferCount = 0;
  std::size_t elementBytes = 4; // of the widest lane
};

// Nothing where the expression has too many inputs or different constants. Its
// length does not matter: a buffer is used again as soon as it was read.
std::optional<BlockCode>
compileBlocks(const Expression &expression,
              std::span<const support::DataType> inputs, std::size_t maxInputs);

} // namespace kernels
