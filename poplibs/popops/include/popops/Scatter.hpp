// XLA's scatter: slices of updates put into a tensor at indices that only the
// run knows.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace popops {

// Makes the new value of an element, or of a slice of them, from the old one
// and the update.
using UpdateComputationFunc = std::function<poplar::Tensor(
    poplar::Graph &, poplar::Tensor &, poplar::Tensor &,
    poplar::program::Sequence &)>;

// Along `indexVectorDim` the indices say where windows start, in the dimensions
// of `scatterDimsToOperandDims`. `updateWindowDims` are the dimensions of the
// updates that are a window; a window has extent 1 in the operand's
// `insertWindowDims`, which the updates leave out. Windows that do not lie
// inside the operand are left out; of those that overlap, the last one stays.
void scatter(poplar::Graph &graph, const poplar::Tensor &operand,
             const poplar::Tensor &indices, const poplar::Tensor &updates,
             std::size_t indexVectorDim, std::vector<unsigned> updateWindowDims,
             std::vector<std::size_t> insertWindowDims,
             std::vector<unsigned> scatterDimsToOperandDims,
             poplar::program::Sequence &prog,
             const poplar::DebugContext &debugContext = {},
             const poplar::OptionFlags &options = {});
// The same with a computation, applied to one window after another.
void scatter(poplar::Graph &graph, const poplar::Tensor &operand,
             const poplar::Tensor &indices, const poplar::Tensor &updates,
             std::size_t indexVectorDim, std::vector<unsigned> updateWindowDims,
             std::vector<std::size_t> insertWindowDims,
             std::vector<unsigned> scatterDimsToOperandDims,
             UpdateComputationFunc &updateComputation,
             poplar::program::Sequence &prog,
             const poplar::DebugContext &debugContext = {},
             const poplar::OptionFlags &options = {});

} // namespace popops
