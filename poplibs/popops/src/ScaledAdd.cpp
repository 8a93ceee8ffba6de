#include <popops/ScaledAdd.hpp>

#include <popops/internal/ElementwisePlan.hpp>

#include <kernels/cost/Elementwise.hpp>
#include <poplar/internal/Access.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <fmt/core.h>

#include <variant>

namespace popops {

using kernels::ElementwiseOp;
using kernels::Expression;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;

namespace {

using Scale = std::variant<float, Tensor>;

struct Call {
  Tensor a;
  Tensor b;
  Scale scaleA = 1.0f;
  Scale scaleB = 1.0f;
  bool isSubtract = false;
};

bool isOne(const Scale &scale) {
  const auto *value = std::get_if<float>(&scale);
  return value != nullptr && *value == 1.0f;
}

Expression apply(ElementwiseOp op, Expression left, Expression right) {
  return Expression::apply(op, {std::move(left), std::move(right)});
}

void checkOptions(const OptionFlags &options) {
  for (const auto &option : options) {
    support::requireUser<poplar::invalid_option>(
        option.first == "optimizeForSpeed" ||
            option.first == "scaleFloatToHalfTolerance",
        "Unrecognised option '{}'", option.first);
  }
}

void emitScaledAdd(Graph &graph, const Call &call, Sequence &prog,
                   const DebugContext &debugContext,
                   const OptionFlags &options) {
  checkOptions(options);
  support::requireUser<poputil::poplibs_error>(
      call.a.shape() == call.b.shape(),
      "[popops::scaledAddTo] A has shape {} and B {}; they must be the same",
      call.a.shapeToString(), call.b.shapeToString());
  poputil::internal::requireCodelets(graph, "popops",
                                     "popops::ScaledAddSupervisor");
  std::vector<Tensor> inputs{call.a, call.b};
  const auto type = poplar::internal::tensorView(call.a).type;
  const auto typeB = poplar::internal::tensorView(call.b).type;
  const auto converted = [&](unsigned input) {
    auto value = Expression::input(input);
    const auto from = poplar::internal::tensorView(inputs[input]).type;
    return from == type ? value : Expression::cast(type, std::move(value));
  };
  const auto scaled = [&](unsigned input, const Scale &scale) {
    auto value = converted(input);
    if (isOne(scale)) {
      return value;
    }
    if (const auto *factor = std::get_if<float>(&scale)) {
      return apply(ElementwiseOp::MULTIPLY, std::move(value),
                   Expression::constant(*factor));
    }
    inputs.push_back(std::get<Tensor>(scale).reshape({}));
    const auto last = static_cast<unsigned>(inputs.size() - 1);
    return apply(ElementwiseOp::MULTIPLY, std::move(value), converted(last));
  };
  auto left = scaled(0, call.scaleA);
  auto right = scaled(1, call.scaleB);
  const auto expression =
      apply(call.isSubtract ? ElementwiseOp::SUBTRACT : ElementwiseOp::ADD,
            std::move(left), std::move(right));

  const bool scalesBoth = !isOne(call.scaleA);
  const bool isConstant = std::holds_alternative<float>(call.scaleB);
  const auto name =
      scalesBoth ? fmt::format("popops::aXPlusbYSupervisor<{},{},{}>",
                               support::toString(type),
                               support::toString(typeB), isConstant)
                 : fmt::format("popops::{}<{},{},{}>",
                               call.isSubtract ? "ScaledSubtractSupervisor"
                                               : "ScaledAddSupervisor",
                               support::toString(type),
                               support::toString(typeB), isConstant);
  const auto edges = static_cast<std::uint32_t>(inputs.size());
  auto operation = internal::planExpression(
      graph, expression, inputs, call.a,
      [=, subtract = call.isSubtract](const kernels::cost::TileSpec &tile,
                                      std::uint64_t n) {
        return poputil::internal::supervisorVertex(
            name,
            kernels::cost::scaledAdd(tile, type, typeB, n, subtract,
                                     scalesBoth),
            edges, 2 * n);
      });
  poputil::internal::emit(
      graph, prog, std::move(operation),
      {debugContext, call.isSubtract ? "ScaledSub" : "AddTo"});
}

} // namespace

void scaledAddTo(Graph &graph, Tensor A, Tensor B, float scaleB, Sequence &prog,
                 const DebugContext &debugContext, const OptionFlags &options) {
  emitScaledAdd(graph, {A, B, 1.0f, scaleB}, prog, debugContext, options);
}

void scaledAddTo(Graph &graph, Tensor A, Tensor B, Tensor scaleB,
                 Sequence &prog, const DebugContext &debugContext,
                 const OptionFlags &options) {
  emitScaledAdd(graph, {A, B, 1.0f, scaleB}, prog, debugContext, options);
}

void scaledAddTo(Graph &graph, Tensor A, float scaleA, Tensor B, float scaleB,
                 Sequence &prog, const DebugContext &debugContext,
                 const OptionFlags &options) {
  emitScaledAdd(graph, {A, B, scaleA, scaleB}, prog, debugContext, options);
}

void scaledAddTo(Graph &graph, Tensor A, Tensor scaleA, Tensor B, Tensor scaleB,
                 Sequence &prog, const DebugContext &debugContext,
                 const OptionFlags &options) {
  emitScaledAdd(graph, {A, B, scaleA, scaleB}, prog, debugContext, options);
}

void scaledAddTo(Graph &graph, Tensor A, float scaleA, Tensor B, float scaleB,
                 Sequence &prog, ScaledAddSpecialisation speciality,
                 const DebugContext &debugContext, const OptionFlags &options) {
  const float factor =
      speciality == ScaledAddSpecialisation::DEFAULT ? scaleA : 1.0f - scaleA;
  emitScaledAdd(graph, {A, B, factor, scaleB}, prog, debugContext, options);
}

void scaledSubtractFrom(Graph &graph, Tensor A, Tensor B, float scaleB,
                        Sequence &prog, const DebugContext &debugContext,
                        const OptionFlags &options) {
  emitScaledAdd(graph, {A, B, 1.0f, scaleB, true}, prog, debugContext, options);
}

void scaledSubtractFrom(Graph &graph, Tensor A, Tensor B, Tensor scaleB,
                        Sequence &prog, const DebugContext &debugContext,
                        const OptionFlags &options) {
  emitScaledAdd(graph, {A, B, 1.0f, scaleB, true}, prog, debugContext, options);
}

void scaledSubtractFrom(Graph &graph, Tensor A, Tensor scaleA, Tensor B,
                        Tensor scaleB, Sequence &prog,
                        const DebugContext &debugContext,
                        const OptionFlags &options) {
  emitScaledAdd(graph, {A, B, scaleA, scaleB, true}, prog, debugContext,
                options);
}

} // namespace popops
