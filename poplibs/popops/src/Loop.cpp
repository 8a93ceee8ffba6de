#include <popops/Loop.hpp>

#include <popops/ElementWise.hpp>

#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

namespace popops {

using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Copy;
using poplar::program::Program;
using poplar::program::Repeat;
using poplar::program::RepeatWhileTrue;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;

namespace {

// Sets `counter` to a number that is known now.
template <typename T>
void setCounter(Graph &graph, const Tensor &counter, T value, Sequence &prog,
                const DebugContext &debugContext) {
  const auto start = graph.addConstant(counter.elementType(), counter.shape(),
                                       value, {debugContext, "start"});
  graph.setTileMapping(start, graph.getTileMapping(counter));
  prog.add(Copy(start, counter, false, debugContext));
}

void addStep(Graph &graph, const Tensor &counter, int step, Sequence &prog,
             const DebugContext &debugContext) {
  using namespace expr;
  mapInPlace(graph, _1 + step, {counter}, prog, debugContext);
}

void checkCounter(const Tensor &count, const Tensor &limit) {
  requireUser<poplibs_error>(
      count.elementType() == poplar::INT ||
          count.elementType() == poplar::UNSIGNED_INT,
      "countedForLoop: count must have type INT or UNSIGNED_INT");
  requireUser<poplibs_error>(
      count.numElements() == 1 && limit.numElements() == 1,
      "countedForLoop: count has shape {}, the limit {}; both must have one "
      "element",
      count.shapeToString(), limit.shapeToString());
  requireUser<poplibs_error>(
      count.elementType() == limit.elementType(),
      "countedForLoop: count and limit must have the same type");
}

} // namespace

Sequence countedLoop(Graph &graph, std::size_t begin, std::size_t end,
                     std::size_t step, const CountedLoopBodyType &body,
                     const DebugContext &debugContext) {
  requireUser<poplibs_error>(step != 0, "countedLoop: the step must not be 0");
  const DebugContext context(debugContext, "countedLoop");
  Sequence prog(context);
  const auto count = end > begin ? (end - begin + step - 1) / step : 0;
  const auto index =
      graph.addVariable(poplar::UNSIGNED_INT, {1}, {context, "index"});
  graph.setTileMapping(index, 0);
  setCounter(graph, index, static_cast<unsigned>(begin), prog, context);
  Sequence loop(context);
  loop.add(body(index));
  addStep(graph, index, static_cast<int>(step), loop, context);
  prog.add(Repeat(static_cast<unsigned>(count), loop, context));
  return prog;
}

Sequence countedLoop(Graph &graph, std::size_t count,
                     const CountedLoopBodyType &body,
                     const DebugContext &debugContext) {
  return countedLoop(graph, 0, count, 1, body, debugContext);
}

Sequence countedForLoop(Graph &graph, const Tensor &count, int initialCount,
                        const Tensor &countLimit, int countStep,
                        const Program &body, const DebugContext &debugContext) {
  checkCounter(count, countLimit);
  const DebugContext context(debugContext, "countedForLoop");
  Sequence prog(context);
  // The condition counts before it compares.
  setCounter(graph, count, initialCount - countStep, prog, context);
  Sequence condition(context);
  unsigned tile = 0;
  const auto mapping = graph.getTileMapping(count);
  while (tile < mapping.size() && mapping[tile].empty()) {
    ++tile;
  }
  const auto goesOn = addForLoopCounterVertex(
      graph, count, countLimit, countStep, tile, condition, context);
  prog.add(RepeatWhileTrue(condition, goesOn, body, context));
  return prog;
}

Sequence countedForLoop(Graph &graph, int initialCount,
                        const Tensor &countLimit, int countStep,
                        const Program &body, const DebugContext &debugContext) {
  const auto count =
      graph.addVariable(countLimit.elementType(), {1}, {debugContext, "count"});
  graph.setTileMapping(count, 0);
  return countedForLoop(graph, count, initialCount, countLimit, countStep, body,
                        debugContext);
}

Tensor addForLoopCounterVertex(Graph &graph, const Tensor &count,
                               const Tensor &countLimit, int countStep,
                               unsigned tile, Sequence &prog,
                               const DebugContext &debugContext) {
  checkCounter(count, countLimit);
  const auto goesOn =
      graph.addVariable(poplar::BOOL, {}, {debugContext, "goesOn"});
  graph.setTileMapping(goesOn, tile);
  addStep(graph, count, countStep, prog, debugContext);
  neqWithOutput(graph, count.reshape({}), countLimit.reshape({}), goesOn, prog,
                debugContext);
  return goesOn;
}

} // namespace popops
