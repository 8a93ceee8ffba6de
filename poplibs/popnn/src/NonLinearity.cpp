#include <popnn/NonLinearity.hpp>

#include <popnn/internal/Kinds.hpp>

#include <kernels/cost/NeuralNet.hpp>
#include <poplar/internal/Access.hpp>
#include <popops/ElementWise.hpp>
#include <popops/internal/ElementwisePlan.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <fmt/core.h>

#include <array>

namespace popnn {

using kernels::Expression;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;

namespace {

// The value over x; the gradient over g and a (the output, or the input where
// the output does not determine it).
struct Row {
  NonLinearityType type;
  std::string_view name;
  std::string_view value;
  std::string_view gradient;
};
constexpr Row rows[] = {
    {NonLinearityType::SIGMOID, "SIGMOID", "sigmoid(x)", "g*a*(1-a)"},
    {NonLinearityType::HARD_SIGMOID, "HARD_SIGMOID", "min(max(0.2*x+0.5,0),1)",
     "0.2*g*step(a)*step(1-a)"},
    {NonLinearityType::RELU, "RELU", "relu(x)", "g*step(a)"},
    {NonLinearityType::TANH, "TANH", "tanh(x)", "g*(1-a*a)"},
    {NonLinearityType::GELU, "GELU",
     "0.5*x*(1+tanh(0.7978845608*x*(1+0.044715*x*x)))",
     "g*(0.5*(1+tanh(0.7978845608*a*(1+0.044715*a*a)))+"
     "0.5*a*(1-tanh(0.7978845608*a*(1+0.044715*a*a))*"
     "tanh(0.7978845608*a*(1+0.044715*a*a)))*"
     "0.7978845608*(1+0.134145*a*a))"},
    {NonLinearityType::GELU_ERF, "GELU_ERF", "gelu_erf(x)",
     "g*(0.5*(1+erf(a*0.7071067811865476))+"
     "a*0.3989422804014327*exp(-0.5*a*a))"},
    {NonLinearityType::SWISH, "SWISH", "x*sigmoid(x)",
     "g*sigmoid(a)*(1+a*(1-sigmoid(a)))"},
};

// What SOFTMAX_SCALED multiplies its result by.
constexpr float softmaxScaling = 16384.0f;

const Row *findRow(NonLinearityType type) {
  for (const auto &row : rows) {
    if (row.type == type) {
      return &row;
    }
  }
  return nullptr; // one of the softmaxes
}

void requirePopnn(const Graph &graph, std::string_view vertex) {
  poputil::internal::requireCodelets(graph, "popnn", vertex);
}

popops::internal::VertexForShare vertexOf(const Row &row, bool isGradient,
                                          const Tensor &tensor) {
  const auto type = poplar::internal::tensorView(tensor).type;
  const auto name =
      fmt::format("popnn::{}<{},popnn::NonLinearityType::{}>",
                  isGradient ? "NonLinearityGrad1D" : "NonLinearity1D",
                  support::toString(type), row.name);
  return [=](const kernels::cost::TileSpec &tile, std::uint64_t n) {
    return poputil::internal::supervisorVertex(
        name,
        isGradient ? kernels::cost::nonLinearityGrad1D(tile, row.name, type, n)
                   : kernels::cost::nonLinearity1D(tile, row.name, type, n),
        isGradient ? 3 : 1, n);
  };
}

poputil::internal::Operation planValue(const Graph &graph, const Row &row,
                                       const Tensor &in, const Tensor &out) {
  constexpr std::array<std::string_view, 1> names{"x"};
  const auto expression = Expression::parse(row.value, names);
  // One operator of popops is that operator's vertex.
  const bool isPlainOperator = expression.steps().size() == 2;
  return popops::internal::planExpression(
      graph, expression, {in}, out,
      isPlainOperator ? popops::internal::VertexForShare{}
                      : vertexOf(row, false, in));
}

Tensor softmaxOf(Graph &graph, const Tensor &t, float scaling, Sequence &prog,
                 const DebugContext &debugContext) {
  requirePopnn(graph, "popnn::Softmax");
  const auto out =
      internal::softmax(graph, {}, {t}, prog, debugContext, {}).front();
  if (scaling != 1) {
    popops::mulInPlace(graph, out, scaling, prog, {debugContext, "Scale"});
  }
  return out;
}

float scalingOf(NonLinearityType type) {
  return type == NonLinearityType::SOFTMAX_SCALED ? softmaxScaling : 1.0f;
}

// The gradient of an element-wise non-linearity, into a new tensor.
struct PlannedGradient {
  Tensor out;
  poputil::internal::Operation operation;
};
PlannedGradient planGradient(Graph &graph, const Row &row, const Tensor &act,
                             const Tensor &outGradient,
                             const DebugContext &debugContext) {
  support::requireUser<poplibs_error>(
      act.shape() == outGradient.shape(),
      "[popnn::nonLinearityInputGradient] the activations have shape {}, the "
      "gradient {}; they must be the same",
      act.shapeToString(), outGradient.shapeToString());
  requirePopnn(graph, "popnn::NonLinearityGrad1D");
  constexpr std::array<std::string_view, 2> names{"g", "a"};
  const auto out = popops::internal::addOutput(
      graph, {outGradient, act}, poputil::internal::tensorType(outGradient),
      {debugContext, "inputGradient"});
  return {out, popops::internal::planExpression(
                   graph, Expression::parse(row.gradient, names),
                   {outGradient, act}, out, vertexOf(row, true, act))};
}

} // namespace

Tensor nonLinearity(Graph &graph, NonLinearityType type, Tensor t,
                    float &nonLinearityScaling, Sequence &prog,
                    const DebugContext &debugContext) {
  nonLinearityScaling = scalingOf(type);
  const auto *row = findRow(type);
  if (row == nullptr) {
    return softmaxOf(graph, t, nonLinearityScaling, prog, debugContext);
  }
  requirePopnn(graph, "popnn::NonLinearity1D");
  const auto out = popops::internal::addOutput(
      graph, {t}, poputil::internal::tensorType(t), {debugContext, "out"});
  poputil::internal::emit(graph, prog, planValue(graph, *row, t, out),
                          {debugContext, "Nonlinearity"});
  return out;
}

Tensor nonLinearity(Graph &graph, NonLinearityType type, Tensor t,
                    Sequence &prog, const DebugContext &debugContext) {
  float scaling = 1;
  return nonLinearity(graph, type, t, scaling, prog, debugContext);
}

void nonLinearityInPlace(Graph &graph, NonLinearityType type, Tensor t,
                         float &nonLinearityScaling, Sequence &prog,
                         const DebugContext &debugContext) {
  nonLinearityScaling = scalingOf(type);
  const auto *row = findRow(type);
  if (row == nullptr) {
    const auto out =
        softmaxOf(graph, t, nonLinearityScaling, prog, debugContext);
    prog.add(poplar::program::Copy(out, t, false, debugContext));
    return;
  }
  requirePopnn(graph, "popnn::NonLinearity1D");
  poputil::internal::emit(graph, prog, planValue(graph, *row, t, t),
                          {debugContext, "Nonlinearity"});
}

void nonLinearityInPlace(Graph &graph, NonLinearityType type, Tensor t,
                         Sequence &prog, const DebugContext &debugContext) {
  float scaling = 1;
  nonLinearityInPlace(graph, type, t, scaling, prog, debugContext);
}

void nonLinearityInPlace(Graph &graph, NonLinearityType type, Tensor t,
                         poplar::ComputeSet &computeSet,
                         const DebugContext &debugContext) {
  const auto *row = findRow(type);
  support::requireUser<poplibs_error>(
      row != nullptr, "Compute set variant of softmax not implemented");
  requirePopnn(graph, "popnn::NonLinearity1D");
  poputil::internal::emit(graph, computeSet, planValue(graph, *row, t, t),
                          {debugContext, "Nonlinearity"});
}

Tensor nonLinearityInputGradient(Graph &graph, NonLinearityType type,
                                 Tensor act, Tensor outGradient, Sequence &prog,
                                 const DebugContext &debugContext) {
  const auto *row = findRow(type);
  if (row == nullptr) {
    requirePopnn(graph, "popnn::SoftmaxGrad");
    return internal::softmaxGrad(graph, {}, {outGradient, act}, prog,
                                 debugContext, {})
        .front();
  }
  auto planned = planGradient(graph, *row, act, outGradient, debugContext);
  poputil::internal::emit(graph, prog, std::move(planned.operation),
                          {debugContext, "NonLinearityGrad"});
  return planned.out;
}

Tensor nonLinearityInputGradient(Graph &graph, NonLinearityType type,
                                 Tensor act, Tensor outGradient,
                                 poplar::ComputeSet &computeSet,
                                 const DebugContext &debugContext) {
  const auto *row = findRow(type);
  support::requireUser<poplibs_error>(
      row != nullptr,
      "Compute set variant of softmax gradient not implemented");
  auto planned = planGradient(graph, *row, act, outGradient, debugContext);
  poputil::internal::emit(graph, computeSet, std::move(planned.operation),
                          {debugContext, "NonLinearityGrad"});
  return planned.out;
}

} // namespace popnn
