// Measures the memory of every tile: vertices and code here, variables in
// VariableMemory.
#include "model/MemoryUse.hpp"

#include "model/Constants.hpp"
#include "model/TileSegments.hpp"
#include "model/TileSum.hpp"
#include "model/VariableMemory.hpp"
#include "model/VertexState.hpp"
#include "program/VisitPrograms.hpp"

#include <algorithm>
#include <set>

namespace poplar::model {

using internal::ProgramNode;
using internal::ProgramPtr;
using internal::TargetData;
using internal::TileRun;
using internal::VertexUse;

namespace {

std::uint64_t ceilDiv(std::uint64_t value, std::uint64_t divisor) {
  return (value + divisor - 1) / divisor;
}

bool isCopyVertex(const std::string &type) {
  return type.starts_with("poplar_rt::");
}

// Adds up what the nodes of the programs put on tiles. A node that occurs
// several times has one code, and so has a compute set.
class CodeMemory {
public:
  CodeMemory(StepTable &steps, MemoryUse &use)
      : steps_(steps), use_(use), controlSteps_(steps.ipus(), 0),
        sums_(memoryCategories, TileSum(steps.tiles())) {}

  void addNode(const ProgramPtr &node) {
    if (!node || !seenNodes_.insert(node.get()).second) {
      return;
    }
    addSteps(*node);
    if (std::holds_alternative<internal::RepeatNode>(node->op) ||
        std::holds_alternative<internal::CallNode>(node->op)) {
      for (std::uint64_t &count : controlSteps_) {
        count += 1;
      }
    } else if (const auto *branch =
                   std::get_if<internal::SwitchNode>(&node->op)) {
      sum(MemoryCategory::ControlTable)
          .add(0, steps_.tiles(), branch->cases.size() * switchCaseBytes);
    }
    forEachChild(steps_.graph(), *node,
                 [&](const ProgramPtr &child) { addNode(child); });
  }

  void finish() {
    const unsigned tilesPerIpu = steps_.target().tilesPerIPU;
    for (unsigned ipu = 0; ipu < controlSteps_.size(); ++ipu) {
      sum(MemoryCategory::ControlCode)
          .add(ipu * tilesPerIpu, tilesPerIpu,
               controlSteps_[ipu] * controlBytesPerStep);
    }
    addVertexCode();
    sum(MemoryCategory::Stack)
        .add(0, steps_.tiles(),
             supervisorStackBytes +
                 steps_.target().workerContexts * workerStackBytes);
    for (std::size_t i = 0; i < memoryCategories; ++i) {
      use_.byTile[i] = sums_[i].values();
    }
  }

private:
  struct TypeCode {
    std::uint64_t bytes = 0;
    std::vector<std::pair<unsigned, unsigned>> tiles; // [first, end)
  };

  TileSum &sum(MemoryCategory category) {
    return sums_[static_cast<std::size_t>(category)];
  }

  void addSteps(const ProgramNode &node) {
    for (const Step &step : steps_.stepsOf(node)) {
      for (const IpuStepCost &cost : step.costs) {
        controlSteps_[cost.ipu] += 1;
      }
    }
    if (const auto *execute = std::get_if<internal::ExecuteNode>(&node.op)) {
      if (!seenComputeSets_.insert(execute->computeSet).second) {
        return;
      }
      addExtras(steps_.graph().computeSets[execute->computeSet.index()]);
    }
    for (const Step &step : steps_.stepsOf(node)) {
      addStep(step);
    }
  }

  // What the fields of user vertices point to, other than tensors.
  void addExtras(const internal::ComputeSetData &computeSet) {
    const internal::VertexTable &table = steps_.graph().vertices;
    for (const internal::VertexId vertex : computeSet.vertices) {
      const unsigned tile = table[vertex].tile;
      if (!hasExtras(table.typeOf(vertex)) || tile >= steps_.tiles()) {
        continue;
      }
      const VertexExtras extras = extrasOf(table, vertex);
      sum(MemoryCategory::VectorListDescriptors).add(tile, 1, extras.listBytes);
      sum(MemoryCategory::VertexFieldData).add(tile, 1, extras.fieldBytes);
      use_.vertexData.descriptors += extras.listBytes;
      use_.vertexData.byType[table.typeOf(vertex).name] += extras.listBytes;
    }
  }

  void addStep(const Step &step) {
    bool hasVertices = false;
    for (const TileRun *run : step.runs) {
      hasVertices |= !run->vertices.empty();
      for (const VertexUse &vertex : run->vertices) {
        addVertices(*run, vertex);
      }
    }
    use_.computeSets += hasVertices ? 1 : 0;
    forEachSegment(std::span<const TileRun *const>(step.runs),
                   steps_.target().tilesPerIPU,
                   [&](unsigned first, unsigned count, auto runs) {
                     addExchange(step.kind, first, count, runs);
                   });
  }

