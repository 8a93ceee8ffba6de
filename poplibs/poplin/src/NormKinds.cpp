// Normalisations as whole kinds: the passes of section 7.9.
#include <poplin/internal/NormKinds.hpp>

#include <kernels/cost/NeuralNet.hpp>
#include <poplar/internal/Access.hpp>
#include <popops/internal/Passes.hpp>
#include <poputil/internal/Emit.hpp>

namespace poplin::internal {

using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;
using popops::internal::PassList;

namespace {

struct Call {
  Graph &graph;
  std::string_view kind;
  const Attributes &attributes;
  const std::vector<Tensor> &inputs;
  std::vector<Tensor> outputs;
  PassList passes;

  Call(Graph &graph, std::string_view kind, const Attributes &attributes,
       const std::vector<Tensor> &inputs, const DebugContext &debugContext)
      : graph(graph), kind(kind), attributes(attributes), inputs(inputs),
        outputs(poputil::internal::addOutputs(
            graph, kind, attributes, inputs,
            poputil::internal::tilesOf(graph, inputs.front()), debugContext)),
        passes(graph) {}

  std::vector<Tensor> emit(Sequence &program,
                           const DebugContext &debugContext) {
    poputil::internal::emit(graph, program,
                            {kind, attributes, inputs, outputs, passes.take()},
                            debugContext);
    return outputs;
  }
};

// Statistics of channels whose elements are one run are sums along it.
bool isInner(const Tensor &acts) {
  return acts.rank() < 3 ? false : acts.dim(acts.rank() - 1) > 1;
}

void addStatistics(PassList &passes, const Tensor &acts,
                   const Tensor &statistics, bool isStable) {
  passes.reduce("Mean", "ADD", acts, statistics.numElements(), isInner(acts));
  if (isStable) {
    passes.elementwise("SubMean", "SUBTRACT", acts, true);
  }
  passes.reduce("Power", "SQUARE_ADD", acts, statistics.numElements(),
                isInner(acts));
  const auto type = poplar::internal::tensorView(statistics).type;
  passes.pass(
      "InvStdDev", {}, statistics,
      [type](const kernels::cost::TileSpec &tile, std::uint64_t n) {
        return poputil::internal::workerVertices(
            poputil::internal::vertexName("popnn::InverseStdDeviation", {type}),
            tile.workers,
            kernels::cost::inverseStdDeviation(perWorker(tile, n)), 3);
      });
}

void addSums(PassList &passes, const Tensor &dy, const Tensor &statistics) {
  passes.elementwise("GradTimesWhitened", "MULTIPLY", dy);
  passes.reduce("VarGrad", "ADD", dy, statistics.numElements(), isInner(dy));
  passes.reduce("MeanGrad", "ADD", dy, statistics.numElements(), isInner(dy));
}

// dy - mean - whitened * product, times invStdDev.
void addInputGradient(PassList &passes, const Tensor &dx) {
  passes.elementwise("SubVarGrad", "SUBTRACT", dx);
  passes.elementwise("SubMeanGrad", "SUBTRACT", dx, true);
  passes.elementwise("MulInvStdDev", "MULTIPLY", dx, true);
}

} // namespace

std::vector<Tensor> normStatistics(Graph &graph, const Attributes &attributes,
                                   const std::vector<Tensor> &inputs,
                                   Sequence &program,
                                   const DebugContext &debugContext,
                                   const poplar::OptionFlags &) {
  Call call(graph, "normStatistics", attributes, inputs, debugContext);
  addStatistics(call.passes, inputs[0], call.outputs[0],
                attributes.getInt("stable") != 0);
  return call.emit(program, debugContext);
}

std::vector<Tensor> normParamGrad(Graph &graph, const Attributes &attributes,
                                  const std::vector<Tensor> &inputs,
                                  Sequence &program,
                                  const DebugContext &debugContext,
                                  const poplar::OptionFlags &) {
  Call call(graph, "normParamGrad", attributes, inputs, debugContext);
  addSums(call.passes, inputs[0], call.outputs[0]);
  return call.emit(program, debugContext);
}

std::vector<Tensor> normStatisticsGrad(Graph &graph,
                                       const Attributes &attributes,
                                       const std::vector<Tensor> &inputs,
                                       Sequence &program,
                                       const DebugContext &debugContext,
                                       const poplar::OptionFlags &) {
  Call call(graph, "normStatisticsGrad", attributes, inputs, debugContext);
  addSums(call.passes, inputs[0], inputs[2]);
  addInputGradient(call.passes, call.outputs[0]);
  return call.emit(program, debugContext);
}

std::vector<Tensor> batchNorm(Graph &graph, const Attributes &attributes,
                              const std::vector<Tensor> &inputs,
                              Sequence &program,
                              const DebugContext &debugContext,
                              const poplar::OptionFlags &) {
  Call call(graph, "batchNorm", attributes, inputs, debugContext);
  addStatistics(call.passes, inputs[0], call.outputs[1], false);
  const auto &y = call.outputs[0];
  call.passes.elementwise("Whiten/SubMean", "SUBTRACT", y, true);
  call.passes.elementwise("Whiten/MulInvStdDev", "MULTIPLY", y, true);
  call.passes.elementwise("Normalise/MulGamma", "MULTIPLY", y, true);
  call.passes.elementwise("Normalise/AddBeta", "ADD", y, true);
  return call.emit(program, debugContext);
}

std::vector<Tensor> batchNormGrad(Graph &graph, const Attributes &attributes,
                                  const std::vector<Tensor> &inputs,
                                  Sequence &program,
                                  const DebugContext &debugContext,
                                  const poplar::OptionFlags &) {
  Call call(graph, "batchNormGrad", attributes, inputs, debugContext);
  call.passes.elementwise("Whiten/SubMean", "SUBTRACT", inputs[1], true);
  call.passes.elementwise("Whiten/MulInvStdDev", "MULTIPLY", inputs[1], true);
  addSums(call.passes, inputs[0], call.outputs[1]);
  call.passes.elementwise("MulGamma", "MULTIPLY", call.outputs[0], true);
  addInputGradient(call.passes, call.outputs[0]);
  return call.emit(program, debugContext);
}

} // namespace poplin::internal
