#include "compiler/Patterns.hpp"

#include <algorithm>
#include <vector>

namespace poplar::compiler {

using kernels::ElementwiseOp;
using kernels::Expression;
using kernels::ExpressionStep;

bool isKind(const Node &node, std::string_view name) {
  return node.op == NodeOp::Kernel && node.kind->name == name;
}

bool hasActivation(const Node &node) {
  return node.op == NodeOp::Kernel && node.attributes.has("activation") &&
         !node.attributes.getString("activation").empty();
}

std::optional<ElementwiseOp> soleOperator(const Node &node) {
  if (!isKind(node, "elementwise")) {
    return std::nullopt;
  }
  const Expression expression = Expression::fromAttributes(node.attributes);
  const std::vector<ExpressionStep> &steps = expression.steps();
  if (steps.size() != node.inputs.size() + 1 ||
      steps.back().kind != ExpressionStep::Kind::Operator) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (steps[i].kind != ExpressionStep::Kind::Input || steps[i].index != i) {
      return std::nullopt;
    }
  }
  return static_cast<ElementwiseOp>(steps.back().index);
}

std::optional<ReluGradient> reluGradientOperands(const Node &node) {
  if (!isKind(node, "elementwise") || node.inputs.size() != 2) {
    return std::nullopt;
  }
  const Expression expression = Expression::fromAttributes(node.attributes);
  const std::vector<ExpressionStep> &steps = expression.steps();
  const auto isOperator = [&](std::size_t i, ElementwiseOp op) {
    return steps[i].kind == ExpressionStep::Kind::Operator &&
           steps[i].index == static_cast<std::uint16_t>(op);
  };
  const bool isMatch =
      steps.size() == 4 && steps[0].kind == ExpressionStep::Kind::Input &&
      steps[1].kind == ExpressionStep::Kind::Input &&
      steps[0].index != steps[1].index && isOperator(2, ElementwiseOp::STEP) &&
      isOperator(3, ElementwiseOp::MULTIPLY);
  return isMatch ? std::optional(ReluGradient{steps[0].index, steps[1].index})
                 : std::nullopt;
}

bool followsFrom(const Node &node, const std::unordered_set<ValueId> &known) {
  return (node.op == NodeOp::Kernel || node.op == NodeOp::Copy) &&
         !node.inputs.empty() &&
         std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](const Window &input) {
                       return known.contains(input.value);
                     }) &&
         std::all_of(node.outputs.begin(), node.outputs.end(),
                     [&](const Definition &output) {
                       return !output.base.isValid() ||
                              known.contains(output.base);
                     });
}

} // namespace poplar::compiler