  void addVertices(const TileRun &run, const VertexUse &vertex) {
    const std::uint64_t instances = std::uint64_t{vertex.count} * run.tileCount;
    use_.vertices += instances;
    use_.edges += instances * vertex.edges;
    const std::uint64_t bytes =
        ceilDiv(vertex.stateBytes, vertexStateGrain) * vertexStateGrain;
    sum(MemoryCategory::VertexInstances)
        .add(run.firstTile, run.tileCount, vertex.count * bytes);
    const std::uint32_t pointers =
        std::min(vertex.stateBytes, vertex.edges * edgePointerBytes);
    VertexData &data = use_.vertexData;
    (isCopyVertex(vertex.type) ? data.copyPointers : data.edgePointers) +=
        instances * pointers;
    data.internalState += instances * (vertex.stateBytes - pointers);
    data.padding += instances * (bytes - vertex.stateBytes);
    data.byType[vertex.type] += instances * bytes;
    if (isCopyVertex(vertex.type)) {
      sum(MemoryCategory::CopyDescriptors)
          .add(run.firstTile, run.tileCount,
               vertex.edges / 2 * copyDescriptorBytes);
    }
    TypeCode &code = code_[vertex.type];
    code.bytes = std::max<std::uint64_t>(code.bytes, vertex.codeBytes);
    code.tiles.emplace_back(run.firstTile, run.firstTile + run.tileCount);
  }

  void addExchange(StepKind kind, unsigned first, unsigned count,
                   std::span<const TileRun *const> runs) {
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    std::uint64_t fragmentSlots = 0;
    for (const TileRun *run : runs) {
      in += run->bytesIn;
      out += run->bytesOut;
      fragmentSlots += slotsPerFragmentIn * run->fragmentsIn +
                       slotsPerFragmentOut * run->fragmentsOut;
    }
    if (in + out == 0) {
      return;
    }
    using enum MemoryCategory;
    if (kind == StepKind::Execute || kind == StepKind::Exchange) {
      const std::uint64_t instructions = exchangePrologueInstrs +
                                         fragmentSlots +
                                         ceilDiv(out, 4 * wordsPerSend);
      sum(InternalExchangeCode)
          .add(first, count, instructions * bytesPerExchangeInstr);
      return;
    }
    const bool isGlobal = kind == StepKind::GlobalExchange;
    const std::uint64_t packets = ceilDiv(in + out, packetBytes);
    sum(isGlobal ? GlobalExchangeCode : HostExchangeCode)
        .add(first, count,
             (exchangePrologueInstrs + packets) * bytesPerExchangeInstr);
    sum(isGlobal ? GlobalExchangePacketHeaders : HostExchangePacketHeaders)
        .add(first, count, packets * packetHeaderBytes);
  }

  // The code of a type is on a tile once, however many vertices use it.
  void addVertexCode() {
    for (auto &[type, code] : code_) {
      std::sort(code.tiles.begin(), code.tiles.end());
      unsigned end = 0;
      for (const auto &[first, last] : code.tiles) {
        const unsigned begin = std::max(first, end);
        if (begin < last) {
          sum(MemoryCategory::VertexCode).add(begin, last - begin, code.bytes);
          end = last;
        }
      }
    }
  }

  StepTable &steps_;
  MemoryUse &use_;
  std::vector<std::uint64_t> controlSteps_; // by IPU
  std::vector<TileSum> sums_;               // by category
  std::set<const ProgramNode *> seenNodes_;
  std::set<internal::ComputeSetId> seenComputeSets_;
  std::map<std::string, TypeCode> code_;
};

// Below this offset memory is not interleaved and may hold code.
std::uint64_t interleavedOffset(const TargetData &target) {
  const std::size_t index = target.interleavedElementIndex;
  const std::uint64_t offset = index < target.memoryElementOffsets.size()
                                   ? target.memoryElementOffsets[index]
                                   : index * memoryElementBytes;
  return std::min(offset, target.bytesPerTile);
}

} // namespace

MemoryUse measureMemory(StepTable &steps,
                        const std::vector<ProgramPtr> &programs) {
  MemoryUse use;
  use.bytesPerTile = steps.target().bytesPerTile;
  use.interleavedOffset = interleavedOffset(steps.target());
  CodeMemory code(steps, use);
  for (const ProgramPtr &program : programs) {
    code.addNode(program);
  }
  code.finish();

  use.liveness = analyseLiveness(steps.graph(), programs);
  VariableMemory variables = measureVariables(steps, use.liveness);
  auto &variableBytes =
      use.byTile[static_cast<std::size_t>(MemoryCategory::Variables)];
  use.alwaysLive.resize(steps.tiles());
  for (unsigned tile = 0; tile < steps.tiles(); ++tile) {
    variableBytes[tile] = variables.alwaysLive[tile] + variables.peak[tile];
    use.alwaysLive[tile] =
        variables.alwaysLive[tile] + variables.constants[tile];
  }
  use.byTile[static_cast<std::size_t>(MemoryCategory::Constants)] =
      std::move(variables.constants);
  use.maxLive = std::move(variables.peak);
  use.gaps = std::move(variables.gaps);
  return use;
}

} // namespace poplar::model
