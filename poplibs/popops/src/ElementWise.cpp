#include <popops/ElementWise.hpp>

#include "Options.hpp"

#include <popops/codelets.hpp>
#include <popops/internal/ElementwisePlan.hpp>
#include <popops/internal/Kinds.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/Broadcast.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <cctype>

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

// A 64-bit integer that no double holds is put together from its halves.
Expression lowerConstant(const expr::Const &constant) {
  const auto integer = constant.integer();
  const bool isLong = constant.type() == poplar::LONGLONG ||
                      constant.type() == poplar::UNSIGNED_LONGLONG;
  if (!isLong || (integer >> 53) == 0 || (integer >> 53) == -1) {
    return Expression::constant(constant.value());
  }
  constexpr std::int64_t half = std::int64_t{1} << 32;
  const auto low = integer & (half - 1);
  return Expression::apply(
      kernels::ElementwiseOp::ADD,
      {Expression::apply(
           kernels::ElementwiseOp::MULTIPLY,
           {Expression::constant(static_cast<double>((integer - low) / half)),
            Expression::constant(static_cast<double>(half))}),
       Expression::constant(static_cast<double>(low))});
}

// The engine's form of a user's expression tree.
Expression lower(const expr::Expr &node) {
  using kernels::Expression;
  if (const auto *constant = dynamic_cast<const expr::Const *>(&node)) {
    return lowerConstant(*constant);
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

constexpr internal::OptionRule optionRules[] = {
    {"enableGenerateCodelet", internal::OptionRule::Kind::Boolean},
    {"forceGenerateCodelet", internal::OptionRule::Kind::Boolean},
    {"enableVectorBroadcastOptimisations", internal::OptionRule::Kind::Boolean},
    {"enableExpressionOptimizations", internal::OptionRule::Kind::Boolean},
};

void checkCall(const Graph &graph, const expr::Expr &expression,
               const std::vector<Tensor> &tensors, const OptionFlags &options) {
  internal::checkOptions(options, optionRules);
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

void mapWithOutput(Graph &graph, expr::UnaryOpType op, const Tensor &a,
                   const Tensor &output, Sequence &prog,
                   const DebugContext &debugContext,
                   const OptionFlags &options) {
  mapWithOutput(graph, expr::UnaryOp(op, expr::_1), {a}, output, prog,
                debugContext, options);
}

void mapWithOutput(Graph &graph, expr::BinaryOpType op, const Tensor &a,
                   const Tensor &b, const Tensor &output, Sequence &prog,
                   const DebugContext &debugContext,
                   const OptionFlags &options) {
  mapWithOutput(graph, expr::BinaryOp(op, expr::_1, expr::_2), {a, b}, output,
                prog, debugContext, options);
}

void mapWithOutput(Graph &graph, expr::TernaryOpType op, const Tensor &a,
                   const Tensor &b, const Tensor &c, const Tensor &output,
                   Sequence &prog, const DebugContext &debugContext,
                   const OptionFlags &options) {
  mapWithOutput(graph, expr::TernaryOp(op, expr::_1, expr::_2, expr::_3),
                {a, b, c}, output, prog, debugContext, options);
}

namespace {

// `function` of src and epsilon, in FLOAT whatever their types.
Tensor mapAsFloat(Graph &graph, expr::BinaryOpType op, const Tensor &src,
                  const Tensor &epsilon, const poplar::Type &dstType,
                  Sequence &prog, const DebugContext &debugContext) {
  using expr::Cast;
  const expr::BinaryOp value(op, Cast(expr::_1, poplar::FLOAT),
                             Cast(expr::_2, poplar::FLOAT));
  return map(graph, Cast(value, dstType), {src, epsilon}, prog, debugContext);
}
Tensor mapAsFloat(Graph &graph, expr::BinaryOpType op, const Tensor &src,
                  float epsilon, const poplar::Type &dstType, Sequence &prog,
                  const DebugContext &debugContext) {
  using expr::Cast;
  const expr::BinaryOp value(op, Cast(expr::_1, poplar::FLOAT),
                             expr::Const(epsilon));
  return map(graph, Cast(value, dstType), {src}, prog, debugContext);
}

} // namespace

Tensor varianceToInvStdDev(Graph &graph, const Tensor &src,
                           const Tensor &epsilon, Sequence &prog,
                           const poplar::Type &dstType,
                           const DebugContext &debugContext) {
  return mapAsFloat(graph, expr::BinaryOpType::VARIANCE_TO_INV_STD_DEV, src,
                    epsilon, dstType, prog, debugContext);
}

Tensor varianceToInvStdDev(Graph &graph, const Tensor &src, float epsilon,
                           Sequence &prog, const poplar::Type &dstType,
                           const DebugContext &debugContext) {
  return mapAsFloat(graph, expr::BinaryOpType::VARIANCE_TO_INV_STD_DEV, src,
                    epsilon, dstType, prog, debugContext);
}

Tensor invStdDevToVariance(Graph &graph, const Tensor &src,
                           const Tensor &epsilon, Sequence &prog,
                           const poplar::Type &dstType,
                           const DebugContext &debugContext) {
  return mapAsFloat(graph, expr::BinaryOpType::INV_STD_DEV_TO_VARIANCE, src,
                    epsilon, dstType, prog, debugContext);
}

Tensor invStdDevToVariance(Graph &graph, const Tensor &src, float epsilon,
                           Sequence &prog, const poplar::Type &dstType,
                           const DebugContext &debugContext) {
  return mapAsFloat(graph, expr::BinaryOpType::INV_STD_DEV_TO_VARIANCE, src,
                    epsilon, dstType, prog, debugContext);
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
