// "elementwise" by blocks: the postfix code is turned into instructions over
// block buffers once, and each block runs through them in the first-level
// cache.
#include "BlockPlan.hpp"
#include "FastKernels.hpp"
#include "PlanHelpers.hpp"

#include "loops/Loops.hpp"

#include <kernels/Expression.hpp>
#include <support/Half.hpp>

#include <algorithm>
#include <array>

namespace kernels {

namespace {

// Where an instruction finds a value: inputs, then constants, then buffers.
using Slot = std::uint16_t;
constexpr std::size_t maxSlots = 64;

struct Instruction {
  enum class Kind : std::uint8_t { Operator, RoundToHalf, ToBool, Copy };
  Kind kind;
  std::uint16_t op; // ElementwiseOp
  std::array<Slot, 3> operands;
  Slot result;
};

// Straight-line code over slots; the last instruction's result is the output.
struct BlockCode {
  std::vector<Instruction> instructions;
  std::vector<float> constants; // blocks of equal elements
  std::size_t inputCount = 0;
  std::size_t constantCount = 0;
  std::size_t bufferCount = 0;
};

class BlockCompiler {
public:
  BlockCompiler(const Expression &expression, std::span<const DataType> inputs)
      : steps_(expression.steps()), types_(expression.stepTypes(inputs)) {
    code_.inputCount = inputs.size();
    code_.constantCount = static_cast<std::size_t>(
        std::count_if(steps_.begin(), steps_.end(), [](const auto &step) {
          return step.kind == ExpressionStep::Kind::Constant;
        }));
  }

  // Whether every value is one that blocks of floats can hold.
  bool isPossible() const {
    return std::all_of(types_.begin(), types_.end(),
                       [](DataType type) {
                         return type == DataType::Float ||
                                type == DataType::Half ||
                                type == DataType::Bool;
                       }) &&
           code_.inputCount < BlockPlan::maxOperands &&
           code_.inputCount + code_.constantCount + steps_.size() <= maxSlots;
  }

  BlockCode compile() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      visit(i);
    }
    if (code_.instructions.empty()) { // the value of an input or a constant
      emit(Instruction::Kind::Copy, 0, 1);
    }
    return std::move(code_);
  }

private:
  void visit(std::size_t index) {
    const auto &step = steps_[index];
    const DataType type = types_[index];
    switch (step.kind) {
    case ExpressionStep::Kind::Input:
      stack_.push_back(static_cast<Slot>(step.index));
      break;
    case ExpressionStep::Kind::Constant:
      pushConstant(step.constant, type);
      break;
    case ExpressionStep::Kind::Cast:
      if (type != DataType::Float) {
        emit(type == DataType::Half ? Instruction::Kind::RoundToHalf
                                    : Instruction::Kind::ToBool,
             0, 1);
      }
      break;
    case ExpressionStep::Kind::Operator: {
      const auto &info =
          elementwiseOpInfo(static_cast<ElementwiseOp>(step.index));
      emit(Instruction::Kind::Operator, step.index, info.arity);
      if (type == DataType::Half) {
        emit(Instruction::Kind::RoundToHalf, 0, 1);
      }
      break;
    }
    }
  }

  void pushConstant(double value, DataType type) {
    auto number = static_cast<float>(value);
    if (type == DataType::Half) {
      number = support::roundToHalf(number);
    } else if (type == DataType::Bool) {
      number = value != 0 ? 1.0f : 0.0f;
    }
    stack_.push_back(static_cast<Slot>(code_.inputCount +
                                       code_.constants.size() / blockElements));
    code_.constants.insert(code_.constants.end(), blockElements, number);
  }

  // An operator may write over an operand's buffer, so buffers of consumed
  // values are free for the result.
  void emit(Instruction::Kind kind, std::uint16_t op, unsigned arity) {
    Instruction instruction{kind, op, {}, 0};
    for (unsigned i = arity; i-- > 0;) {
      instruction.operands[i] = stack_.back();
      release(stack_.back());
      stack_.pop_back();
    }
    instruction.result = acquire();
    stack_.push_back(instruction.result);
    code_.instructions.push_back(instruction);
  }

  std::size_t firstBuffer() const {
    return code_.inputCount + code_.constantCount;
  }
  void release(Slot slot) {
    if (slot >= firstBuffer()) {
      free_.push_back(slot);
    }
  }
  Slot acquire() {
    if (free_.empty()) {
      return static_cast<Slot>(firstBuffer() + code_.bufferCount++);
    }
    const Slot slot = free_.back();
    free_.pop_back();
    return slot;
  }

  std::vector<ExpressionStep> steps_;
  std::vector<DataType> types_;
  BlockCode code_;
  std::vector<Slot> stack_;
  std::vector<Slot> free_;
};

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
    cost += std::string_view(#function).find("std::") == 0 ? 0.4 : 0;          \
    break;
#include <kernels/ElementwiseOps.def>
      case ElementwiseOp::POWER:
      case ElementwiseOp::ATAN2:
        cost += 1;
        break;
      default:
        break;
      }
    }
  }
  return cost;
}

class ElementwisePlan final : public BlockPlan {
public:
  ElementwisePlan(const Signature &signature, BlockCode code)
      : BlockPlan(signature, countUp(signature.inputs.size()),
                  {signature.inputs.size()}, {}, elementCost(code),
                  code.bufferCount),
        code_(std::move(code)) {}

private:
  void compute(const Block &block) const override {
    std::array<const float *, maxSlots> slots;
    std::copy_n(block.inputs, code_.inputCount, slots.begin());
    std::size_t next = code_.inputCount;
    for (std::size_t i = 0; i < code_.constantCount; ++i) {
      slots[next++] = code_.constants.data() + i * blockElements;
    }
    for (std::size_t i = 0; i < code_.bufferCount; ++i) {
      slots[next++] = block.buffers + i * blockElements;
    }
    for (const auto &instruction : code_.instructions) {
      const bool isLast = &instruction == &code_.instructions.back();
      const std::size_t buffer =
          instruction.result - code_.inputCount - code_.constantCount;
      float *result =
          isLast ? block.outputs[0] : block.buffers + buffer * blockElements;
      execute(instruction, slots.data(), result, block.count);
    }
  }

  static void execute(const Instruction &instruction, const float *const *slots,
                      float *result, std::int64_t count) {
    const auto &loops = selectedLoops().elementwise;
    const float *a = slots[instruction.operands[0]];
    switch (instruction.kind) {
    case Instruction::Kind::Operator:
      loops.operators[instruction.op](result, a, slots[instruction.operands[1]],
                                      slots[instruction.operands[2]], count);
      break;
    case Instruction::Kind::RoundToHalf:
      loops.roundToHalf(result, a, count);
      break;
    case Instruction::Kind::ToBool:
      loops.toBool(result, a, count);
      break;
    case Instruction::Kind::Copy:
      loops.loadFloat(result, a, 1, count);
      break;
    }
  }

  BlockCode code_;
};

std::unique_ptr<Plan> plan(const Signature &signature) {
  std::vector<DataType> types;
  for (const auto &input : signature.inputs) {
    types.push_back(input.type);
  }
  BlockCompiler compiler(Expression::fromAttributes(signature.attributes),
                         types);
  if (!compiler.isPossible()) {
    return nullptr;
  }
  return std::make_unique<ElementwisePlan>(signature, compiler.compile());
}

constexpr KernelEntry entries[] = {{"blocks", allPlain, plan}};

} // namespace

std::span<const KernelEntry> elementwiseKernels() {
  return entries;
}

} // namespace kernels
