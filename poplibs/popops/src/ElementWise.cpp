#include <popops/ElementWise.hpp>

#include <popops/codelets.hpp>
#include <popops/internal/ElementwisePlan.hpp>
#include <popops/internal/Kinds.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/Broadcast.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <array>

namespace popops {

using kernels::Expression;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;

namespace {

kernels::ElementwiseOp operatorNamed(std::string_view name) {
  const auto *info = kernels::findElementwiseOp(name);
  support::requireUser<poputil::poplibs_error>(
      info != nullptr, "[popops::map] operator {} is not implemented", name);
  return info->op;
}

// The engine's form of a user's expression tree.
Expression lower(const expr::Expr &node) {
  using kernels::Expression;
  if (const auto *constant = dynamic_cast<const expr::Const *>(&node)) {
    return Expression::constant(constant->value());
  }
  if (const auto *input = dynamic_cast<const expr::PlaceHolder *>(&node)) {
    return Expression::input(input->getIndex() - 1);
  }
  if (const auto *cast = dynamic_cast<const expr::Cast *>(&node)) {
    return Expression::cast(poplar::internal::toDataType(cast->getRHSType()),
                            lower(cast->getLHS()));
  }
  if (const auto *op = dynamic_cast<const expr::UnaryOp *>(&node)) {
    return Expression::apply(operatorNamed(toString(op->getOpType())),
                             {lower(op->getArg())});
  }
  if (const auto *op = dynamic_cast<const expr::BinaryOp *>(&node)) {
    return Expression::apply(operatorNamed(toString(op->getOpType())),
                             {lower(op->getLHS()), lower(op->getRHS())});
  }
  const auto *op = dynamic_cast<const expr::TernaryOp *>(&node);
  support::requireUser<poputil::poplibs_error>(
      op != nullptr, "[popops::map] {} is no expression of popops",
      node.name());
  return Expression::apply(
      operatorNamed(toString(op->getOpType())),
      {lower(op->getArg0()), lower(op->getArg1()), lower(op->getArg2())});
}

// "Op/Add" for one operator, as profiles name it.
std::string stepName(const expr::Expr &node) {
  const auto spell = [](std::string name) {
    bool atStart = true;
    std::string spelt;
    for (const char c : name) {
      if (c == '_') {
        atStart = true;
        continue;
      }
      spelt += atStart ? c : static_cast<char>(std::tolower(c));
      atStart = false;
    }
    return "Op/" + spelt;
  };
  if (const auto *op = dynamic_cast<const expr::UnaryOp *>(&node)) {
    return spell(toString(op->getOpType()));
  }
  if (const auto *op = dynamic_cast<const expr::BinaryOp *>(&node)) {
    return spell(toString(op->getOpType()));
  }
  if (const auto *op = dynamic_cast<const expr::TernaryOp *>(&node)) {
    return spell(toString(op->getOpType()));
  }
  return "Op/Map";
}

void checkCall(const Graph &graph, const expr::Expr &expression,
               const std::vector<Tensor> &tensors, const OptionFlags &options) {
  constexpr std::array<std::string_view, 4> known{
      "enableGenerateCodelet", "forceGenerateCodelet",
      "enableVectorBroadcastOptimisations", "enableExpressionOptimizations"};
  for (const auto &[name, value] : options) {
    support::requireUser<poplar::invalid_option>(
        std::find(known.begin(), known.end(), name) != known.end(),
        "Unrecognised option '{}'", name);
    support::requireUser<poplar::invalid_option>(
        value == "true" || value == "false",
        "Invalid value '{}' for option '{}': Not one of the values: "
        "['true', 'false']",
        value, name);
  }
  support::requireUser<poputil::poplibs_error>(
      !tensors.empty(), "[popops::map] there is no tensor to work on");
  poputil::internal::requireCodelets(graph, "popops",
                                     "popops::" + expression.name());
}

} // namespace

Tensor map(Graph &graph, const expr::Expr &expression,
           const std::vector<Tensor> &tensors, Sequence &prog,
           const DebugContext &debugContext, const OptionFlags &options) {
  checkCall(graph, expression, tensors, options);
  return internal::elementwise(graph, lower(expression), tensors, prog,
                               {debugContext, stepName(expression)});
}

Tensor map(Graph &graph, expr::UnaryOpType op, const Tensor &a, Sequence &prog,
           const DebugContext &debugContext, const OptionFlags &options) {
  return map(graph, expr::UnaryOp(op, expr::_1), {a}, prog, debugContext,
             options);
}

Tensor map(Graph &graph, expr::BinaryOpType op, const Tensor &a,
           const Tensor &b, Sequence &prog, const DebugContext &debugContext,
           const OptionFlags &options) {
  return map(graph, expr::BinaryOp(op, expr::_1, expr::_2), {a, b}, prog,
             debugContext, options);
}

Tensor map(Graph &graph, expr::TernaryOpType op, const Tensor &a,
           const Tensor &b, const Tensor &c, Sequence &prog,
           const DebugContext &debugContext, const OptionFlags &options) {
  return map(graph, expr::TernaryOp(op, expr::_1, expr::_2, expr::_3),
             {a, b, c}, prog, debugContext, options);
}

std::vector<Tensor> map(Graph &graph, const std::vector<expr::Any> &expressions,
                        const std::vector<Tensor> &tensors, Sequence &prog,
                        const DebugContext &debugContext,
                        const OptionFlags &options) {
  std::vector<Tensor> results;
  for (const expr::Expr &expression : expressions) {
    results.push_back(
        map(graph, expression, tensors, prog, debugContext, options));
  }
  return results;
}

void mapInPlace(Graph &graph, const expr::Expr &expression,
                const std::vector<Tensor> &tensors, Sequence &prog,
                const DebugContext &debugContext, const OptionFlags &options) {
  checkCall(graph, expression, tensors, options);
  support::requireUser<poputil::poplibs_error>(
      tensors.front().isParallelWriteable(),
      "Trying to accumulate to a tensor that cannot be written in parallel "
      "(operation {})",
      expression.name());
  mapWithOutput(graph, expression, tensors, tensors.front(), prog, debugContext,
                options);
}

void mapInPlace(Graph &graph, expr::UnaryOpType op, const Tensor &a,
                Sequence &prog, const DebugContext &debugContext,
                const OptionFlags &options) {
  mapInPlace(graph, expr::UnaryOp(op, expr::_1), {a}, prog, debugContext,
             options);
}

void mapInPlace(Graph &graph, expr::BinaryOpType op, const Tensor &a,
                const Tensor &b, Sequence &prog,
                const DebugContext &debugContext, const OptionFlags &options) {
  mapInPlace(graph, expr::BinaryOp(op, expr::_1, expr::_2), {a, b}, prog,
             debugContext, options);
}

void mapInPlace(Graph &graph, expr::TernaryOpType op, const Tensor &a,
                const Tensor &b, const Tensor &c, Sequence &prog,
                const DebugContext &debugContext, const OptionFlags &options) {
  mapInPlace(graph, expr::TernaryOp(op, expr::_1, expr::_2, expr::_3),
             {a, b, c}, prog, debugContext, options);
}

void mapWithOutput(Graph &graph, const expr::Expr &expression,
                   const std::vector<Tensor> &tensors, const Tensor &output,
                   Sequence &prog, const DebugContext &debugContext,
                   const OptionFlags &options) {
  checkCall(graph, expression, tensors, options);
  internal::elementwiseWithOutput(graph, lower(expression), tensors, output,
                                  prog, {debugContext, stepName(expression)});
}

Tensor createOutputForElementWiseOp(Graph &graph,
                                    const std::vector<Tensor> &inputs,
                                    const poplar::Type &outputType,
                                    const DebugContext &debugContext) {
  support::requireUser<poputil::poplibs_error>(
      !inputs.empty(),
      "[popops::createOutputForElementWiseOp] there are no inputs");
  Tensor widest = inputs.front();
  for (auto input : inputs) {
    poputil::broadcastToMatch(widest, input);
  }
  auto type = poputil::internal::tensorType(widest);
  type.type = poplar::internal::toDataType(outputType);
  return internal::addOutput(graph, inputs, type, debugContext);
}

void addCodelets(Graph &graph) {
  poputil::internal::addLibraryCodelets(graph, "popops");
}

} // namespace popops
