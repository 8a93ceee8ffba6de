// Lowers and prices the nodes of program trees.
#include "model/StepTable.hpp"

#include "model/CollectiveSteps.hpp"
#include "model/ControlSteps.hpp"
#include "model/CopySteps.hpp"
#include "model/ExecuteSteps.hpp"
#include "model/StepCost.hpp"
#include "model/StreamSteps.hpp"
#include "model/Timeline.hpp"
#include <support/Error.hpp>

#include <cmath>
#include <type_traits>

namespace poplar::model {

namespace {

using internal::GraphData;
using internal::ProgramNode;
using internal::ProgramPtr;
using internal::TensorView;

void checkTiles(const Step &step, unsigned tiles) {
  for (const internal::TileRun *run : step.runs) {
    support::requireInternal(
        run->firstTile <= tiles && run->tileCount <= tiles - run->firstTile,
        "step '{}' uses tiles {} to {} of {}", step.name, run->firstTile,
        run->firstTile + run->tileCount, tiles);
  }
}

// A transfer to or from somewhere that has a name.
std::vector<Step> transfer(const GraphData &graph, const TensorView &view,
                           StepKind direction, const std::string &name) {
  std::vector<Step> steps;
  steps.push_back(lowerHostTransfer(graph, view, direction));
  steps.back().name = name;
  return steps;
}

std::vector<Step> streamCopy(const GraphData &graph, const TensorView &view,
                             StepKind direction, internal::StreamId stream) {
  std::vector<Step> steps = lowerStreamCopy(graph, view, direction);
  for (Step &step : steps) {
    step.name = graph.streams[stream.index()].handle;
  }
  return steps;
}

template <typename Op>
std::vector<Step> lowerNode(const GraphData &graph, const Op &op) {
  std::vector<Step> steps;
  if constexpr (std::is_same_v<Op, internal::ExecuteNode>) {
    steps = lowerExecute(graph, op);
  } else if constexpr (std::is_same_v<Op, internal::CopyNode>) {
    steps = lowerCopy(graph, op);
  } else if constexpr (std::is_same_v<Op, internal::StreamInNode>) {
    steps =
        streamCopy(graph, op.destination, StepKind::HostToDevice, op.stream);
  } else if constexpr (std::is_same_v<Op, internal::StreamOutNode>) {
    steps = streamCopy(graph, op.source, StepKind::DeviceToHost, op.stream);
  } else if constexpr (std::is_same_v<Op, internal::RemoteReadNode>) {
    steps = transfer(graph, op.destination, StepKind::RemoteToDevice,
                     graph.remoteBuffers[op.buffer.index()].handle);
  } else if constexpr (std::is_same_v<Op, internal::RemoteWriteNode>) {
    steps = transfer(graph, op.source, StepKind::DeviceToRemote,
                     graph.remoteBuffers[op.buffer.index()].handle);
  } else if constexpr (std::is_same_v<Op, internal::PrintTensorNode>) {
    steps = transfer(graph, op.view, StepKind::DeviceToHost, op.title);
  } else if constexpr (std::is_same_v<Op, internal::ErrorNode>) {
    steps = transfer(graph, op.view, StepKind::DeviceToHost, op.message);
  } else if constexpr (std::is_same_v<Op, internal::WhileNode> ||
                       std::is_same_v<Op, internal::IfNode>) {
    steps = lowerCondition(graph, op.predicate);
  } else if constexpr (std::is_same_v<Op, internal::SwitchNode>) {
    steps = lowerCondition(graph, op.control);
  } else if constexpr (std::is_same_v<Op, internal::AbortNode>) {
    steps = lowerCondition(graph, op.condition);
  } else if constexpr (std::is_same_v<Op, internal::SyncNode>) {
    steps.push_back(lowerSync(op));
  } else if constexpr (std::is_same_v<Op, internal::CrossReplicaCopyNode>) {
    steps.push_back(lowerCrossReplicaCopy(graph, op));
  } else if constexpr (std::is_same_v<Op, internal::CollectiveNode>) {
    steps = lowerCollective(graph, op);
  }
  return steps;
}

} // namespace

StepTable::StepTable(const GraphData &graph, const ProgramCounts *counts)
    : graph_(graph), counts_(counts), transferTiles_(graph) {}

const std::vector<Step> &StepTable::stepsOf(const ProgramNode &node) {
  const auto [entry, isNew] = steps_.try_emplace(&node);
  if (isNew) {
    entry->second = lower(node);
    const Lane lane = transferTiles_.laneOf(node);
    for (Step &step : entry->second) {
      step.id = stepCount_++;
      step.lane = lane;
      checkTiles(step, tiles());
      priceStep(step, target(), graph_.replicationFactor);
    }
  }
  return entry->second;
}

std::vector<Step> StepTable::lower(const ProgramNode &node) const {
  std::vector<Step> steps = std::visit(
      [&](const auto &op) { return lowerNode(graph_, op); }, node.op);
  for (Step &step : steps) {
    if (step.name.empty()) {
      step.name = node.debugPath;
    }
    if (step.kind == StepKind::HostToDevice) {
      step.waitCycles = waitCycles(node);
    }
  }
  return steps;
}

// The average of the node's transfers, of which some found the data in place.
std::uint64_t StepTable::waitCycles(const ProgramNode &node) const {
  const PartCounts *counts = countsOf(node);
  if (counts == nullptr) {
    return 0;
  }
  const double latency = target().hostLatencySeconds * target().clockHz;
  return static_cast<std::uint64_t>(
      std::llround(latency * static_cast<double>(counts->parts[0]) /
                   static_cast<double>(counts->runs)));
}

const PartCounts *StepTable::countsOf(const ProgramNode &node) const {
  if (counts_ == nullptr) {
    return nullptr;
  }
  const auto found = counts_->find(&node);
  const bool isKnown = found != counts_->end() && found->second.runs != 0;
  return isKnown ? &found->second : nullptr;
}

ProgramPtr StepTable::longestOf(const ProgramNode &node,
                                const std::vector<ProgramPtr> &branches) {
  if (const auto found = longest_.find(&node); found != longest_.end()) {
    return found->second;
  }
  ProgramPtr longest;
  std::uint64_t most = 0;
  for (const ProgramPtr &branch : branches) {
    const std::uint64_t cycles = Timeline(*this).run(branch).total;
    if (cycles > most) {
      most = cycles;
      longest = branch;
    }
  }
  longest_.emplace(&node, longest);
  return longest;
}

} // namespace poplar::model
