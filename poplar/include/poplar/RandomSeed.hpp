// The seeds of the tiles' random number generators.
#pragma once

#include <poplar/DebugContext.hpp>
#include <poplar/Tensor.hpp>

namespace poplar {

class Graph;
namespace program {
class Sequence;
} // namespace program

// A tensor of shape {tiles, workers, 4} that holds the seeds at this point of
// the program. Without setHwSeeds() they are zero.
Tensor getHwSeeds(Graph &graph, program::Sequence &program,
                  const DebugContext &debugContext = {});

// Sets them. Operations that are given no seed draw from them (poprand), and
// each moves them on.
void setHwSeeds(Graph &graph, const Tensor &seeds, program::Sequence &program,
                const DebugContext &debugContext = {});

} // namespace poplar
