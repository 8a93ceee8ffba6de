// Tensors that rows of remote buffers are copied into and out of.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>
#include <vector>

namespace popops {

struct IndicesAndTensor {
  poplar::Tensor indices; // UNSIGNED_INT, one for each row
  poplar::Tensor tensor;
};

// Rows [n, rowElements] and their indices, for copies of chosen rows; `isRead`
// says whether the host reads them. `offset` is the first tile.
IndicesAndTensor
createHostSliceableTensor(poplar::Graph &graph, const poplar::Type &type,
                          const std::vector<std::size_t> &shape, bool isRead,
                          const poplar::DebugContext &debugContext = {});
IndicesAndTensor
createHostSliceableTensor(poplar::Graph &graph, const poplar::Type &type,
                          const std::vector<std::size_t> &shape, bool isRead,
                          std::size_t offset,
                          const poplar::DebugContext &debugContext = {});

// A tensor for copies from or to the host.
poplar::Tensor
createHostTransferableTensor(poplar::Graph &graph, const poplar::Type &type,
                             const std::vector<std::size_t> &shape, bool isRead,
                             const poplar::DebugContext &debugContext = {});
poplar::Tensor
createHostTransferableTensor(poplar::Graph &graph, const poplar::Type &type,
                             const std::vector<std::size_t> &shape, bool isRead,
                             std::size_t offset,
                             const poplar::DebugContext &debugContext = {});

} // namespace popops
