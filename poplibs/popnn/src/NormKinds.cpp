// Group normalisation and its gradient as whole kinds: the passes of section
// 7.9.
#include <popnn/internal/Kinds.hpp>

#include <kernels/cost/NeuralNet.hpp>
#include <poplar/internal/Access.hpp>
#include <popops/internal/Passes.hpp>
#include <poputil/internal/Emit.hpp>

namespace popnn::internal {

using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;
using popops::internal::PassList;

namespace {

// Variance to inverse standard deviation, on the tiles of the statistics.
void addInverseStdDev(PassList &passes, const Tensor &statistics) {
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

} // namespace

std::vector<Tensor> groupNorm(Graph &graph, const Attributes &attributes,
                              const std::vector<Tensor> &inputs,
                              Sequence &program,
                              const DebugContext &debugContext,
                              const poplar::OptionFlags &) {
  const auto &x = inputs.front();
  const auto outputs = poputil::internal::addOutputs(
      graph, "groupNorm", attributes, inputs,
      poputil::internal::tilesOf(graph, x), debugContext);
  const auto statistics = outputs[1].numElements();
  PassList passes(graph);
  passes.reduce("Mean", "ADD", x, statistics, true);
  passes.reduce("Power", "SQUARE_ADD", x, statistics, true);
  addInverseStdDev(passes, outputs[2]);
  passes.elementwise("Whiten/SubMean", "SUBTRACT", outputs[0], true);
  passes.elementwise("Whiten/MulInvStdDev", "MULTIPLY", outputs[0], true);
  passes.elementwise("MulGamma", "MULTIPLY", outputs[0], true);
  passes.elementwise("AddBeta", "ADD", outputs[0], true);
  poputil::internal::emit(
      graph, program, {"groupNorm", attributes, inputs, outputs, passes.take()},
      debugContext);
  return outputs;
}

std::vector<Tensor> groupNormGrad(Graph &graph, const Attributes &attributes,
                                  const std::vector<Tensor> &inputs,
                                  Sequence &program,
                                  const DebugContext &debugContext,
                                  const poplar::OptionFlags &) {
  const auto &dy = inputs[0];
  const auto &gamma = inputs[2];
  const auto &mean = inputs[3];
  const auto outputs = poputil::internal::addOutputs(
      graph, "groupNormGrad", attributes, inputs,
      poputil::internal::tilesOf(graph, dy), debugContext);
  PassList passes(graph);
  passes.elementwise("Whiten/SubMean", "SUBTRACT", inputs[1], true);
  passes.elementwise("Whiten/MulInvStdDev", "MULTIPLY", inputs[1], true);
  passes.elementwise("GradTimesWhitened", "MULTIPLY", outputs[0]);
  passes.reduce("GammaGrad", "ADD", dy, gamma.numElements(), false);
  passes.reduce("BetaGrad", "ADD", dy, gamma.numElements(), false);
  passes.elementwise("MulGamma", "MULTIPLY", outputs[0], true);
  passes.reduce("VarGrad", "ADD", dy, mean.numElements(), true);
  passes.reduce("MeanGrad", "ADD", dy, mean.numElements(), true);
  passes.elementwise("SubVarGrad", "SUBTRACT", outputs[0]);
  passes.elementwise("SubMeanGrad", "SUBTRACT", outputs[0], true);
  passes.elementwise("MulInvStdDev", "MULTIPLY", outputs[0], true);
  poputil::internal::emit(
      graph, program,
      {"groupNormGrad", attributes, inputs, outputs, passes.take()},
      debugContext);
  return outputs;
}

} // namespace popnn::internal
