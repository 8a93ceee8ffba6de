// Vertices and their cycles by vertex type.
#include "model/VertexTypes.hpp"

#include <set>

namespace poplar::model {

using namespace internal;

namespace {

class TypeCounter {
public:
  explicit TypeCounter(StepTable &steps) : steps_(steps) {}

  void addNode(const ProgramPtr &node, std::uint64_t times) {
    if (!node || times == 0) {
      return;
    }
    if (const auto *sequence = std::get_if<SequenceNode>(&node->op)) {
      for (const ProgramPtr &child : sequence->children) {
        addNode(child, times);
      }
    } else if (const auto *repeat = std::get_if<RepeatNode>(&node->op)) {
      addNode(repeat->body, times * repeat->count);
    } else {
      addLeaf(*node, times);
    }
  }

  std::map<std::string, VertexTypeCost> take() { return std::move(costs_); }

private:
  void addLeaf(const ProgramNode &leaf, std::uint64_t times) {
    // The vertices of a compute set exist once, wherever it is executed.
    const void *owner = &leaf;
    if (const auto *execute = std::get_if<ExecuteNode>(&leaf.op)) {
      owner = &steps_.graph().computeSets[execute->computeSet.index()];
    }
    const bool isNew = seen_.insert(owner).second;
    for (const Step &step : steps_.stepsOf(leaf)) {
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
    counter.addNode(programs[i], runs[i]);
  }
  return counter.take();
}

} // namespace poplar::model
