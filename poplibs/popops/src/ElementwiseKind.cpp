// Element-wise expressions and fills as whole kinds.
#include <popops/internal/ElementwisePlan.hpp>
#include <popops/internal/Kinds.hpp>

#include <kernels/cost/Elementwise.hpp>
#include <poplar/internal/Access.hpp>
#include <poputil/Broadcast.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace popops::internal {

using kernels::Attributes;
using kernels::Expression;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::internal::Operation;
using poputil::internal::TileShare;

namespace {

std::vector<std::size_t> commonShape(const std::vector<Tensor> &inputs) {
  Tensor widest = inputs.front();
  for (auto input : inputs) {
    poputil::broadcastToMatch(widest, input);
  }
  return widest.shape();
}

std::vector<Tensor> broadcastTo(std::vector<Tensor> inputs,
                                const std::vector<std::size_t> &shape) {
  for (auto &input : inputs) {
    poputil::broadcastToMatch(input, shape);
  }
  return inputs;
}

Operation planFill(const Graph &graph, const Tensor &tensor, double value,
                   const std::vector<TileShare> &shares) {
  const auto tile = poputil::internal::tileSpec(graph);
  const auto &view = poplar::internal::tensorView(tensor);
  poputil::internal::PhaseBuilder phase("");
  for (const auto &share : shares) {
    const auto mine =
        perWorker(tile, static_cast<std::uint64_t>(share.elements));
    phase.addVertex(
        share.tiles,
        poputil::internal::workerVertices(
            poputil::internal::vertexName("popops::Fill", {view.type}),
            tile.workers, kernels::cost::fill(tile, view.type, mine), 1));
  }
  return Operation{"fill",
                   {{"type", static_cast<std::int64_t>(view.type)},
                    {"shape", view.shape},
                    {"value", value}},
                   {},
                   {tensor},
                   {phase.build()}};
}

} // namespace

Operation planExpression(const Graph &graph, const Expression &expression,
                         const std::vector<Tensor> &inputs,
                         const Tensor &output, const VertexForShare &vertex) {
  auto operands = broadcastTo(inputs, output.shape());
  auto phase =
      planPass(graph, "", operands, output,
               vertex ? vertex : chooseVertex(expression, operands, output));
  return Operation{"elementwise",
                   expression.toAttributes(),
                   std::move(operands),
                   {output},
                   {std::move(phase)}};
}

Tensor elementwise(Graph &graph, const Expression &expression,
                   const std::vector<Tensor> &inputs, Sequence &program,
                   const DebugContext &debugContext) {
  support::requireUser<poputil::poplibs_error>(
      !inputs.empty(), "[popops::map] an expression needs at least one tensor "
                       "to take its shape from");
  const auto operands = broadcastTo(inputs, commonShape(inputs));
  const auto type = poputil::internal::inferOutputs(
                        "elementwise", expression.toAttributes(), operands)
                        .front();
  const auto output = addOutput(graph, operands, type, {debugContext, "out"});
  elementwiseWithOutput(graph, expression, operands, output, program,
                        debugContext);
  return output;
}

void elementwiseWithOutput(Graph &graph, const Expression &expression,
                           const std::vector<Tensor> &inputs,
                           const Tensor &output, Sequence &program,
                           const DebugContext &debugContext) {
  const auto type =
      poputil::internal::inferOutputs("elementwise", expression.toAttributes(),
                                      broadcastTo(inputs, output.shape()))
          .front()
          .type;
  const auto outputType = poplar::internal::tensorView(output).type;
  support::requireUser<poputil::poplibs_error>(
      type == outputType,
      "[popops::map] the result has type {}, the output {}; they must be the "
      "same",
      support::toString(type), support::toString(outputType));
  emit(graph, program, planExpression(graph, expression, inputs, output),
       debugContext);
}

std::vector<Tensor> elementwise(Graph &graph, const Attributes &attributes,
                                const std::vector<Tensor> &inputs,
                                Sequence &program,
                                const DebugContext &debugContext,
                                const poplar::OptionFlags &) {
  return {elementwise(graph, Expression::fromAttributes(attributes), inputs,
                      program, debugContext)};
}

void fill(Graph &graph, const Tensor &tensor, double value, Sequence &program,
          const DebugContext &debugContext) {
  if (tensor.numElements() != 0) {
    emit(graph, program,
         planFill(graph, tensor, value,
                  poputil::internal::sharesOf(graph, tensor)),
         debugContext);
  }
}

void fill(Graph &graph, const Tensor &tensor, double value,
          poplar::ComputeSet computeSet, const std::vector<TileShare> &shares) {
  emit(graph, computeSet, planFill(graph, tensor, value, shares), "Fill");
}

std::vector<Tensor> fill(Graph &graph, const Attributes &attributes,
                         const std::vector<Tensor> &inputs, Sequence &program,
                         const DebugContext &debugContext,
                         const poplar::OptionFlags &) {
  support::requireInternal(inputs.size() == 1,
                           "fill has {} tensors to fill, not 1", inputs.size());
  fill(graph, inputs.front(), attributes.getFloat("value"), program,
       debugContext);
  return inputs;
}

} // namespace popops::internal
