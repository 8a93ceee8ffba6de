#include "BlockCode.hpp"

#include "elementwise/Interpreter.hpp"

#include <algorithm>
#include <cstring>

namespace kernels {

using support::DataType;

namespace {

// Operators that would see the bits that a narrow integer does not have.
bool dependsOnWidth(ElementwiseOp op) {
  switch (op) {
  case ElementwiseOp::COUNT_LEADING_ZEROS:
  case ElementwiseOp::POPCOUNT:
  case ElementwiseOp::SHIFT_LEFT:
  case ElementwiseOp::SHIFT_RIGHT:
  case ElementwiseOp::SHIFT_RIGHT_SIGN_EXTEND:
    return true;
  default:
    return false;
  }
}

std::optional<PairOp> pairOpOf(const Instruction &instruction) {
  if (instruction.kind != Instruction::Kind::Operator ||
      instruction.lane != Lane::Float) {
    return std::nullopt;
  }
  switch (static_cast<ElementwiseOp>(instruction.op)) {
  case ElementwiseOp::ADD:
    return PairOp::Add;
  case ElementwiseOp::MULTIPLY:
    return PairOp::Multiply;
  default:
    return std::nullopt;
  }
}

class BlockCompiler {
public:
  BlockCompiler(const Expression &expression, std::span<const DataType> inputs)
      : steps_(expression.steps()), types_(expression.stepTypes(inputs)) {
    code_.inputCount = inputs.size();
    code_.constantCount = static_cast<std::size_t>(
        std::count_if(steps_.begin(), steps_.end(), [](const auto &step) {
          return step.kind == ExpressionStep::Kind::Constant;
        }));
    for (const auto type : types_) {
      code_.elementBytes =
          std::max(code_.elementBytes, laneBytes(laneOf(type)));
    }
  }

  bool isPossible(std::size_t maxInputs) const {
    // Each operator may need a second instruction, and its own buffers.
    return code_.inputCount < maxInputs &&
           code_.inputCount + code_.constantCount + 2 * steps_.size() <=
               BlockCode::maxSlots;
  }

  // False where an operator depends on the width of narrow integers.
  bool compile() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!visit(i)) {
        return false;
      }
    }
    if (code_.instructions.empty()) { // the value of an input or a constant
      const auto lane = laneOf(types_.back());
      emit(Instruction::Kind::Convert, lane, static_cast<std::uint16_t>(lane),
           1);
    }
    joinPairs();
    dropLastBuffer();
    return true;
  }

  BlockCode take() { return std::move(code_); }

