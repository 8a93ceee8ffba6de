// Compiled as C++11: calls that are easily ambiguous.
#include <gcl/CollectiveBalancedReorder.hpp>
#include <gcl/Collectives.hpp>
#include <gcl/TileAllocation.hpp>

using namespace poplar;
using namespace poplar::program;

void betweenReplicas(Graph &graph, const Tensor &t, Sequence &prog,
                     const DebugInfo &info) {
  const auto add = gcl::CollectiveOperator::ADD;
  const gcl::CommGroup pairs(gcl::CommGroupType::CONSECUTIVE, 2);
  const std::vector<Tensor> many{t, t};
  gcl::allReduceCrossReplica(graph, t, add, prog);
  gcl::allReduceCrossReplica(graph, t, add, prog, "sum");
  gcl::allReduceCrossReplica(graph, t, add, prog, {info, "sum"});
  gcl::allReduceCrossReplica(graph, t, add, prog, "sum", {{"method", "auto"}});
  gcl::allReduceCrossReplica(graph, t, add, prog, pairs, "sum");
  gcl::allReduceCrossReplica(graph, t, add, prog,
                             {gcl::CommGroupType::ORTHOGONAL, 2}, "sum");
  gcl::allReduceCrossReplica(
      graph, t, add, prog,
      gcl::CommGroup(gcl::CommGroupType::CONSECUTIVE, 2, 4));
  gcl::allReduceCrossReplica(graph, many, add, prog, "sum");
  gcl::allReduceInPlaceCrossReplica(graph, t, popops::CollectiveOperator::MAX,
                                    prog, pairs);
  gcl::allReduceToDestinationCrossReplica(graph, many, many, add, prog, pairs);
  gcl::allGatherCrossReplica(graph, t, prog, "gather");
  gcl::broadcastCrossReplica(graph, t, prog);
  gcl::broadcastCrossReplica(graph, t, prog, 1, "from1");
  gcl::broadcastCrossReplica(graph, t, prog, pairs, 1);
  gcl::broadcastCrossReplica(graph, many, prog, pairs, 1, "from1");
}

Tensor withinAReplica(Graph &graph, const Tensor &t, Sequence &prog) {
  const gcl::Chunks chunks = gcl::reduceScatterWithinReplica(
      graph, t, gcl::CollectiveOperator::MEAN, prog, "mean");
  const gcl::Chunk chunk = chunks.getChunks()[0];
  graph.setTileMapping(chunk.tensor, chunk.index + chunk.offset);
  return gcl::allGatherWithinReplica(graph, chunks, prog);
}

std::vector<unsigned> tiles(Graph &graph, const Tensor &t) {
  gcl::CollectiveBalancedReorder reorder(graph, t, 2, {"reorder"});
  reorder.createReplicaSlice(FLOAT);
  reorder.undoRearrangeForCollective(
      reorder.createCollectivesTensor(FLOAT, "all"));
  const gcl::CollectiveBalancedHostRearrangement host =
      reorder.getHostRearrangement();
  return gcl::perIPUTiles(graph, 0,
                          gcl::getMinIoTiles(graph) * host.replicationFactor);
}
