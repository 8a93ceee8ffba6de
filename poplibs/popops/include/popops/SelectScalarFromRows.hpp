// One element of each row.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

namespace popops {

// result[i] = params[i][indices[i]]: not-a-number where the index is out of
// range, 0 where it is MASKED_LABEL_CODE.
poplar::Tensor
selectScalarFromRows(poplar::Graph &graph, const poplar::Tensor &params,
                     const poplar::Tensor &indices,
                     poplar::program::Sequence &program,
                     const poplar::DebugContext &debugContext = {});

} // namespace popops
