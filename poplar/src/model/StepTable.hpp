// The steps of every leaf of the program trees, lowered and priced once.
#pragma once

#include "model/Step.hpp"
#include <poplar/internal/GraphData.hpp>
#include <poplar/internal/ProgramNode.hpp>
#include <poplar/internal/TargetData.hpp>

#include <unordered_map>
#include <vector>

namespace poplar::model {

class StepTable {
public:
  // The graph must outlive the table.
  explicit StepTable(const internal::GraphData &graph);

  const internal::GraphData &graph() const { return graph_; }
  const internal::TargetData &target() const { return *graph_.target; }
  // Of one replica: a graph's target is that of a replica.
  unsigned ipus() const { return target().numIPUs; }
  unsigned tiles() const { return target().numTiles(); }

  // The steps of a leaf (neither a sequence nor a repeat), in order.
  const std::vector<Step> &stepsOf(const internal::ProgramNode &leaf);
  // Steps lowered so far; their ids count up to this.
  std::size_t stepCount() const { return stepCount_; }

private:
  std::vector<Step> lower(const internal::ProgramNode &leaf) const;
  std::vector<Step> lowerExecute(const internal::ExecuteNode &execute) const;

  const internal::GraphData &graph_;
  std::size_t stepCount_ = 0;
  std::unordered_map<const internal::ProgramNode *, std::vector<Step>> steps_;
};

} // namespace poplar::model
