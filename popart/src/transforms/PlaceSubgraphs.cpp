// A subgraph runs where the operation that runs it does: it has no copies
// between IPUs of its own.
#include <transforms/Passes.hpp>

namespace popart {
namespace {

void place(Graph &graph, const Op &caller) {
  for (const auto &op : graph.getOps()) {
    op->settings.vgraphId = caller.settings.vgraphId;
    op->settings.pipelineStage = caller.settings.pipelineStage;
    op->settings.executionPhase = caller.settings.executionPhase;
    for (const Graph *called : op->getCalledGraphs()) {
      place(graph.getIr().getGraph(called->id), *op);
    }
  }
}

} // namespace

void placeSubgraphs(PassContext &context) {
  for (const auto &op : context.graph.getOps()) {
    for (const Graph *called : op->getCalledGraphs()) {
      place(context.ir.getGraph(called->id), *op);
    }
  }
}

} // namespace popart
