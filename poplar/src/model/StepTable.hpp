// The steps of every node of the program trees, lowered and priced once.
#pragma once

#include "model/ProgramCounts.hpp"
#include "model/Step.hpp"
#include "model/TransferTiles.hpp"
#include <poplar/internal/GraphData.hpp>
#include <poplar/internal/ProgramNode.hpp>
#include <poplar/internal/TargetData.hpp>

#include <unordered_map>
#include <vector>

namespace poplar::model {

class StepTable {
public:
  // The graph, the programs asked for and the counts, if there are any, must
  // outlive the table.
  explicit StepTable(const internal::GraphData &graph,
                     const ProgramCounts *counts = nullptr);

  const internal::GraphData &graph() const { return graph_; }
  const internal::TargetData &target() const { return *graph_.target; }
  // Of one replica: a graph's target is that of a replica.
  unsigned ipus() const { return target().numIPUs; }
  unsigned tiles() const { return target().numTiles(); }
  bool hasTransferTiles() const { return transferTiles_.areUsed(); }

  // The steps of the node itself, not those of its parts, in order: all of a
  // leaf, the decision of a branch or While, none of a sequence.
  const std::vector<Step> &stepsOf(const internal::ProgramNode &node);
  // Steps lowered so far; their ids count up to this.
  std::size_t stepCount() const { return stepCount_; }

  // What was counted of the node, or null.
  const PartCounts *countsOf(const internal::ProgramNode &node) const;
  // The branch of the node that takes longest on its own, the first of equals;
  // null when none does anything.
  internal::ProgramPtr
  longestOf(const internal::ProgramNode &node,
            const std::vector<internal::ProgramPtr> &branches);

private:
  std::vector<Step> lower(const internal::ProgramNode &node) const;
  std::uint64_t waitCycles(const internal::ProgramNode &node) const;

  const internal::GraphData &graph_;
  const ProgramCounts *counts_;
  TransferTiles transferTiles_;
  std::size_t stepCount_ = 0;
  std::unordered_map<const internal::ProgramNode *, std::vector<Step>> steps_;
  std::unordered_map<const internal::ProgramNode *, internal::ProgramPtr>
      longest_;
};

} // namespace poplar::model
