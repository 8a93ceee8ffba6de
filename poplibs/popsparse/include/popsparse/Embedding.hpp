// Rows of a sparse table by their indices. Options as in MatMul.hpp.
#pragma once

#include <popsparse/FullyConnectedParams.hpp>
#include <popsparse/PlanningCache.hpp>
#include <popsparse/SparseTensor.hpp>

#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>

namespace popsparse {
namespace dynamic {

// UNSIGNED_INT [numIndices].
poplar::Tensor
createIndicesTensor(poplar::Graph &graph, const FullyConnectedParams &params,
                    std::size_t numIndices,
                    const poplar::OptionFlags &options = {},
                    const poplar::DebugContext &debugContext = {});

// [numIndices, columns].
poplar::Tensor createSliceTensor(poplar::Graph &graph,
                                 const poplar::Type &dataType,
                                 const FullyConnectedParams &params,
                                 std::size_t numIndices,
                                 const poplar::DebugContext &debugContext = {},
                                 const poplar::OptionFlags &options = {},
                                 PlanningCache *cache = nullptr);

// The rows that `indices` name, dense.
poplar::Tensor embeddingSlice(poplar::Graph &graph, const SparseTensor &t,
                              const poplar::Tensor &indices,
                              poplar::program::Sequence &prog,
                              const FullyConnectedParams &params,
                              const poplar::DebugContext &debugContext = {},
                              const poplar::OptionFlags &options = {},
                              PlanningCache *cache = nullptr);

// Adds scale times each slice to its row: to the values that are there.
void embeddingUpdateAdd(
    poplar::Graph &graph, const SparseTensor &t, const poplar::Tensor &slices,
    const poplar::Tensor &indices, const poplar::Tensor &scale,
    poplar::program::Sequence &prog, const FullyConnectedParams &params,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {}, PlanningCache *cache = nullptr);

} // namespace dynamic
} // namespace popsparse
