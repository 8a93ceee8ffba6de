// What programs read and set of the machine itself: cycles, seeds, control
// registers.
#include <poplar/CSRFunctions.hpp>
#include <poplar/CycleCount.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/RandomSeed.hpp>
#include <poplar/internal/HwSeeds.hpp>

#include "MakeNode.hpp"

#include <support/Logging.hpp>

namespace poplar {

using internal::GraphData;
using internal::VariableId;
using support::requireUser;

namespace {

constexpr support::Logger logger(support::LogChannel::Poplar, "PROGRAM");

constexpr const char *seedsKey = "poplar/hwSeeds";

Tensor addOnTiles(Graph &graph, const std::vector<std::size_t> &shape,
                  const DebugContext &debugContext) {
  Tensor tensor = graph.addVariable(UNSIGNED_INT, shape, debugContext);
  for (unsigned tile = 0; tile < shape[0]; ++tile) {
    graph.setTileMapping(tensor[tile], tile);
  }
  return tensor;
}

// The seeds of all tiles: one variable of the top-level graph, made when it is
// first asked for.
Tensor seedsOfAllTiles(Graph &graph) {
  GraphData &data = internal::graphData(graph);
  Graph whole = graph.getTopLevelGraph();
  const Target &target = whole.getTarget();
  auto &kept = data.libraryData[seedsKey];
  if (kept == nullptr) {
    Tensor seeds = addOnTiles(
        whole, {target.getNumTiles(), target.getNumWorkerContexts(), 4},
        "hwSeeds");
    whole.setInitialValue(seeds, 0U);
    // A tensor here would keep the graph that keeps it.
    kept = std::make_shared<VariableRef>(seeds.getVarRegions()[0].var);
  }
  return graph.getVariable(*std::static_pointer_cast<VariableRef>(kept));
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

void setFloatingPointBehaviour(Graph &, program::Sequence &,
                               const FloatingPointBehaviour &,
                               const DebugContext &debugContext) {
  logger.warn("'{}' sets the floating point behaviour, which has no effect",
              debugContext.getPathName());
}

void setFloatingPointBehaviour(Graph &, program::Sequence &, const Tensor &,
                               const DebugContext &debugContext) {
  logger.warn("'{}' sets the floating point behaviour, which has no effect",
              debugContext.getPathName());
}

Tensor getAndModifyFloatingPointBehaviour(Graph &graph, program::Sequence &,
                                          const FloatingPointBehaviour &,
                                          const FloatingPointBehaviour &,
                                          const DebugContext &debugContext) {
  logger.warn("'{}' sets the floating point behaviour, which has no effect",
              debugContext.getPathName());
  Tensor registers = addOnTiles(graph, {graph.getTarget().getNumTiles()},
                                {debugContext, "floatingPointBehaviour"});
  graph.setInitialValue(registers, 0U);
  return registers;
}

void setStochasticRounding(Graph &, program::Sequence &, bool enable,
                           const DebugContext &debugContext) {
  logger.warn("'{}' turns stochastic rounding {}, which has no effect",
              debugContext.getPathName(), enable ? "on" : "off");
}

} // namespace poplar
