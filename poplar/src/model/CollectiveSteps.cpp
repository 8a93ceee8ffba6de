#include "model/CollectiveSteps.hpp"

#include "model/Collectives.hpp"
#include "model/ViewTiles.hpp"
#include <kernels/cost/Memory.hpp>
#include <poplar/internal/TargetData.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace poplar::model {

namespace {

using internal::CollectiveNode;
using internal::CollectiveOperator;
using internal::GraphData;
using internal::TensorView;
using internal::TileRun;

std::uint64_t bytesOf(const TensorView &view) {
  return static_cast<std::uint64_t>(view.elements()) *
         support::sizeOf(view.type);
}

std::uint64_t bytesOf(const TileShare &share, const TensorView &view) {
  return static_cast<std::uint64_t>(share.elements) *
         support::sizeOf(view.type);
}

// What the tiles send and take in, over all rounds.
void addTraffic(Step &step, const GraphData &graph,
                const CollectiveNode &node) {
  for (const TileShare &share : sharesOf(graph, node.source)) {
    TileRun run;
    run.firstTile = share.firstTile;
    run.tileCount = share.tileCount;
    run.bytesOut = bytesOf(share, node.source);
    run.fragmentsOut = 1;
    step.ownRuns.push_back(std::move(run));
  }
  for (const TileShare &share : sharesOf(graph, node.destination)) {
    TileRun run;
    run.firstTile = share.firstTile;
    run.tileCount = share.tileCount;
    run.bytesIn = bytesOf(share, node.destination);
    run.fragmentsIn = 1;
    step.ownRuns.push_back(std::move(run));
  }
}

// The vertices that add what arrived, where the tensor lies; a round's data is
// there besides.
void addReduction(Step &step, const GraphData &graph,
                  const CollectiveNode &node) {
  const std::size_t ranks = node.plan.groups.front().size();
  internal::VertexUse vertex;
  vertex.type = fmt::format("poplin::ReduceAdd<{0},{0}>",
                            support::toString(node.source.type));
  vertex.count = 1;
  vertex.isSupervisor = true;
  vertex.cycles = step.collective->compute /
                  std::max<std::uint64_t>(step.collective->steps, 1);
  vertex.edges = 2;
  vertex.stateBytes = 16;
  vertex.codeBytes = kernels::cost::codeBytes(vertex.type);
  for (const TileShare &share : sharesOf(graph, node.source)) {
    TileRun run;
    run.firstTile = share.firstTile;
    run.tileCount = share.tileCount;
    run.temporaryBytes = (bytesOf(share, node.source) + ranks - 1) / ranks;
    run.vertices.push_back(vertex);
    step.ownRuns.push_back(std::move(run));
  }
}

Step lowerRing(const GraphData &graph, const CollectiveNode &node) {
  Collective collective;
  collective.kind = node.plan.kind;
  collective.method = node.plan.method;
  collective.ranks = static_cast<unsigned>(node.plan.groups.front().size());
  collective.ipusPerRank = graph.target->numIPUs;
  collective.groups = node.plan.groups;
  collective.type = node.source.type;
  collective.bytesPerRank =
      bytesOf(node.plan.kind == CollectiveKind::AllGather ? node.destination
                                                          : node.source);
  Step step;
  step.kind = StepKind::GlobalExchange;
  step.collective = priceCollective(*graph.target, collective);
  addTraffic(step, graph, node);
  if (node.plan.kind != CollectiveKind::AllGather) {
    addReduction(step, graph, node);
  }
  step.pointToOwnRuns();
  return step;
}

// Straight from each sender to each receiver, all at once.
Step lowerDirect(const GraphData &graph, const CollectiveNode &node) {
  Step step;
  step.kind = StepKind::GlobalExchange;
  addTraffic(step, graph, node);
  step.pointToOwnRuns();
  const bool isBroadcast = node.plan.kind == CollectiveKind::Broadcast;
  const unsigned ipus = graph.target->numIPUs;
  const auto flows = flowsBetween(graph, node.source, node.destination);
  for (const auto &group : node.plan.groups) {
    const std::uint64_t parts = isBroadcast ? 1 : group.size();
    for (unsigned from : group) {
      if (isBroadcast && from != group[node.plan.root]) {
        continue;
      }
      for (unsigned to : group) {
        for (const IpuFlow &flow : flows) {
          if (from != to) {
            step.flows.push_back({from * ipus + flow.from, to * ipus + flow.to,
                                  (flow.bytes + parts - 1) / parts});
          }
        }
      }
    }
  }
  return step;
}

} // namespace

std::vector<Step> lowerCollective(const GraphData &graph,
                                  const CollectiveNode &node) {
  std::vector<Step> steps;
  const bool isDirect = node.plan.kind == CollectiveKind::AllToAll ||
                        node.plan.kind == CollectiveKind::Broadcast;
  const bool isReduction = node.plan.kind == CollectiveKind::AllReduce ||
                           node.plan.kind == CollectiveKind::ReduceScatter;
  const bool isLocal =
      node.plan.groups.front().size() == 1 ||
      (isReduction && node.plan.op == CollectiveOperator::Local);
  if (isLocal) {
    // Each replica moves what it has to the tiles of the result.
    Step &step = steps.emplace_back();
    step.kind = StepKind::Exchange;
    addTraffic(step, graph, node);
    step.pointToOwnRuns();
  } else {
    steps.push_back(isDirect ? lowerDirect(graph, node)
                             : lowerRing(graph, node));
  }
  return steps;
}

} // namespace poplar::model
