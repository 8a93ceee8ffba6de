// Poolings and their gradients as whole kinds: those of any field, and the
// maximum pooling of images that remembers where its maxima were.
#include <popnn/internal/Kinds.hpp>

#include <popnn/internal/PoolPlan.hpp>

#include <kernels/cost/NeuralNet.hpp>
#include <poplar/internal/Access.hpp>
#include <popops/internal/Passes.hpp>
#include <poputil/internal/Emit.hpp>

#include <algorithm>

namespace popnn::internal {

using kernels::Attributes;
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

// The work on `output`, [N, C, field...], as planned; `input` is exchanged in.
poplar::internal::GroupPhase
planPooling(const Graph &graph, const Tensor &output, const Tensor &input,
            const Attributes &attributes, PoolPass pass, const char *vertex) {
  poputil::internal::PhaseBuilder phase(pass == PoolPass::Backward ? "PoolBwd"
                                                                   : "Pool");
  if (output.numElements() == 0) {
    return phase.build();
  }
  const auto type = poplar::internal::tensorView(output).type;
  const auto size = support::sizeOf(type);
  const auto tiles = poputil::internal::tilesOf(graph, input);
  const auto columns = output.dim(output.rank() - 1);
  const auto window = product(attributes.getInts("kernel"));
  const auto plan = planPool(
      poputil::internal::tileSpec(graph),
      {.type = type,
       .pass = pass,
       .batch = output.dim(0),
       .channels = output.dim(1),
       .rows = output.numElements() / (output.dim(0) * output.dim(1) * columns),
       .columns = columns,
       .windowElements = window,
       .inputElements = input.numElements()},
      std::min(tiles.count, graph.getTarget().getTilesPerIPU()));
  const poputil::internal::TileRange used{tiles.first,
                                          static_cast<unsigned>(plan.tiles())};
  const auto &share = plan.share;
  phase.exchange(poputil::internal::distinctSharesOf(graph, input), size, used,
                 plan.inputBytes, share.rows);
  phase.addVertex(
      used,
      poputil::internal::supervisorVertex(
          poputil::internal::vertexName(vertex, {type}),
          kernels::cost::pooling(poputil::internal::tileSpec(graph), share), 3,
          share.rows * share.rowLength * share.channels * share.channelGroups *
              window));
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
