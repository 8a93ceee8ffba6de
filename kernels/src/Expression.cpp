#include <kernels/Expression.hpp>

#include "elementwise/OperatorTypes.hpp"

#include <support/Error.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace kernels {

namespace {

constexpr ElementwiseOpInfo opTable[] = {
#define KERNELS_UNARY(name, function, cost, byA)                               \
  {ElementwiseOp::name, #name, 1, false, cost, {byA, "", ""}},
#define KERNELS_UNARY_PREDICATE(name, function, cost, byA)                     \
  {ElementwiseOp::name, #name, 1, true, cost, {byA, "", ""}},
#define KERNELS_BINARY(name, function, cost, byA, byB)                         \
  {ElementwiseOp::name, #name, 2, false, cost, {byA, byB, ""}},
#define KERNELS_PREDICATE(name, function, cost, byA, byB)                      \
  {ElementwiseOp::name, #name, 2, true, cost, {byA, byB, ""}},
#define KERNELS_TERNARY(name, function, cost, byA, byB, byC)                   \
  {ElementwiseOp::name, #name, 3, false, cost, {byA, byB, byC}},
#include <kernels/ElementwiseOps.def>
};

void append(std::vector<ExpressionStep> &steps, const Expression &other) {
  steps.insert(steps.end(), other.steps().begin(), other.steps().end());
}

// Number of stack values that a step takes.
unsigned operandsOf(const ExpressionStep &step) {
  switch (step.kind) {
  case ExpressionStep::Kind::Input:
  case ExpressionStep::Kind::Constant:
    return 0;
  case ExpressionStep::Kind::Cast:
    return 1;
  case ExpressionStep::Kind::Operator:
    return elementwiseOpInfo(static_cast<ElementwiseOp>(step.index)).arity;
  }
  return 0;
}

void checkPostfix(const std::vector<ExpressionStep> &steps) {
  std::size_t depth = 0;
  for (const auto &step : steps) {
    const unsigned taken = operandsOf(step);
    support::requireInternal(depth >= taken,
                             "postfix code takes {} values from a stack of {}",
                             taken, depth);
    depth = depth - taken + 1;
  }
  support::requireInternal(depth == 1, "postfix code leaves {} values", depth);
}

} // namespace

std::span<const ElementwiseOpInfo> elementwiseOps() {
  return opTable;
}

const ElementwiseOpInfo &elementwiseOpInfo(ElementwiseOp op) {
  const auto index = static_cast<std::size_t>(op);
  support::requireInternal(index < std::size(opTable),
                           "no element-wise operator has number {}", index);
  return opTable[index];
}

const ElementwiseOpInfo *findElementwiseOp(std::string_view name) {
  for (const auto &info : opTable) {
    if (info.name == name) {
      return &info;
    }
  }
  return nullptr;
}

Expression Expression::input(unsigned index) {
  Expression result;
  result.steps_.push_back(
      {ExpressionStep::Kind::Input, static_cast<std::uint16_t>(index)});
  return result;
}

Expression Expression::constant(double value) {
  Expression result;
  result.steps_.push_back({ExpressionStep::Kind::Constant, 0, value});
  return result;
}

Expression Expression::apply(ElementwiseOp op,
                             std::vector<Expression> operands) {
  const auto &info = elementwiseOpInfo(op);
  support::requireInternal(operands.size() == info.arity,
                           "{} takes {} operands, given {}", info.name,
                           info.arity, operands.size());
  Expression result;
  for (const auto &operand : operands) {
    append(result.steps_, operand);
  }
  result.steps_.push_back(
      {ExpressionStep::Kind::Operator, static_cast<std::uint16_t>(op)});
  return result;
}

Expression Expression::cast(support::DataType type, Expression operand) {
  operand.steps_.push_back(
      {ExpressionStep::Kind::Cast, static_cast<std::uint16_t>(type)});
  return operand;
}

Expression
Expression::substitute(std::span<const Expression> replacements) const {
  Expression result;
  for (const auto &step : steps_) {
    if (step.kind == ExpressionStep::Kind::Input) {
      support::requireInternal(step.index < replacements.size(),
                               "no replacement for input {}", step.index);
      append(result.steps_, replacements[step.index]);
    } else {
      result.steps_.push_back(step);
    }
  }
  return result;
}

unsigned Expression::inputCount() const {
  unsigned count = 0;
  for (const auto &step : steps_) {
    if (step.kind == ExpressionStep::Kind::Input) {
      count = std::max<unsigned>(count, step.index + 1u);
    }
  }
  return count;
}

std::vector<support::DataType>
Expression::stepTypes(std::span<const support::DataType> inputs) const {
  return elementwise::inferStepTypes(steps_, inputs);
}

// `code` holds kind * 65536 + index for each step, a constant's index being its
// place in `constants`.
Attributes Expression::toAttributes() const {
  checkPostfix(steps_);
  Attributes::Ints code;
  Attributes::Floats constants;
  for (const auto &step : steps_) {
    std::int64_t index = step.index;
    if (step.kind == ExpressionStep::Kind::Constant) {
      index = static_cast<std::int64_t>(constants.size());
      constants.push_back(step.constant);
    }
    code.push_back(static_cast<std::int64_t>(step.kind) * 65536 + index);
  }
  return {{"code", std::move(code)}, {"constants", std::move(constants)}};
}

Expression Expression::fromAttributes(const Attributes &attributes) {
  const auto &constants = attributes.getFloats("constants");
  Expression result;
  for (auto entry : attributes.getInts("code")) {
    support::requireInternal(entry >= 0 && entry / 65536 <= 3,
                             "{} is no step of an expression", entry);
    ExpressionStep step{static_cast<ExpressionStep::Kind>(entry / 65536),
                        static_cast<std::uint16_t>(entry % 65536)};
    if (step.kind == ExpressionStep::Kind::Constant) {
      support::requireInternal(step.index < constants.size(),
                               "expression has no constant {}", step.index);
      step.constant = constants[step.index];
      step.index = 0;
    }
    result.steps_.push_back(step);
  }
  checkPostfix(result.steps_);
  return result;
}

} // namespace kernels
