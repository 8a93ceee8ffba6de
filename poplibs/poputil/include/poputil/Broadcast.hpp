// NumPy's broadcasting: shapes are aligned at the right, size 1 expands.
#pragma once

#include <poplar/Tensor.hpp>

#include <cstddef>
#include <vector>

namespace poputil {

// Gives the tensor of lower rank leading dimensions of size 1.
void expandToMatchRanks(poplar::Tensor &a, poplar::Tensor &b);

// Broadcasts to a shape, or two or three tensors to their common shape. Throws
// poplibs_error when a dimension differs and is not 1.
void broadcastToMatch(poplar::Tensor &a, const std::vector<std::size_t> &shape);
void broadcastToMatch(poplar::Tensor &a, poplar::Tensor &b);
void broadcastToMatch(poplar::Tensor &a, poplar::Tensor &b, poplar::Tensor &c);

bool canBroadcastToMatch(const poplar::Tensor &a, const poplar::Tensor &b);

} // namespace poputil