private:
  struct Value {
    Slot slot;
    DataType type;
  };

  bool visit(std::size_t index) {
    const auto &step = steps_[index];
    const DataType type = types_[index];
    switch (step.kind) {
    case ExpressionStep::Kind::Input:
      stack_.push_back({static_cast<Slot>(step.index), type});
      break;
    case ExpressionStep::Kind::Constant:
      pushConstant(step.constant, type);
      break;
    case ExpressionStep::Kind::Cast:
      emitCast(stack_.back().type, type);
      stack_.back().type = type;
      break;
    case ExpressionStep::Kind::Operator:
      return emitOperator(static_cast<ElementwiseOp>(step.index), type);
    }
    return true;
  }

  bool emitOperator(ElementwiseOp op, DataType type) {
    const auto &info = elementwiseOpInfo(op);
    const DataType operand = stack_[stack_.size() - info.arity].type;
    if (narrowOf(operand) && dependsOnWidth(op)) {
      return false;
    }
    emit(Instruction::Kind::Operator, laneOf(operand),
         static_cast<std::uint16_t>(op), info.arity);
    stack_.back().type = type;
    if (type == DataType::Half) {
      emit(Instruction::Kind::RoundToHalf, Lane::Float, 0, 1);
    } else if (const auto narrow = narrowOf(type)) {
      emitNarrow(Instruction::Kind::Wrap, *narrow);
    }
    return true;
  }

  void emitCast(DataType from, DataType to) {
    const Lane lane = laneOf(from);
    const Lane target = laneOf(to);
    if (to == DataType::Bool) {
      emit(Instruction::Kind::ToBool, lane, 0, 1);
      return;
    }
    if (lane != target) {
      emit(Instruction::Kind::Convert, lane, static_cast<std::uint16_t>(target),
           1);
    }
    if (to == DataType::Half) {
      emit(Instruction::Kind::RoundToHalf, Lane::Float, 0, 1);
    } else if (const auto narrow = narrowOf(to); narrow && from != to) {
      emitNarrow(lane == Lane::Float ? Instruction::Kind::Clamp
                                     : Instruction::Kind::Wrap,
                 *narrow);
    }
  }

  void emitNarrow(Instruction::Kind kind, Narrow narrow) {
    emit(kind, Lane::Int, static_cast<std::uint16_t>(narrow), 1);
  }

  // The reference says what the constant is in its type; a block repeats it.
  void pushConstant(double value, DataType type) {
    const DataType stored = type == DataType::Half || type == DataType::Bool
                                ? DataType::Float
                            : narrowOf(type) ? DataType::Int
                                             : type;
    const auto constant = Expression::cast(
        stored, Expression::cast(type, Expression::constant(value)));
    std::uint64_t bits = 0;
    elementwise::Interpreter(constant, {})
        .evaluate({}, reinterpret_cast<std::byte *>(&bits));
    if (laneBytes(laneOf(type)) == 4) {
      bits |= bits << 32;
    }
    const auto words = blockElements * code_.elementBytes / sizeof bits;
    stack_.push_back(
        {static_cast<Slot>(code_.inputCount + code_.constants.size() / words),
         type});
    code_.constants.insert(code_.constants.end(), words, bits);
  }

  // A float operator may write over an operand's buffer, so buffers of consumed
  // values are free for the result; other instructions may change the size of
  // elements.
  void emit(Instruction::Kind kind, Lane lane, std::uint16_t op,
            unsigned arity) {
    Instruction instruction{kind, lane, op, arity, {}, 0};
    const bool mayOverwrite =
        lane == Lane::Float && kind != Instruction::Kind::Convert;
    if (!mayOverwrite) {
      instruction.result = acquire();
    }
    const DataType type = stack_[stack_.size() - arity].type;
    for (unsigned i = arity; i-- > 0;) {
      instruction.operands[i] = stack_.back().slot;
      release(stack_.back().slot);
      stack_.pop_back();
    }
    if (mayOverwrite) {
      instruction.result = acquire();
    }
    stack_.push_back({instruction.result, type});
    code_.instructions.push_back(instruction);
  }

  // A sum or product whose result the next one takes needs no block for it.
  // Operands of both may be in any order.
  void joinPairs() {
    std::vector<Instruction> joined;
    for (const auto &next : code_.instructions) {
      const auto second = pairOpOf(next);
      const auto first =
          joined.empty() ? std::nullopt : pairOpOf(joined.back());
      const auto *operands = next.operands.data();
      const bool isFirst =
          first && second && operands[0] == joined.back().result;
      const bool isSecond =
          first && second && operands[1] == joined.back().result;
      if (isFirst == isSecond) { // not the result, or its square
        joined.push_back(next);
        continue;
      }
      auto &pair = joined.back();
      pair.kind = Instruction::Kind::Pair;
      pair.op = pairOf(*first, *second);
      pair.arity = 3;
      pair.operands[2] = operands[isFirst ? 1 : 0];
      pair.result = next.result;
    }
    code_.instructions = std::move(joined);
  }

  // The last result goes to the output: no buffer is only for it, and a single
  // instruction, without any, runs over whole shards.
  void dropLastBuffer() {
    code_.bufferCount = 0;
    for (std::size_t i = 0; i + 1 < code_.instructions.size(); ++i) {
      code_.bufferCount = std::max(
          code_.bufferCount, code_.instructions[i].result - firstBuffer() + 1);
    }
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
  std::vector<Value> stack_;
  std::vector<Slot> free_;
};

} // namespace

Lane laneOf(DataType type) {
  switch (type) {
  case DataType::Float:
  case DataType::Half:
  case DataType::Quarter:
  case DataType::Bool:
    return Lane::Float;
  case DataType::UnsignedInt:
    return Lane::UnsignedInt;
  case DataType::LongLong:
    return Lane::Long;
  case DataType::UnsignedLongLong:
    return Lane::UnsignedLong;
  default:
    return Lane::Int;
  }
}

std::optional<Narrow> narrowOf(DataType type) {
  switch (type) {
  case DataType::Char:
  case DataType::SignedChar:
    return Narrow::Char;
  case DataType::UnsignedChar:
    return Narrow::UnsignedChar;
  case DataType::Short:
    return Narrow::Short;
  case DataType::UnsignedShort:
    return Narrow::UnsignedShort;
  default:
    return std::nullopt;
  }
}

std::optional<BlockCode> compileBlocks(const Expression &expression,
                                       std::span<const DataType> inputs,
                                       std::size_t maxInputs) {
  BlockCompiler compiler(expression, inputs);
  if (!compiler.isPossible(maxInputs) || !compiler.compile()) {
    return std::nullopt;
  }
  return compiler.take();
}

} // namespace kernels
