// Lowers and prices the leaves of program trees.
#include "model/StepTable.hpp"

#include "model/CopySteps.hpp"
#include "model/StepCost.hpp"
#include <support/Error.hpp>

#include <algorithm>

namespace poplar::model {

using namespace internal;

namespace {

std::string joinPath(const std::string &path, const std::string &name) {
  return path.empty() || name.empty() ? path + name : path + "/" + name;
}

void checkTiles(const Step &step, unsigned tiles) {
  for (const TileRun *run : step.runs) {
    support::requireInternal(
        run->firstTile <= tiles && run->tileCount <= tiles - run->firstTile,
        "step '{}' uses tiles {} to {} of {}", step.name, run->firstTile,
        run->firstTile + run->tileCount, tiles);
  }
}

} // namespace

StepTable::StepTable(const GraphData &graph) : graph_(graph) {}

const std::vector<Step> &StepTable::stepsOf(const ProgramNode &leaf) {
  const auto [entry, isNew] = steps_.try_emplace(&leaf);
  if (isNew) {
    entry->second = lower(leaf);
    for (Step &step : entry->second) {
      step.id = stepCount_++;
      checkTiles(step, tiles());
      priceStep(step, target());
    }
  }
  return entry->second;
}

std::vector<Step> StepTable::lowerExecute(const ExecuteNode &execute) const {
  const ComputeSetData &computeSet =
      graph_.computeSets[execute.computeSet.index()];
  std::size_t phases = 0;
  for (const VertexGroup &group : computeSet.groups) {
    phases = std::max(phases, group.phases.size());
  }
  std::vector<Step> steps(phases);
  for (std::size_t phase = 0; phase < phases; ++phase) {
    Step &step = steps[phase];
    step.name = computeSet.debugPath;
    for (const VertexGroup &group : computeSet.groups) {
      if (phase >= group.phases.size()) {
        continue;
      }
      if (computeSet.groups.size() == 1) {
        step.name = joinPath(computeSet.debugPath, group.phases[phase].name);
      }
      for (const TileRun &run : group.phases[phase].runs) {
        step.runs.push_back(&run);
      }
    }
  }
  return steps;
}

std::vector<Step> StepTable::lower(const ProgramNode &leaf) const {
  std::vector<Step> steps;
  if (const auto *execute = std::get_if<ExecuteNode>(&leaf.op)) {
    steps = lowerExecute(*execute);
  } else if (const auto *copy = std::get_if<CopyNode>(&leaf.op)) {
    steps = lowerCopy(graph_, *copy);
  } else if (const auto *in = std::get_if<StreamInNode>(&leaf.op)) {
    steps.push_back(
        lowerHostTransfer(graph_, in->destination, StepKind::HostToDevice));
    steps.back().name = graph_.streams[in->stream.index()].handle;
  } else if (const auto *out = std::get_if<StreamOutNode>(&leaf.op)) {
    steps.push_back(
        lowerHostTransfer(graph_, out->source, StepKind::DeviceToHost));
    steps.back().name = graph_.streams[out->stream.index()].handle;
  }
  for (Step &step : steps) {
    if (step.name.empty()) {
      step.name = leaf.debugPath;
    }
  }
  return steps;
}

} // namespace poplar::model
