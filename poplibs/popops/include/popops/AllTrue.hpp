// Whether all elements of a BOOL tensor are true.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

namespace popops {

// A BOOL scalar, for example the condition of a loop.
poplar::Tensor allTrue(poplar::Graph &graph, poplar::Tensor A,
                       poplar::program::Sequence &prog,
                       const poplar::DebugContext &debugContext = {});

} // namespace popops
