// "splineBasis" and "splineWeighting": one vertex on each tile that has
// results.
#include <popops/SplineBasis.hpp>
#include <popops/SplineWeighting.hpp>

#include "Options.hpp"

#include <popops/internal/ElementwisePlan.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/internal/Emit.hpp>
#include <poputil/internal/Phases.hpp>

namespace popops {

using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;

namespace {

// Compiled C++ on each worker: `perResult` cycles for every element [A].
internal::VertexForShare vertex(const std::string &name,
                                std::uint64_t perResult) {
  return [=](const kernels::cost::TileSpec &tile, std::uint64_t n) {
    const auto worker = 20 + perResult * kernels::cost::perWorker(tile, n);
    return poputil::internal::supervisorVertex(name, 20 + tile.workers * worker,
                                               4);
  };
}

std::string nameOf(const char *vertexName, const Tensor &tensor) {
  return poputil::internal::vertexName(
      vertexName, {poplar::internal::tensorView(tensor).type});
}

} // namespace

std::pair<Tensor, Tensor> splineBasis(Graph &graph, const Tensor &pseudo,
                                      const Tensor &kernelSize,
                                      const Tensor &isOpenSpline,
                                      unsigned degree, Sequence &prog,
                                      const DebugContext &debugContext,
                                      const poplar::OptionFlags &options) {
  internal::checkOptions(options, {});
  poputil::internal::requireCodelets(graph, "popops", "popops::SplineBasis");
  const DebugContext context(debugContext, "splineBasis");
  const Attributes attributes{{"degree", std::int64_t{degree}}};
  const std::vector<Tensor> inputs{pseudo, kernelSize, isOpenSpline};
  const auto outputs = poputil::internal::addOutputs(
      graph, "splineBasis", attributes, inputs,
      poputil::internal::tilesOf(graph, pseudo), context);
  // A product, a remainder and the polynomial for every dimension.
  const std::uint64_t perResult = 10 + 30 * pseudo.dim(1);
  poputil::internal::emit(
      graph, prog,
      {"splineBasis",
       attributes,
       inputs,
       outputs,
       {internal::planPass(
           graph, "", {pseudo}, outputs[0],
           vertex(nameOf("popops::SplineBasis", pseudo), perResult))}},
      context);
  return {outputs[0], outputs[1]};
}

Tensor splineWeighting(Graph &graph, const Tensor &input, const Tensor &weight,
                       const Tensor &basis, const Tensor &weightIndex,
                       Sequence &prog, const DebugContext &debugContext,
                       const poplar::OptionFlags &options) {
  internal::checkOptions(options, {});
  poputil::internal::requireCodelets(graph, "popops",
                                     "popops::SplineWeighting");
  const DebugContext context(debugContext, "splineWeighting");
  const std::vector<Tensor> inputs{input, weight, basis, weightIndex};
  const auto outputs = poputil::internal::addOutputs(
      graph, "splineWeighting", {}, inputs,
      poputil::internal::tilesOf(graph, input), context);
  // A multiply and an add, with their loads, for every spline and feature.
  const std::uint64_t perResult = 10 + basis.dim(1) * (8 + 4 * input.dim(1));
  poputil::internal::emit(
      graph, prog,
      {"splineWeighting",
       {},
       inputs,
       outputs,
       {internal::planPass(
           graph, "", inputs, outputs[0],
           vertex(nameOf("popops::SplineWeighting", input), perResult))}},
      context);
  return outputs.front();
}

} // namespace popops
