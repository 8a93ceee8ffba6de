// "elementwise" by blocks: the postfix code is turned into instructions over
// block buffers once, and each block runs through them in the first-level
// cache.
#include "BlockCode.hpp"
#include "BlockPlan.hpp"
#include "FastKernels.hpp"
#include "PlanHelpers.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <string_view>

namespace kernels {

namespace {

std::vector<std::size_t> countUp(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = i;
  }
  return numbers;
}

// Nanoseconds of an element: a plain operator in the cache, memory traffic, and
// the functions of the mathematical library (measured on one Zen 4 core).
double elementCost(const BlockCode &code) {
  double cost = 0.08 * static_cast<double>(code.inputCount + 1);
  for (const auto &instruction : code.instructions) {
    cost += 0.04;
    if (instruction.kind == Instruction::Kind::Operator) {
      switch (static_cast<ElementwiseOp>(instruction.op)) {
#define KERNELS_UNARY(name, function, ...)                                     \
  case ElementwiseOp::name:                                                    \
    cost +=                                                                    \
        std::string_view(#function).find("std::") != std::string_view::npos    \
            ? 0.3                                                              \
            : 0;                                                               \
    break;
#include <kernels/ElementwiseOps.def>
      case ElementwiseOp::POWER:
      case ElementwiseOp::ATAN2:
        cost += 1;
        break;
      case ElementwiseOp::DIVIDE:
      case ElementwiseOp::REMAINDER:
        cost += instruction.lane == Lane::Float ? 0 : 1;
        break;
      default:
        break;
      }
    }
  }
  return cost;
}

// Whether there are loops for operands of one element.
bool takesSingles(const Instruction &instruction) {
  return instruction.kind == Instruction::Kind::Pair ||
         (instruction.kind == Instruction::Kind::Operator &&
          instruction.lane == Lane::Float && instruction.arity == 2);
}

// The slots that only loops with forms for single elements read.
std::bitset<BlockCode::maxSlots> possibleSingles(const BlockCode &code) {
  std::bitset<BlockCode::maxSlots> singles;
  singles.set();
  for (const auto &instruction : code.instructions) {
    for (unsigned i = 0; i < instruction.arity; ++i) {
      if (!takesSingles(instruction)) {
        singles.reset(instruction.operands[i]);
      }
    }
  }
  return singles;
}

std::bitset<BlockPlan::maxOperands>
possibleSingleInputs(const BlockCode &code) {
  const auto slots = possibleSingles(code);
  std::bitset<BlockPlan::maxOperands> inputs;
  for (std::size_t i = 0; i < code.inputCount; ++i) {
    inputs[i] = slots[i];
  }
  return inputs;
}

// Constants, too, keep blocks from being longer than a buffer where a loop
// reads them as blocks.
std::size_t bufferCount(const BlockCode &code) {
  const auto singles = possibleSingles(code);
  std::size_t count = code.bufferCount;
  for (std::size_t i = 0; i < code.constantCount; ++i) {
    count =
        singles[code.inputCount + i] ? count : std::max<std::size_t>(count, 1);
  }
  return count;
}

class ElementwisePlan final : public BlockPlan {
public:
  ElementwisePlan(const Signature &signature, BlockCode code)
      : BlockPlan(signature, countUp(signature.inputs.size()),
                  {signature.inputs.size()}, {}, elementCost(code),
                  bufferCount(code), code.elementBytes,
                  possibleSingleInputs(code)),
        code_(std::move(code)) {
    for (const auto &instruction : code_.instructions) {
      operators_.push_back(floatOperator(instruction));
    }
    isOnlyOperator_ = code_.instructions.size() == 1 &&
                      code_.constantCount == 0 && operators_[0] != nullptr;
  }

private:
  // The loop for the operands' forms; nothing for other instructions.
  ElementwiseLoops::Operator
  floatOperator(const Instruction &instruction) const {
    unsigned singles = 0;
    for (unsigned i = 0; takesSingles(instruction) && i < instruction.arity;
         ++i) {
      singles |= isSingleSlot(instruction.operands[i]) ? 1u << i : 0u;
    }
    if (instruction.kind == Instruction::Kind::Pair) {
      return selectedLoops().elementwisePairs.operators[firstOfPair(
          instruction.op)][secondOfPair(instruction.op)][singles];
    }
    if (instruction.kind != Instruction::Kind::Operator ||
        instruction.lane != Lane::Float) {
      return nullptr;
    }
    const auto &loops = selectedLoops().elementwise;
    return singles == 0 ? loops.operators[instruction.op]
                        : loops.singles[singles - 1][instruction.op];
  }
  bool isSingleSlot(Slot slot) const {
    return slot < code_.inputCount
               ? isSingle(slot)
               : slot < code_.inputCount + code_.constantCount;
  }

  void compute(const Block &block) const override {
    if (isOnlyOperator_) {
      const auto &operands = code_.instructions.front().operands;
      operators_[0](block.outputs[0], block.inputs[operands[0]],
                    block.inputs[operands[1]], block.inputs[operands[2]],
                    block.count);
      return;
    }
    std::array<const void *, BlockCode::maxSlots> slots;
    std::copy_n(block.inputs, code_.inputCount, slots.begin());
    const std::size_t blockBytes = blockElements * code_.elementBytes;
    const auto *constants =
        reinterpret_cast<const std::byte *>(code_.constants.data());
    auto *buffers = reinterpret_cast<std::byte *>(block.buffers);
    std::size_t next = code_.inputCount;
    for (std::size_t i = 0; i < code_.constantCount; ++i) {
      slots[next++] = constants + i * blockBytes;
    }
    const std::size_t firstBuffer = next;
    for (std::size_t i = 0; i < code_.bufferCount; ++i) {
      slots[next++] = buffers + i * blockBytes;
    }
    for (std::size_t i = 0; i < code_.instructions.size(); ++i) {
      const auto &instruction = code_.instructions[i];
      const bool isLast = i + 1 == code_.instructions.size();
      void *result =
          isLast ? static_cast<void *>(block.outputs[0])
                 : buffers + (instruction.result - firstBuffer) * blockBytes;
      execute(instruction, operators_[i], slots.data(), result, block.count);
    }
  }

  static void execute(const Instruction &instruction,
                      ElementwiseLoops::Operator floatOperator,
                      const void *const *slots, void *result,
                      std::int64_t count) {
    const auto &floats = selectedLoops().elementwise;
    const auto &integers = selectedLoops().integers;
    const auto lane = static_cast<std::size_t>(instruction.lane);
    const void *a = slots[instruction.operands[0]];
    const void *b = slots[instruction.operands[1]];
    const void *c = slots[instruction.operands[2]];
    switch (instruction.kind) {
    case Instruction::Kind::Operator:
    case Instruction::Kind::Pair:
      if (floatOperator != nullptr) {
        floatOperator(asFloats(result), asFloats(a), asFloats(b), asFloats(c),
                      count);
      } else {
        integers.operators[lane][instruction.op](result, a, b, c, count);
      }
      break;
    case Instruction::Kind::RoundToHalf:
      floats.roundToHalf(asFloats(result), asFloats(a), count);
      break;
    case Instruction::Kind::ToBool:
      integers.toBool[lane](result, a, count);
      break;
    case Instruction::Kind::Convert:
      integers.convert[lane][instruction.op](result, a, count);
      break;
    case Instruction::Kind::Wrap:
      integers.wrap[instruction.op](result, a, count);
      break;
    case Instruction::Kind::Clamp:
      integers.clamp[instruction.op](result, a, count);
      break;
    }
  }
  static const float *asFloats(const void *block) {
    return static_cast<const float *>(block);
  }
  static float *asFloats(void *block) { return static_cast<float *>(block); }

  BlockCode code_;
  // Of each instruction that is an operator of floats.
  std::vector<ElementwiseLoops::Operator> operators_;
  bool isOnlyOperator_; // which has little to prepare: rows may be short
};

std::unique_ptr<Plan> plan(const Signature &signature) {
  std::vector<DataType> types;
  for (const auto &input : signature.inputs) {
    types.push_back(input.type);
  }
  auto code = compileBlocks(Expression::fromAttributes(signature.attributes),
                            types, BlockPlan::maxOperands);
  return code ? std::make_unique<ElementwisePlan>(signature, std::move(*code))
              : nullptr;
}

constexpr KernelEntry entries[] = {{"blocks", allPlain, plan}};

} // namespace

std::span<const KernelEntry> elementwiseKernels() {
  return entries;
}

} // namespace kernels
