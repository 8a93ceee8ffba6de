// Lowers the execution of a compute set to steps.
#include "model/ExecuteSteps.hpp"

#include <algorithm>

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
  return lowerGroups(graph.computeSets[execute.computeSet.index()]);
}

} // namespace poplar::model
