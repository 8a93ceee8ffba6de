// One step of the session as a Poplar program.
#pragma once

#include <popart/ir.hpp>

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

namespace popart {

// Lowers `graph`, the IR's main graph or its machine form, into `target`.
//   Repeat(batchesPerStep) {
//     Repeat(accumulationFactor) { inputs; forward; backward; accumulate;
//                                  anchors }
//     update }
// If `target` has one replica where the session has several, the innermost loop
// has that many micro-batches for each (foldReplicas prepared the graph).
// Pipelined graphs (those that moveTensorsAlongPipeline prepared) run
// micro-batches in cycles instead: fill, main, flush. The machine's own program
// moves inputs and anchors through I/O tiles, where they ask for that.
struct StepForm {
  bool isPipelined = false;
  bool isMachine = false;
};
poplar::program::Program lowerStep(const Ir &ir, const Graph &graph,
                                   poplar::Graph &target, StepForm form);

} // namespace popart
