// Connectionist temporal classification as whole kinds. A tile has some
// positions of some samples' lattices and walks them through all steps
// (section 8.13); a beam search weighs every class for every beam.
#include <popnn/internal/Kinds.hpp>

#include <kernels/cost/NeuralNet.hpp>
#include <poplar/internal/Access.hpp>
#include <popops/internal/Passes.hpp>
#include <poputil/internal/Emit.hpp>

namespace popnn::internal {

using kernels::Attributes;
using kernels::cost::ceilDiv;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;
using popops::internal::PassList;

std::vector<Tensor> ctcLoss(Graph &graph, const Attributes &attributes,
                            const std::vector<Tensor> &inputs,
                            Sequence &program, const DebugContext &debugContext,
                            const poplar::OptionFlags &) {
  const auto &data = inputs[0];
  const auto outputs = poputil::internal::addOutputs(
      graph, "ctcLoss", attributes, inputs,
      poputil::internal::tilesOf(graph, data), debugContext);
  const auto type = poplar::internal::tensorView(data).type;
  const auto steps = data.dim(0);
  PassList passes(graph);
  const auto addPass = [&](const char *name, const char *vertex,
                           kernels::cost::Cycles (*cycles)(std::uint64_t,
                                                           std::uint64_t)) {
    passes.pass(name, {inputs[1]}, inputs[1],
                [=](const kernels::cost::TileSpec &tile, std::uint64_t labels) {
                  return poputil::internal::workerVertices(
                      poputil::internal::vertexName(vertex, {type}),
                      tile.workers,
                      cycles(steps, perWorker(tile, 2 * labels + 1)), 6,
                      2 * labels * steps);
                });
  };
  addPass("Alpha", "popnn::CTCAlpha", kernels::cost::ctcAlphaBeta);
  if (attributes.getInt("gradient") != 0) {
    addPass("Beta", "popnn::CTCBeta", kernels::cost::ctcAlphaBeta);
    addPass("Gradient", "popnn::CTCGradGivenAlpha", kernels::cost::ctcGradient);
  }
  poputil::internal::emit(
      graph, program, {"ctcLoss", attributes, inputs, outputs, passes.take()},
      debugContext);
  return outputs;
}

std::vector<Tensor> ctcBeamSearch(Graph &graph, const Attributes &attributes,
                                  const std::vector<Tensor> &inputs,
                                  Sequence &program,
                                  const DebugContext &debugContext,
                                  const poplar::OptionFlags &) {
  const auto &data = inputs[0];
  const auto outputs = poputil::internal::addOutputs(
      graph, "ctcBeamSearch", attributes, inputs,
      poputil::internal::tilesOf(graph, data), debugContext);
  const auto type = poplar::internal::tensorView(data).type;
  const auto width = static_cast<std::uint64_t>(attributes.getInt("beamWidth"));
  PassList passes(graph);
  // One candidate for each beam and class of each step, priced as a position of
  // a lattice.
  passes.pass("Extend", {}, data,
              [=](const kernels::cost::TileSpec &tile, std::uint64_t n) {
                return poputil::internal::workerVertices(
                    poputil::internal::vertexName(
                        "popnn::CTCGenerateCandidates", {type}),
                    tile.workers,
                    kernels::cost::ctcAlphaBeta(perWorker(tile, n), width), 6,
                    2 * n * width);
              });
  poputil::internal::emit(
      graph, program,
      {"ctcBeamSearch", attributes, inputs, outputs, passes.take()},
      debugContext);
  return outputs;
}

} // namespace popnn::internal
