// Vertices and their cycles by vertex type.
#include "model/VertexTypes.hpp"

#include "model/ControlFlow.hpp"

#include <set>

namespace poplar::model {

namespace {

using internal::ProgramNode;
using internal::ProgramPtr;
using internal::TileRun;
using internal::VertexUse;

class TypeCounter {
public:
  explicit TypeCounter(StepTable &steps) : steps_(steps) {}

  void addNode(const ProgramNode &node, std::uint64_t times) {
    if (times == 0) {
      return;
    }
    addSteps(node, times);
    for (const auto &[part, frequency] : partsOf(steps_, node)) {
      addNode(*part,
              (times * frequency.times + frequency.of / 2) / frequency.of);
    }
  }

  std::map<std::string, VertexTypeCost> take() { return std::move(costs_); }

private:
  void addSteps(const ProgramNode &node, std::uint64_t times) {
    // The vertices of a compute set exist once, wherever it is executed.
    const void *owner = &node;
    if (const auto *execute = std::get_if<internal::ExecuteNode>(&node.op)) {
      owner = &steps_.graph().computeSets[execute->computeSet.index()];
    }
    const bool isNew = seen_.insert(owner).second;
    for (const Step &step : steps_.stepsOf(node)) {
      for (const TileRun *run : step.runs) {
        for (const VertexUse &use : run->vertices) {
          const std::uint64_t instances =
              std::uint64_t{use.count} * run->tileCount;
          VertexTypeCost &cost = costs_[use.type];
          cost.instances += isNew ? instances : 0;
          cost.cycles += instances * use.cycles * times;
        }
      }
    }
  }

  StepTable &steps_;
  std::set<const void *> seen_;
  std::map<std::string, VertexTypeCost> costs_;
};

} // namespace

std::map<std::string, VertexTypeCost>
costByVertexType(StepTable &steps, const std::vector<ProgramPtr> &programs,
                 std::span<const std::uint64_t> runs) {
  TypeCounter counter(steps);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (programs[i]) {
      counter.addNode(*programs[i], runs[i]);
    }
  }
  return counter.take();
}

} // namespace poplar::model
