// Between a sparse matrix on the device and the dense one that it stands for.
#pragma once

#include <popsparse/SparseTensor.hpp>

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

namespace popsparse::internal {

// Variables for a matrix: its meta-info and its values.
poplar::Tensor addMetaInfo(poplar::Graph &graph, const TensorMetaData &metaData,
                           const poplar::DebugContext &debugContext);
poplar::Tensor addValues(poplar::Graph &graph, const poplar::Type &type,
                         const TensorMetaData &metaData,
                         const poplar::DebugContext &debugContext);

// [rows, columns].
poplar::Tensor toDense(poplar::Graph &graph, const TensorMetaData &metaData,
                       const poplar::Tensor &metaInfo,
                       const poplar::Tensor &nzValues,
                       poplar::program::Sequence &prog,
                       const poplar::DebugContext &debugContext);

// The elements of `dense` that the matrix has, in the order of its values; zero
// for the room that no block takes.
poplar::Tensor atBlocks(poplar::Graph &graph, const TensorMetaData &metaData,
                        const poplar::Tensor &metaInfo,
                        const poplar::Tensor &dense,
                        poplar::program::Sequence &prog,
                        const poplar::DebugContext &debugContext);

} // namespace popsparse::internal
