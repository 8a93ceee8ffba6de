// Lowers stream copies. The data of a stream is in the order of the tensor's
// elements; a tensor that lies in another order is rearranged on the IPU.
#pragma once

#include "model/Step.hpp"
#include <poplar/internal/GraphData.hpp>

#include <vector>

namespace poplar::model {

// The transfer and, if some tile holds several stretches of the stream, an
// exchange with buffers that hold one each.
std::vector<Step> lowerStreamCopy(const internal::GraphData &graph,
                                  const internal::TensorView &view,
                                  StepKind direction);

} // namespace poplar::model
