// Lowers the execution of a compute set to steps.
#include "model/ExecuteSteps.hpp"

#include "model/VertexSteps.hpp"

#include <algorithm>
#include <iterator>

namespace poplar::model {

namespace {

using internal::ComputeSetData;
using internal::VertexGroup;

std::string joinPath(const std::string &path, const std::string &name) {
  return path.empty() || name.empty() ? path + name : path + "/" + name;
}

std::vector<Step> lowerGroups(const ComputeSetData &computeSet) {
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
      for (const internal::TileRun &run : group.phases[phase].runs) {
        step.runs.push_back(&run);
      }
    }
  }
  return steps;
}

} // namespace

std::vector<Step> lowerExecute(const internal::GraphData &graph,
                               const internal::ExecuteNode &execute) {
  const ComputeSetData &computeSet =
      graph.computeSets[execute.computeSet.index()];
  std::vector<Step> steps = lowerGroups(computeSet);
  if (computeSet.vertices.empty()) {
    return steps;
  }
  VertexSteps vertices = lowerVertices(graph, execute);
  if (steps.empty()) {
    steps.emplace_back();
  }
  steps.front().ownRuns = std::move(vertices.runs);
  steps.front().pointToOwnRuns();
  const auto moveTo = [&](std::vector<Step>::iterator place,
                          std::vector<Step> &from) {
    steps.insert(place, std::make_move_iterator(from.begin()),
                 std::make_move_iterator(from.end()));
  };
  moveTo(steps.end(), vertices.after);
  moveTo(steps.begin(), vertices.before);
  for (Step &step : steps) {
    if (step.name.empty()) {
      step.name = computeSet.debugPath;
    }
  }
  return steps;
}

} // namespace poplar::model
