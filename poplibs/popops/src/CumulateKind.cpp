// "cumulate" as a whole kind: every tile runs along what it holds, then adds
// what the tiles before it came to.
#include <popops/internal/ElementwisePlan.hpp>
#include <popops/internal/IndexingKinds.hpp>

#include <kernels/cost/Elementwise.hpp>
#include <poputil/internal/Emit.hpp>

namespace popops::internal {

using poplar::Tensor;
using poplar::internal::GroupPhase;
using poputil::internal::vertexName;

namespace {

// A compiled loop over an accumulator (section 8.14).
constexpr std::uint64_t cyclesPerElement = 5;
constexpr std::uint64_t cyclesPerVertex = 25;

std::vector<GroupPhase> planScan(const poplar::Graph &graph, const Tensor &x,
                                 const Tensor &y, std::string_view op) {
  const auto type = poputil::internal::tensorType(x).type;
  std::vector<GroupPhase> phases{
      planPass(graph, "OnTile", {x}, y,
               [=](const kernels::cost::TileSpec &tile, std::uint64_t n) {
                 const auto mine = perWorker(tile, n);
                 return poputil::internal::workerVertices(
                     vertexName("popops::Cumulate", {type}), tile.workers,
                     cyclesPerVertex + cyclesPerElement * mine, 2, mine);
               })};
  const auto shares = poputil::internal::sharesOf(graph, y);
  unsigned used = 0;
  for (const auto &share : shares) {
    used += share.tiles.count;
  }
  if (used <= 1) {
    return phases;
  }
  // The total of every tile goes to all of them.
  const auto tile = poputil::internal::tileSpec(graph);
  const auto &combine =
      *kernels::findElementwiseOp(op == "ADD" ? "ADD" : "MULTIPLY");
  poputil::internal::PhaseBuilder phase("AcrossTiles");
  for (const auto &share : shares) {
    const auto n = static_cast<std::uint64_t>(share.elements);
    phase.receive(share.tiles, used * support::sizeOf(type), used, true);
    phase.send(share.tiles, support::sizeOf(type));
    phase.addVertex(
        share.tiles,
        poputil::internal::supervisorVertex(
            vertexName("popops::BroadcastScalar1DInPlace", {type}),
            kernels::cost::broadcastScalar1D(tile, combine, type, n), 2, n));
  }
  phases.push_back(phase.build());
  return phases;
}

} // namespace

std::vector<Tensor> cumulate(poplar::Graph &graph,
                             const kernels::Attributes &attributes,
                             const std::vector<Tensor> &inputs,
                             poplar::program::Sequence &program,
                             const poplar::DebugContext &debugContext,
                             const poplar::OptionFlags &) {
  const auto &x = inputs.front();
  const auto type =
      poputil::internal::inferOutputs("cumulate", attributes, inputs).front();
  const auto y = addOutput(graph, inputs, type, {debugContext, "out"});
  poputil::internal::emit(
      graph, program,
      {"cumulate",
       attributes,
       inputs,
       {y},
       x.numElements() == 0
           ? std::vector<GroupPhase>{}
           : planScan(graph, x, y, attributes.getString("op"))},
      debugContext);
  return {y};
}

} // namespace popops::internal
