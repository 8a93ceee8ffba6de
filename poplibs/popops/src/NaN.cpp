#include <popops/NaN.hpp>

#include <popops/AllTrue.hpp>
#include <popops/Reduce.hpp>
#include <popops/internal/ElementwisePlan.hpp>
#include <popops/internal/ReducePlan.hpp>

#include <kernels/cost/Cast.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace popops {

using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::internal::GroupPhase;
using poplar::program::Sequence;
using poputil::internal::vertexName;

namespace {

// Every tile looks at what it holds; their findings are then joined.
std::vector<GroupPhase> planSearch(const Graph &graph, const Tensor &src,
                                   bool orInf,
                                   poputil::internal::TileRange tiles) {
  const auto type = poputil::internal::tensorType(src).type;
  auto shares = poputil::internal::sharesOf(graph, src);
  std::vector<GroupPhase> phases{internal::planPass(
      graph, "OnTile", {}, src,
      [=](const kernels::cost::TileSpec &tile, std::uint64_t n) {
        return poputil::internal::supervisorVertex(
            vertexName(orInf ? "popops::HasNaNOrInf1D" : "popops::HasNaN1D",
                       {type}),
            kernels::cost::hasNanOrInf1D(tile, type, n), 2);
      })};
  std::uint64_t used = 0;
  for (auto &share : shares) {
    share.elements = 1;
    used += share.tiles.count;
  }
  for (auto &phase :
       internal::planReduction(graph, "",
                               {.op = "MAX",
                               .type = support::DataType::Float,
                               .outputType = support::DataType::Float,
                               .outputs = 1,
                               .partials = used,
                               .isInner = true},
                               shares, tiles)) {
    phases.push_back(std::move(phase));
  }
  return phases;
}

Tensor search(Graph &graph, const Tensor &src, bool orInf, Sequence &prog,
              const DebugContext &debugContext) {
  poputil::internal::requireCodelets(graph, "popops", "popops::HasNaNOrInf1D");
  const kernels::Attributes attributes{{"orInf", std::int64_t{orInf}}};
  const auto tiles = poputil::internal::tilesOf(graph, src);
  const auto outputs = poputil::internal::addOutputs(
      graph, "hasNan", attributes, {src}, tiles, debugContext);
  poputil::internal::emit(graph, prog,
                          {"hasNan",
                           attributes,
                           {src},
                           outputs,
                           src.numElements() == 0
                               ? std::vector<GroupPhase>{}
                               : planSearch(graph, src, orInf, tiles)},
                          debugContext);
  return outputs.front();
}

} // namespace

Tensor hasNaN(Graph &graph, const Tensor &src, Sequence &prog,
              const DebugContext &debugContext) {
  return search(graph, src, false, prog, {debugContext, "hasNaN"});
}

Tensor hasNaNOrInf(Graph &graph, const Tensor &src, Sequence &prog,
                   const DebugContext &debugContext) {
  return search(graph, src, true, prog, {debugContext, "hasNaNOrInf"});
}

Tensor allTrue(Graph &graph, Tensor A, Sequence &prog,
               const DebugContext &debugContext) {
  support::requireUser<poputil::poplibs_error>(
      A.elementType() == poplar::BOOL,
      "[popops::allTrue] the tensor has type {}; it must be BOOL",
      std::string(A.elementType().toString()));
  return reduce(graph, A.flatten(), {0}, Operation::LOGICAL_AND, prog,
                {debugContext, "allTrue"});
}

} // namespace popops
