// Lowers what steers programs, and what leaves the replica, to steps.
#include "model/ControlSteps.hpp"

#include "model/Constants.hpp"
#include "model/ViewTiles.hpp"
#include <poplar/internal/TargetData.hpp>

namespace poplar::model {

namespace {

using internal::GraphData;
using internal::TensorView;
using internal::TileRun;

TileRun sender(unsigned tile, unsigned tiles, std::uint64_t bytes) {
  TileRun run;
  run.firstTile = tile;
  run.tileCount = tiles;
  run.bytesOut = bytes;
  run.fragmentsOut = 1;
  return run;
}

TileRun receiver(unsigned tile, unsigned tiles, std::uint64_t bytes) {
  TileRun run;
  run.firstTile = tile;
  run.tileCount = tiles;
  run.bytesIn = bytes;
  run.fragmentsIn = 1;
  return run;
}

void addReceivers(Step &step, unsigned begin, unsigned end) {
  if (begin != end) {
    step.ownRuns.push_back(receiver(begin, end - begin, controlWordBytes));
  }
}

std::uint64_t bytesOf(const TileShare &share, const TensorView &view) {
  return static_cast<std::uint64_t>(share.elements) *
         support::sizeOf(view.type);
}

} // namespace

std::vector<Step> lowerCondition(const GraphData &graph,
                                 const TensorView &condition) {
  const auto shares = sharesOf(graph, condition);
  if (shares.empty()) {
    return {};
  }
  const internal::TargetData &target = *graph.target;
  const unsigned home = shares.front().firstTile;
  const unsigned ipu = home / target.tilesPerIPU;
  const unsigned begin = ipu * target.tilesPerIPU;
  const unsigned end = begin + target.tilesPerIPU;
  std::vector<Step> steps;
  if (target.numIPUs > 1) {
    Step &between = steps.emplace_back();
    between.kind = StepKind::GlobalExchange;
    between.ownRuns.push_back(sender(home, 1, controlWordBytes));
    addReceivers(between, 0, begin);
    addReceivers(between, end, target.numTiles());
    for (unsigned other = 0; other < target.numIPUs; ++other) {
      if (other != ipu) {
        between.flows.push_back({ipu, other, controlWordBytes});
      }
    }
  }
  Step &inside = steps.emplace_back();
  inside.kind = StepKind::Exchange;
  inside.ownRuns.push_back(sender(home, 1, controlWordBytes));
  addReceivers(inside, begin, home);
  addReceivers(inside, home + 1, end);
  for (Step &step : steps) {
    step.pointToOwnRuns();
  }
  steps.front().controlCycles = branchCycles;
  return steps;
}

Step lowerSync(const internal::SyncNode &sync) {
  Step step;
  step.kind =
      sync.type == SyncType::INTERNAL ? StepKind::Sync : StepKind::GlobalSync;
  return step;
}

Step lowerCrossReplicaCopy(const GraphData &graph,
                           const internal::CrossReplicaCopyNode &copy) {
  Step step;
  step.kind = StepKind::GlobalExchange;
  const auto from = sharesOf(graph, copy.source);
  const auto to = sharesOf(graph, copy.destination);
  for (const TileShare &share : from) {
    step.ownRuns.push_back(
        sender(share.firstTile, share.tileCount, bytesOf(share, copy.source)));
  }
  for (const TileShare &share : to) {
    step.ownRuns.push_back(receiver(share.firstTile, share.tileCount,
                                    bytesOf(share, copy.destination)));
  }
  step.pointToOwnRuns();
  const unsigned ipus = graph.target->numIPUs;
  const auto flows = flowsBetween(graph, copy.source, copy.destination);
  for (const auto &[source, destination] : copy.replicas) {
    for (const IpuFlow &flow : flows) {
      if (source != destination) {
        step.flows.push_back({source * ipus + flow.from,
                              destination * ipus + flow.to, flow.bytes});
      }
    }
  }
  return step;
}

} // namespace poplar::model
