// A transform of the IR, and the runner of lists of them.
#pragma once

#include <popart/ir.hpp>

#include <span>

namespace popart {

// What a pass works on. `graph` is the IR's main graph, or the copy of it that
// becomes the machine program.
struct PassContext {
  Ir &ir;
  Graph &graph;
  int ipus = 1; // of one replica
};

struct Pass {
  const char *name;
  void (*run)(PassContext &context);
  // May be left out: the program means the same without it.
  bool isOptional = false;
};

// Runs the passes in order and verifies the graph after each. Passes named in
// ASPEN_DISABLE_PASSES (comma-separated) are left out if optional, an error if
// not. With POPART_LOG_LEVEL=DEBUG each pass and its time are logged, with
// TRACE also the graph after it.
void runPasses(std::span<const Pass> passes, PassContext &context);

} // namespace popart
