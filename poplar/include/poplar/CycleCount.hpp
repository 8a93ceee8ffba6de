// Counting the cycles of a program.
#pragma once

#include <poplar/DebugContext.hpp>
#include <poplar/SyncType.hpp>
#include <poplar/Tensor.hpp>

namespace poplar {

class Graph;
namespace program {
class Sequence;
} // namespace program

// Wraps the program: when it has run, the UNSIGNED_INT tensor that is returned
// holds the low and the high word of the cycles that it took, by the model of
// the machine. The tensor is on the tile.
Tensor cycleCount(Graph &graph, program::Sequence &program, unsigned tile,
                  SyncType syncType, const DebugContext &debugContext = {});

} // namespace poplar
