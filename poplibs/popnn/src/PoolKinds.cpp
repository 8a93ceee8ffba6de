// Maximum pooling and its gradient as whole kinds.
#include <popnn/internal/Kinds.hpp>

#include "Passes.hpp"

#include <kernels/cost/NeuralNet.hpp>
#include <poplar/internal/Access.hpp>
#include <poputil/internal/Emit.hpp>

#include <fmt/core.h>

namespace popnn::internal {

using kernels::Attributes;
using kernels::cost::ceilDiv;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;

namespace {

// The work is spread over rows of `output`, [N,C,H,W], a group of channels at a
// time; `input` is exchanged in.
poplar::internal::GroupPhase
planPooling(const Graph &graph, const Tensor &output, const Tensor &input,
            const Attributes &attributes, kernels::cost::PoolPass pass) {
  const auto tile = poputil::internal::tileSpec(graph);
  const auto type = poplar::internal::tensorView(output).type;
  const auto size = support::sizeOf(type);
  const auto &kernel = attributes.getInts("kernel");
  const auto channels =
      std::min<std::uint64_t>(output.dim(1), 2 * vectorWidth(tile, type));
  const auto rows =
      output.dim(0) * ceilDiv(output.dim(1), channels) * output.dim(2);
  const auto spread =
      poputil::internal::spread(static_cast<std::int64_t>(rows), 1,
                                poputil::internal::tilesOf(graph, input));
  const auto mine = static_cast<std::uint64_t>(spread.elements);
  const bool isBackward = pass == kernels::cost::PoolPass::Backward;
  poputil::internal::PhaseBuilder phase(isBackward ? "PoolBwd" : "Pool");
  // Each tile reads its share of the input; windows that overlap a neighbour's
  // add little.
  const auto bytes = ceilDiv(input.numElements() * size, spread.tiles.count);
  phase.exchange(poputil::internal::sharesOf(graph, input), size, spread.tiles,
                 bytes, mine);
  const auto window = static_cast<std::uint64_t>(kernel[0] * kernel[1]);
  phase.addVertex(spread.tiles,
                  poputil::internal::supervisorVertex(
                      fmt::format("popnn::{}<{}>",
                                  isBackward ? "MaxPoolingGrad" : "MaxPooling",
                                  support::toString(type)),
                      kernels::cost::pooling(tile, {.type = type,
                                                    .pass = pass,
                                                    .rows = mine,
                                                    .rowLength = output.dim(3),
                                                    .windowElements = window,
                                                    .channels = channels}),
                      3, mine * output.dim(3) * channels * window));
  return phase.build();
}

} // namespace

std::vector<Tensor> maxPool(Graph &graph, const Attributes &attributes,
                            const std::vector<Tensor> &inputs,
                            Sequence &program, const DebugContext &debugContext,
                            const poplar::OptionFlags &) {
  const auto tiles = poputil::internal::tilesOf(graph, inputs.front());
  const auto outputs = poputil::internal::addOutputs(
      graph, "maxPool", attributes, inputs, tiles, debugContext);
  PassList passes(graph);
  const auto &activation = attributes.getString("activation");
  if (!activation.empty()) {
    passes.elementwise("NonLinearity", activation, inputs.front());
  }
  auto phases = passes.take();
  phases.push_back(planPooling(graph, outputs.front(), inputs.front(),
                               attributes, kernels::cost::PoolPass::Max));
  poputil::internal::emit(
      graph, program,
      {"maxPool", attributes, inputs, outputs, std::move(phases)},
      debugContext);
  return outputs;
}

std::vector<Tensor> maxPoolGrad(Graph &graph, const Attributes &attributes,
                                const std::vector<Tensor> &inputs,
                                Sequence &program,
                                const DebugContext &debugContext,
                                const poplar::OptionFlags &) {
  const auto tiles = poputil::internal::tilesOf(graph, inputs.front());
  const auto outputs = poputil::internal::addOutputs(
      graph, "maxPoolGrad", attributes, inputs, tiles, debugContext);
  poputil::internal::emit(
      graph, program,
      {"maxPoolGrad",
       attributes,
       inputs,
       outputs,
       {planPooling(graph, inputs.front(), inputs.front(), attributes,
                    kernels::cost::PoolPass::Backward)}},
      debugContext);
  return outputs;
}

} // namespace popnn::internal
