// Poolings and their gradients as whole kinds: those of any field, and the
// maximum pooling of images that remembers where its maxima were.
#include <popnn/internal/Kinds.hpp>

#include <kernels/cost/NeuralNet.hpp>
#include <poplar/internal/Access.hpp>
#include <popops/internal/Passes.hpp>
#include <poputil/internal/Emit.hpp>

#include <algorithm>

namespace popnn::internal {

using kernels::Attributes;
using kernels::cost::ceilDiv;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;
using popops::internal::PassList;

namespace {

using kernels::cost::PoolPass;

std::uint64_t product(const Attributes::Ints &values) {
  std::uint64_t result = 1;
  for (const auto value : values) {
    result *= static_cast<std::uint64_t>(value);
  }
  return result;
}

// The work is spread over rows of `output`, [N, C, field...], a group of
// channels at a time; `input` is exchanged in.
poplar::internal::GroupPhase
planPooling(const Graph &graph, const Tensor &output, const Tensor &input,
            const Attributes &attributes, PoolPass pass, const char *vertex) {
  const auto tile = poputil::internal::tileSpec(graph);
  const auto type = poplar::internal::tensorView(output).type;
  const auto size = support::sizeOf(type);
  const auto channels =
      std::min<std::uint64_t>(output.dim(1), 2 * vectorWidth(tile, type));
  const auto rowLength = output.dim(output.rank() - 1);
  const auto rows =
      output.numElements() /
      std::max<std::size_t>(output.dim(1) * rowLength, 1) *
      ceilDiv(output.dim(1), std::max<std::uint64_t>(channels, 1));
  const auto spread =
      poputil::internal::spread(static_cast<std::int64_t>(rows), 1,
                                poputil::internal::tilesOf(graph, input));
  const auto mine = static_cast<std::uint64_t>(spread.elements);
  poputil::internal::PhaseBuilder phase(pass == PoolPass::Backward ? "PoolBwd"
                                                                   : "Pool");
  // Each tile reads its share of the input; windows that overlap a neighbour's
  // add little.
  const auto bytes = ceilDiv(input.numElements() * size,
                             std::max<std::uint64_t>(spread.tiles.count, 1));
  phase.exchange(poputil::internal::sharesOf(graph, input), size, spread.tiles,
                 bytes, mine);
  const auto window = product(attributes.getInts("kernel"));
  phase.addVertex(spread.tiles,
                  poputil::internal::supervisorVertex(
                      poputil::internal::vertexName(vertex, {type}),
                      kernels::cost::pooling(tile, {.type = type,
                                                    .pass = pass,
                                                    .rows = mine,
                                                    .rowLength = rowLength,
                                                    .windowElements = window,
                                                    .channels = channels}),
                      3, mine * rowLength * channels * window));
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
                               attributes, PoolPass::Max, "popnn::MaxPooling"));
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
                    PoolPass::Backward, "popnn::MaxPoolingGrad")}},
      debugContext);
  return outputs;
}

std::vector<Tensor> pool(Graph &graph, const Attributes &attributes,
                         const std::vector<Tensor> &inputs, Sequence &program,
                         const DebugContext &debugContext,
                         const poplar::OptionFlags &) {
  const auto tiles = poputil::internal::tilesOf(graph, inputs.front());
  const auto outputs = poputil::internal::addOutputs(
      graph, "pool", attributes, inputs, tiles, debugContext);
  const bool isMax = attributes.getString("poolingType") == "MAX";
  poputil::internal::emit(
      graph, program,
      {"pool",
       attributes,
       inputs,
       outputs,
       {planPooling(graph, outputs.front(), inputs.front(), attributes,
                    isMax ? PoolPass::Max : PoolPass::Average,
                    isMax ? "popnn::MaxPooling" : "popnn::SumPooling")}},
      debugContext);
  return outputs;
}

// Rows of outputs are handed out, so the work is that of the forward pass.
std::vector<Tensor> poolGrad(Graph &graph, const Attributes &attributes,
                             const std::vector<Tensor> &inputs,
                             Sequence &program,
                             const DebugContext &debugContext,
                             const poplar::OptionFlags &) {
  const auto tiles = poputil::internal::tilesOf(graph, inputs.front());
  const auto outputs = poputil::internal::addOutputs(
      graph, "poolGrad", attributes, inputs, tiles, debugContext);
  const bool isMax = attributes.getString("poolingType") == "MAX";
  std::vector<poplar::internal::GroupPhase> phases;
  if (isMax && attributes.getInt("scaled") != 0) {
    phases.push_back(planPooling(graph, inputs[0], inputs[1], attributes,
                                 PoolPass::Max,
                                 "popnn::MaxPoolingGradientScale"));
  }
  phases.push_back(planPooling(
      graph, inputs[0], inputs.back(), attributes, PoolPass::Backward,
      isMax ? "popnn::MaxPoolingGrad" : "popnn::SumPoolingGrad"));
  poputil::internal::emit(
      graph, program,
      {"poolGrad", attributes, inputs, outputs, std::move(phases)},
      debugContext);
  return outputs;
}

} // namespace popnn::internal
