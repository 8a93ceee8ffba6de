// One element of each row, less 1: the gradient of a cross entropy.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

namespace popops {

// params[i][indices[i]] -= 1; rows whose index is out of range or
// MASKED_LABEL_CODE stay as they are.
void updateScalarInRows(poplar::Graph &graph, const poplar::Tensor &params,
                        const poplar::Tensor &indices,
                        poplar::program::Sequence &program,
                        const poplar::DebugContext &debugContext = {});

} // namespace popops
