#include "BlockCode.hpp"

#include "elementwise/Interpreter.hpp"

#include <algorithm>
#include <cstring>

namespace kernels {

using support::DataType;

namespace {

// While code is made, buffers are numbered from here on: how many constants
// come before them is not known yet.
constexpr Slot bufferBase = 0x8000;

// The integer of as many bits that is unsigned, or that is not.
Narrow withSign(Narrow narrow, bool isSigned) {
  switch (narrow) {
  case Narrow::Char:
  case Narrow::UnsignedChar:
    return isSigned ? Narrow::Char : Narrow::UnsignedChar;
  default:
    return isSigned ? Narrow::Short : Narrow::UnsignedShort;
  }
}
constexpr int bitsOf(Narrow narrow) {
  return narrow == Narrow::Char || narrow == Narrow::UnsignedChar ? 8 : 16;
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
    for (const auto type : types_) {
      code_.elementBytes =
          std::max(code_.elementBytes, laneBytes(laneOf(type)));
    }
  }

  void compile() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      visit(i);
    }
    if (code_.instructions.empty()) { // the value of an input or a constant
      const auto lane = laneOf(types_.back());
      change(stack_.back(), Instruction::Kind::Convert, lane,
             static_cast<std::uint16_t>(lane));
    }
    joinPairs();
    dropLastBuffer();
    numberBuffers();
  }

  BlockCode take() { return std::move(code_); }

private:
  struct Value {
    Slot slot;
    DataType type;
  };

  void visit(std::size_t index) {
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
      cast(stack_.back(), type);
      break;
    case ExpressionStep::Kind::Operator:
      emitOperator(static_cast<ElementwiseOp>(step.index), type);
      break;
    }
  }

  void emitOperator(ElementwiseOp op, DataType type) {
    const auto &info = elementwiseOpInfo(op);
    Value &first = stack_[stack_.size() - info.arity];
    const Lane lane = laneOf(first.type);
    const auto narrow = narrowOf(first.type);
    if (narrow) {
      extendSign(first, *narrow, op);
    }
    emit(lane, op, info.arity, type);
    if (narrow && op == ElementwiseOp::COUNT_LEADING_ZEROS) {
      pushConstant(32 - bitsOf(*narrow), DataType::Int);
      emit(lane, ElementwiseOp::SUBTRACT, 2, type);
    }
    if (type == DataType::Half) {
      change(stack_.back(), Instruction::Kind::RoundToHalf, Lane::Float, 0);
    } else if (const auto result = narrowOf(type)) {
      wrap(stack_.back(), *result);
    }
  }

  // Operators that see the bits that a narrow integer does not have: zeros, or
  // copies of the highest one, whatever its sign.
  void extendSign(Value &value, Narrow narrow, ElementwiseOp op) {
    switch (op) {
    case ElementwiseOp::COUNT_LEADING_ZEROS:
    case ElementwiseOp::POPCOUNT:
    case ElementwiseOp::SHIFT_RIGHT:
      wrap(value, withSign(narrow, false));
      break;
    case ElementwiseOp::SHIFT_RIGHT_SIGN_EXTEND:
      wrap(value, withSign(narrow, true));
      break;
    default:
      break;
    }
  }

  void cast(Value &value, DataType to) {
    const DataType from = value.type;
    const Lane lane = laneOf(from);
    const Lane target = laneOf(to);
    value.type = to;
    if (to == DataType::Bool) {
      change(value, Instruction::Kind::ToBool, lane, 0);
      return;
    }
    if (lane != target) {
      change(value, Instruction::Kind::Convert, lane,
             static_cast<std::uint16_t>(target));
    }
    if (to == DataType::Half) {
      change(value, Instruction::Kind::RoundToHalf, Lane::Float, 0);
    } else if (const auto narrow = narrowOf(to); narrow && from != to) {
      if (lane == Lane::Float) {
        change(value, Instruction::Kind::Clamp, Lane::Int,
               static_cast<std::uint16_t>(*narrow));
      } else {
        wrap(value, *narrow);
      }
    }
  }

  void wrap(Value &value, Narrow narrow) {
    change(value, Instruction::Kind::Wrap, Lane::Int,
           static_cast<std::uint16_t>(narrow));
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
    stack_.push_back({slotOfConstant(bits), type});
  }

  // Equal ones are one.
  Slot slotOfConstant(std::uint64_t bits) {
    const auto words = blockElements * code_.elementBytes / sizeof bits;
    std::size_t index = 0;
    while (index < code_.constantCount &&
           code_.constants[index * words] != bits) {
      ++index;
    }
    if (index == code_.constantCount) {
      ++code_.constantCount;
      code_.constants.insert(code_.constants.end(), words, bits);
    }
    return static_cast<Slot>(code_.inputCount + index);
  }

  // Of the values on top of the stack.
  void emit(Lane lane, ElementwiseOp op, unsigned arity, DataType type) {
    Instruction instruction{Instruction::Kind::Operator,
                            lane,
                            static_cast<std::uint16_t>(op),
                            arity,
                            {},
                            0};
    for (unsigned i = arity; i-- > 0;) {
      instruction.operands[i] = stack_.back().slot;
      stack_.pop_back();
    }
    stack_.push_back({add(instruction), type});
  }

  // Of one value.
  void change(Value &value, Instruction::Kind kind, Lane lane,
              std::uint16_t op) {
    value.slot = add({kind, lane, op, 1, {value.slot}, 0});
  }

  // A float operator may write over an operand's buffer, so buffers of consumed
  // values are free for the result; other instructions may change the size of
  // elements. Returns where the result is.
  Slot add(Instruction instruction) {
    const bool mayOverwrite = instruction.lane == Lane::Float &&
                              instruction.kind != Instruction::Kind::Convert;
    if (!mayOverwrite) {
      instruction.result = acquire();
    }
    for (unsigned i = instruction.arity; i-- > 0;) {
      release(instruction.operands[i]);
    }
    if (mayOverwrite) {
      instruction.result = acquire();
    }
    code_.instructions.push_back(instruction);
    return instruction.result;
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
      code_.bufferCount = std::max<std::size_t>(
          code_.bufferCount, code_.instructions[i].result - bufferBase + 1);
    }
  }

  // Buffers come after inputs and constants.
  void numberBuffers() {
    const auto first =
        static_cast<Slot>(code_.inputCount + code_.constantCount);
    const auto number = [&](Slot &slot) {
      slot = slot < bufferBase ? slot
                               : static_cast<Slot>(slot - bufferBase + first);
    };
    for (auto &instruction : code_.instructions) {
      std::for_each(instruction.operands.begin(), instruction.operands.end(),
                    number);
      number(instruction.result);
    }
  }

  void release(Slot slot) {
    if (slot >= bufferBase) {
      free_.push_back(slot);
    }
  }
  Slot acquire() {
    if (free_.empty()) {
      return static_cast<Slot>(bufferBase + code_.bufferCount++);
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
  compiler.compile();
  auto code = compiler.take();
  const bool fits = code.inputCount < maxInputs &&
                    code.inputCount + code.constantCount + code.bufferCount <=
                        BlockCode::maxSlots;
  return fits ? std::optional(std::move(code)) : std::nullopt;
}

} // namespace kernels
