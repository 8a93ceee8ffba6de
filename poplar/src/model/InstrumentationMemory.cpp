// The counters that instrumented programs keep on tiles.
#include "model/InstrumentationMemory.hpp"

#include "model/TileSegments.hpp"
#include "program/VisitPrograms.hpp"

#include <set>

namespace poplar::model {

namespace {

using internal::ProgramNode;
using internal::ProgramPtr;
using internal::TileRun;

class Counters {
public:
  Counters(StepTable &steps, const MemoryOptions &options, MemorySums &sums)
      : steps_(steps), options_(options), sums_(sums) {}

  // A node that occurs several times has its counters once.
  void addNode(const ProgramPtr &node) {
    if (!node || !seen_.insert(node.get()).second) {
      return;
    }
    for (const Step &step : steps_.stepsOf(*node)) {
      addStep(step);
    }
    if (options_.countsControlFlow && isControl(*node)) {
      for (unsigned ipu = 0; ipu < steps_.ipus(); ++ipu) {
        addOn(ipu);
      }
    }
    forEachChild(steps_.graph(), *node,
                 [&](const ProgramPtr &child) { addNode(child); });
  }

private:
  static bool isControl(const ProgramNode &node) {
    return std::holds_alternative<internal::RepeatNode>(node.op) ||
           std::holds_alternative<internal::WhileNode>(node.op) ||
           std::holds_alternative<internal::IfNode>(node.op) ||
           std::holds_alternative<internal::SwitchNode>(node.op) ||
           std::holds_alternative<internal::CallNode>(node.op);
  }

  void addStep(const Step &step) {
    const bool isExternal = step.kind == StepKind::GlobalExchange ||
                            step.isHostTransfer() || step.isRemoteTransfer();
    if (isExternal && options_.countsExternalExchange) {
      for (const IpuStepCost &cost : step.costs) {
        addOn(cost.ipu);
      }
    }
    addCompute(step);
  }

  void addCompute(const Step &step) {
    switch (options_.computeCounters) {
    case ComputeCounters::None:
      return;
    case ComputeCounters::Device:
    case ComputeCounters::Ipu:
      for (const IpuStepCost &cost : step.costs) {
        if (cost.computeTiles != 0) {
          addOn(cost.ipu);
          if (options_.computeCounters == ComputeCounters::Device) {
            return;
          }
        }
      }
      return;
    case ComputeCounters::Vertex:
    case ComputeCounters::Tile:
      forEachSegment(std::span<const TileRun *const>(step.runs),
                     steps_.target().tilesPerIPU,
                     [&](unsigned first, unsigned count, auto runs) {
                       std::uint64_t vertices = 0;
                       for (const TileRun *run : runs) {
                         for (const internal::VertexUse &use : run->vertices) {
                           vertices += use.count;
                         }
                       }
                       add(first, count, vertices);
                     });
      return;
    }
  }

  void add(unsigned firstTile, unsigned tileCount, std::uint64_t vertices) {
    const bool isPerVertex =
        options_.computeCounters == ComputeCounters::Vertex;
    const std::uint64_t counters = isPerVertex || vertices == 0 ? vertices : 1;
    sums_.add(MemoryCategory::InstrumentationResults, firstTile, tileCount,
              counters * counterBytes);
  }

  // One counter for the IPU, on its first tile.
  void addOn(unsigned ipu) {
    sums_.add(MemoryCategory::InstrumentationResults,
              ipu * steps_.target().tilesPerIPU, 1, counterBytes);
  }

  StepTable &steps_;
  const MemoryOptions &options_;
  MemorySums &sums_;
  std::set<const ProgramNode *> seen_;
};

} // namespace

void addInstrumentation(StepTable &steps,
                        const std::vector<ProgramPtr> &programs,
                        const MemoryOptions &options, MemorySums &sums) {
  Counters counters(steps, options, sums);
  for (const ProgramPtr &program : programs) {
    counters.addNode(program);
  }
}

} // namespace poplar::model
