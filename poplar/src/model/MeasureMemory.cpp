// Measures the memory of every tile: vertices and code here, variables in
// VariableMemory.
#include "model/MemoryUse.hpp"

#include "model/Constants.hpp"
#include "model/InstrumentationMemory.hpp"
#include "model/MemorySums.hpp"
#include "model/TileSegments.hpp"
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
  CodeMemory(StepTable &steps, MemoryUse &use, MemorySums &sums)
      : steps_(steps), use_(use), sums_(sums), controlSteps_(steps.ipus(), 0) {}

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
      sums_.add(MemoryCategory::ControlTable, 0, steps_.tiles(),
                branch->cases.size() * switchCaseBytes);
    }
    forEachChild(steps_.graph(), *node,
                 [&](const ProgramPtr &child) { addNode(child); });
  }

  // What is known when all nodes are.
  void finish() {
    const unsigned tilesPerIpu = steps_.target().tilesPerIPU;
    for (unsigned ipu = 0; ipu < controlSteps_.size(); ++ipu) {
      sums_.add(MemoryCategory::ControlCode, ipu * tilesPerIpu, tilesPerIpu,
                controlSteps_[ipu] * controlBytesPerStep);
    }
    addVertexCode();
  }

private:
  struct TypeCode {
    std::uint64_t bytes = 0;
    std::vector<std::pair<unsigned, unsigned>> tiles; // [first, end)
  };

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
      sums_.add(MemoryCategory::VectorListDescriptors, tile, 1,
                extras.listBytes);
      sums_.add(MemoryCategory::VertexFieldData, tile, 1, extras.fieldBytes);
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
    sums_.add(MemoryCategory::VertexInstances, run.firstTile, run.tileCount,
              vertex.count * bytes);
    const std::uint32_t pointers =
        std::min(vertex.stateBytes, vertex.edges * edgePointerBytes);
    VertexData &data = use_.vertexData;
    (isCopyVertex(vertex.type) ? data.copyPointers : data.edgePointers) +=
        instances * pointers;
    data.internalState += instances * (vertex.stateBytes - pointers);
    data.padding += instances * (bytes - vertex.stateBytes);
    data.byType[vertex.type] += instances * bytes;
    if (isCopyVertex(vertex.type)) {
      sums_.add(MemoryCategory::CopyDescriptors, run.firstTile, run.tileCount,
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
      sums_.add(InternalExchangeCode, first, count,
                instructions * bytesPerExchangeInstr);
      return;
    }
    const bool isGlobal = kind == StepKind::GlobalExchange;
    const std::uint64_t packets = ceilDiv(in + out, packetBytes);
    sums_.add(isGlobal ? GlobalExchangeCode : HostExchangeCode, first, count,
              (exchangePrologueInstrs + packets) * bytesPerExchangeInstr);
    sums_.add(isGlobal ? GlobalExchangePacketHeaders
                       : HostExchangePacketHeaders,
              first, count, packets * packetHeaderBytes);
  }

  // The code of a type is on a tile once, however many vertices use it.
  void addVertexCode() {
    for (auto &[type, code] : code_) {
      std::sort(code.tiles.begin(), code.tiles.end());
      unsigned end = 0;
      for (const auto &[first, last] : code.tiles) {
        const unsigned begin = std::max(first, end);
        if (begin < last) {
          sums_.add(MemoryCategory::VertexCode, begin, last - begin,
                    code.bytes);
          end = last;
        }
      }
    }
  }

  StepTable &steps_;
  MemoryUse &use_;
  MemorySums &sums_;
  std::vector<std::uint64_t> controlSteps_; // by IPU
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
                        const std::vector<ProgramPtr> &programs,
                        const MemoryOptions &options) {
  MemoryUse use;
  use.bytesPerTile = steps.target().bytesPerTile;
  use.interleavedOffset = interleavedOffset(steps.target());
  MemorySums sums(steps.tiles(), steps.target().tilesPerIPU);
  CodeMemory code(steps, use, sums);
  for (const ProgramPtr &program : programs) {
    code.addNode(program);
  }
  code.finish();
  sums.add(MemoryCategory::Stack, 0, steps.tiles(),
           options.supervisorStackBytes +
               steps.target().workerContexts * options.workerStackBytes);
  addInstrumentation(steps, programs, options, sums);

  use.liveness = analyseLiveness(steps.graph(), programs);
  use.placements = placementsOf(steps.graph(), use.liveness.schedule);
  addVariables(steps, use.liveness, use.placements, sums);
  use.runs = sums.runs();
  return use;
}

} // namespace poplar::model
