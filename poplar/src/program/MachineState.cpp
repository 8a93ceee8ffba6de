// What programs read and set of the machine itself: cycles, seeds, control
// registers.
#include <poplar/CSRFunctions.hpp>
#include <poplar/CycleCount.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/RandomSeed.hpp>
#include <poplar/internal/HwSeeds.hpp>

#include "MakeNode.hpp"

#include <support/Error.hpp>

namespace poplar {

using internal::GraphData;
using internal::VariableId;
using support::requireUser;

namespace {

constexpr const char *seedsKey = "poplar/hwSeeds";
constexpr const char *controlKey = "poplar/floatControl";
constexpr std::int64_t allBits = 0x1f; // of the floating-point control

Tensor addOnTiles(Graph &graph, const std::vector<std::size_t> &shape,
                  const DebugContext &debugContext) {
  Tensor tensor = graph.addVariable(UNSIGNED_INT, shape, debugContext);
  for (unsigned tile = 0; tile < shape[0]; ++tile) {
    graph.setTileMapping(tensor[tile], tile);
  }
  return tensor;
}

// A variable of the top-level graph that stands for state of the machine: made,
// as zeros, when it is first asked for.
Tensor machineState(Graph &graph, const char *key,
                    const std::vector<std::size_t> &shape, const char *name) {
  auto &kept = internal::graphData(graph).libraryData[key];
  if (kept == nullptr) {
    Graph whole = graph.getTopLevelGraph();
    Tensor state = addOnTiles(whole, shape, name);
    whole.setInitialValue(state, 0U);
    // A tensor here would keep the graph that keeps it.
    kept = std::make_shared<VariableRef>(state.getVarRegions()[0].var);
  }
  return graph.getVariable(*std::static_pointer_cast<VariableRef>(kept));
}

Tensor seedsOfAllTiles(Graph &graph) {
  const Target target = graph.getTopLevelGraph().getTarget();
  return machineState(graph, seedsKey,
                      {target.getNumTiles(), target.getNumWorkerContexts(), 4},
                      "hwSeeds");
}

// One word for all tiles of a replica.
Tensor floatControl(Graph &graph) {
  return machineState(graph, controlKey, {1}, "floatControl");
}

std::int64_t bitsOf(const Graph &graph, const FloatingPointBehaviour &b) {
  return graph.getTarget().makeFpIctlValue(b.inv, b.div0, b.oflo, b.esr,
                                           b.nanoo);
}

// Sets the control, or the given value of it, less the bits of `clear` and with
// those of `set`. The operation also names what rounding draws from, for the
// engine (compiler/RoundHalves.hpp).
void changeControl(Graph &graph, program::Sequence &program, std::int64_t clear,
                   std::int64_t set, const Tensor *value,
                   const DebugContext &debugContext) {
  Graph whole = graph.getTopLevelGraph();
  const Tensor control = floatControl(graph);
  const Tensor replica =
      whole.addReplicationIndexConstant({debugContext, "replica"});
  whole.setTileMapping(replica, 0);
  internal::VertexGroup group;
  group.kind = &kernels::findKind("floatControl");
  group.attributes = {{"clear", clear},
                      {"set", set},
                      {"hasValue", std::int64_t{value != nullptr}}};
  group.inputs = {internal::tensorView(control),
                  internal::tensorView(seedsOfAllTiles(graph)[0][0]),
                  internal::tensorView(replica)};
  if (value != nullptr) {
    group.inputs.push_back(internal::tensorView(value->flatten().slice(0, 1)));
  }
  group.outputs = {internal::tensorView(control)};
  group.debugPath = debugContext.getPathName();
  internal::executeGroup(graph, program, std::move(group));
}

// Those of the tiles that the graph has.
Tensor hwSeeds(Graph &graph) {
  const Tensor all = seedsOfAllTiles(graph);
  std::vector<Tensor> own;
  for (unsigned tile = 0; tile < graph.getTarget().getNumTiles(); ++tile) {
    const unsigned at = graph.convertTileToTopLevelGraphTile(tile);
    own.push_back(all.slice(at, at + std::size_t(1)));
  }
  return concat(own);
}

} // namespace

Tensor internal::hwSeedsOfTile(Graph &graph, unsigned tile) {
  return seedsOfAllTiles(graph)[graph.convertTileToTopLevelGraphTile(tile)];
}

Tensor cycleCount(Graph &graph, program::Sequence &program, unsigned tile,
                  SyncType, const DebugContext &debugContext) {
  Tensor result =
      graph.addVariable(UNSIGNED_INT, {2}, {debugContext, "cycleCount"});
  graph.setTileMapping(result, tile);
  program = program::Sequence({internal::Access::makeProgram(
      program::makeNode(internal::CycleCountNode{internal::programNode(program),
                                                 internal::tensorView(result)},
                        debugContext, result))});
  return result;
}

Tensor getHwSeeds(Graph &graph, program::Sequence &program,
                  const DebugContext &debugContext) {
  Tensor seeds = hwSeeds(graph);
  Tensor result =
      addOnTiles(graph, seeds.shape(), {debugContext, "getHwSeeds"});
  program.add(program::Copy(seeds, result, false, debugContext));
  return result;
}

void setHwSeeds(Graph &graph, const Tensor &seeds, program::Sequence &program,
                const DebugContext &debugContext) {
  Tensor kept = hwSeeds(graph);
  requireUser<poplar_error>(
      seeds.shape() == kept.shape() && seeds.elementType() == UNSIGNED_INT,
      "[poplar::setHwSeeds] a tensor of {}{} given; unsigned int{} is needed",
      seeds.elementType().toString().cloneAsString(), seeds.shapeToString(),
      kept.shapeToString());
  program.add(program::Copy(seeds, kept, false, debugContext));
}

void setFloatingPointBehaviour(Graph &graph, program::Sequence &program,
                               const FloatingPointBehaviour &behaviour,
                               const DebugContext &debugContext) {
  changeControl(graph, program, allBits, bitsOf(graph, behaviour), nullptr,
                {debugContext, "setFloatingPointBehaviour"});
}

void setFloatingPointBehaviour(Graph &graph, program::Sequence &program,
                               const Tensor &behaviour,
                               const DebugContext &debugContext) {
  requireUser<poplar_error>(
      behaviour.elementType() == UNSIGNED_INT && behaviour.numElements() != 0,
      "[poplar::setFloatingPointBehaviour] a tensor of {}{} given; what "
      "getAndModifyFloatingPointBehaviour returned is needed",
      behaviour.elementType().toString().cloneAsString(),
      behaviour.shapeToString());
  changeControl(graph, program, 0, 0, &behaviour,
                {debugContext, "setFloatingPointBehaviour"});
}

Tensor getAndModifyFloatingPointBehaviour(Graph &graph,
                                          program::Sequence &program,
                                          const FloatingPointBehaviour &clear,
                                          const FloatingPointBehaviour &set,
                                          const DebugContext &debugContext) {
  const unsigned tiles = graph.getTarget().getNumTiles();
  Tensor before =
      addOnTiles(graph, {tiles}, {debugContext, "floatingPointBehaviour"});
  program.add(program::Copy(floatControl(graph).broadcast(tiles, 0), before,
                            false, debugContext));
  changeControl(graph, program, bitsOf(graph, clear), bitsOf(graph, set),
                nullptr, {debugContext, "modifyFloatingPointBehaviour"});
  return before;
}

void setStochasticRounding(Graph &graph, program::Sequence &program,
                           bool enable, const DebugContext &debugContext) {
  const std::int64_t bit =
      bitsOf(graph, FloatingPointBehaviour(false, false, false, true, false));
  changeControl(graph, program, bit, enable ? bit : 0, nullptr,
                {debugContext, "setStochasticRounding"});
}

} // namespace poplar
