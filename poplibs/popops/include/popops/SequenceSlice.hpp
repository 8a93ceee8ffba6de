// Runs of rows copied from one tensor into another.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

namespace popops {

// For each sequence i: rows [outOffset[i], outOffset[i] + n[i]) of `out` become
// rows inOffset[i] and on of `in`. Other rows stay, or become zero.
void sequenceSlice(poplar::Graph &graph, const poplar::Tensor &in,
                   const poplar::Tensor &out, const poplar::Tensor &n,
                   const poplar::Tensor &inOffset,
                   const poplar::Tensor &outOffset, bool zeroUnused,
                   poplar::program::Sequence &prog,
                   const poplar::DebugContext &debugContext = {});

} // namespace popops
