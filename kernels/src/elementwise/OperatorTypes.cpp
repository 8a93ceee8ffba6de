#include "OperatorTypes.hpp"

#include <support/Error.hpp>

#include <optional>
#include <stdexcept>

namespace kernels::elementwise {

using support::DataType;
using support::requireUser;

namespace {

bool isInteger(DataType type) {
  return type >= DataType::Char && type <= DataType::UnsignedLongLong;
}

// Whether a cost has a figure for a type spelt with one of these letters.
bool hasFigureOf(std::string_view cost, std::string_view letters) {
  while (!cost.empty()) {
    if (letters.find(cost.front()) != std::string_view::npos) {
      return true;
    }
    const auto space = cost.find(' ');
    cost = space == std::string_view::npos ? "" : cost.substr(space + 1);
  }
  return false;
}

// A stack value: the step that made it and its type, which is open while only
// constants are involved.
struct Entry {
  std::size_t step;
  std::optional<DataType> type;
};

class TypeInference {
public:
  TypeInference(std::span<const ExpressionStep> steps,
                std::span<const DataType> inputs)
      : steps_(steps), inputs_(inputs), types_(steps.size()) {}

  std::vector<DataType> run() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      visit(i);
    }
    support::requireInternal(stack_.size() == 1,
                             "an expression leaves {} values", stack_.size());
    resolve(stack_.back(), DataType::Float);
    return std::move(types_);
  }

private:
  void visit(std::size_t index) {
    const auto &step = steps_[index];
    switch (step.kind) {
    case ExpressionStep::Kind::Input:
      requireUser<std::invalid_argument>(
          step.index < inputs_.size(),
          "[elementwise] the expression uses input {}; {} inputs were given",
          step.index, inputs_.size());
      push(index, inputs_[step.index]);
      break;
    case ExpressionStep::Kind::Constant:
      push(index, std::nullopt);
      break;
    case ExpressionStep::Kind::Cast: {
      Entry operand = pop();
      const auto target = static_cast<DataType>(step.index);
      requireUser<std::invalid_argument>(
          target != DataType::Quarter && target <= DataType::Float,
          "[elementwise] no cast to type {}", step.index);
      // A constant is cast from the exact number, not from a rounded float.
      resolve(operand, target);
      push(index, target);
      break;
    }
    case ExpressionStep::Kind::Operator:
      visitOperator(index,
                    elementwiseOpInfo(static_cast<ElementwiseOp>(step.index)));
      break;
    }
  }

  void visitOperator(std::size_t index, const ElementwiseOpInfo &info) {
    support::requireInternal(stack_.size() >= info.arity,
                             "{} finds {} operands on the stack", info.name,
                             stack_.size());
    const std::vector<Entry> operands(stack_.end() - info.arity, stack_.end());
    stack_.resize(stack_.size() - info.arity);
    const bool isSelect = info.op == ElementwiseOp::SELECT;
    const std::size_t valueCount = isSelect ? 2 : info.arity;
    std::optional<DataType> type;
    for (std::size_t i = 0; i < valueCount && !type; ++i) {
      type = operands[i].type;
    }
    if (!type && !info.isPredicate && !isSelect) { // constants only: still open
      pushOpen(index, operands);
      return;
    }
    const DataType known = type.value_or(DataType::Float);
    for (std::size_t i = 0; i < info.arity; ++i) {
      check(info, operands[i], i, i < valueCount ? known : DataType::Bool);
    }
    requireTaken(info, known);
    push(index, info.isPredicate ? DataType::Bool : known);
  }

  void check(const ElementwiseOpInfo &info, const Entry &operand,
             std::size_t position, DataType wanted) {
    resolve(operand, wanted);
    requireUser<std::invalid_argument>(
        operand.type.value_or(wanted) == wanted,
        "[elementwise] operand {} of {} has type {}; it must be {}", position,
        info.name, support::toString(operand.type.value_or(wanted)),
        support::toString(wanted));
  }

  void requireTaken(const ElementwiseOpInfo &info, DataType type) const {
    requireUser<std::invalid_argument>(
        takesType(info, type), "[elementwise] {} does not take type {} ({})",
        info.name, support::toString(type), info.cost);
  }

  // Gives the type to an open value and to the open values it is made of, which
  // are the steps just before it.
  void resolve(const Entry &entry, DataType type) {
    if (!entry.type) {
      for (std::size_t i = openBegin_[entry.step]; i <= entry.step; ++i) {
        types_[i] = type;
        if (steps_[i].kind == ExpressionStep::Kind::Operator) {
          requireTaken(
              elementwiseOpInfo(static_cast<ElementwiseOp>(steps_[i].index)),
              type);
        }
      }
    }
  }

  void push(std::size_t index, std::optional<DataType> type) {
    stack_.push_back({index, type});
    types_[index] = type.value_or(DataType::Float);
    openBegin_.resize(index + 1, index);
    openBegin_[index] = index;
  }
  void pushOpen(std::size_t index, const std::vector<Entry> &operands) {
    const std::size_t begin = openBegin_[operands.front().step];
    push(index, std::nullopt);
    openBegin_[index] = begin;
  }
  Entry pop() {
    support::requireInternal(!stack_.empty(), "a cast finds an empty stack");
    Entry entry = stack_.back();
    stack_.pop_back();
    return entry;
  }

  std::span<const ExpressionStep> steps_;
  std::span<const DataType> inputs_;
  std::vector<DataType> types_;
  std::vector<Entry> stack_;
  std::vector<std::size_t> openBegin_; // first step of an open value
};

} // namespace

bool takesType(const ElementwiseOpInfo &info, DataType type) {
  if (isInteger(type)) {
    return hasFigureOf(info.cost, "IULS");
  }
  return hasFigureOf(info.cost, type == DataType::Float  ? "F"
                                : type == DataType::Half ? "H"
                                : type == DataType::Bool ? "B"
                                                         : "");
}

std::vector<DataType> inferStepTypes(std::span<const ExpressionStep> steps,
                                     std::span<const DataType> inputs) {
  return TypeInference(steps, inputs).run();
}

} // namespace kernels::elementwise
