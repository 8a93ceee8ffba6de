// Which variables an optimiser keeps beside the weights.
#pragma once

#include <popart/names.hpp>

namespace popart {

// Sums of gradients over micro-batches.
bool isAccumulatorId(const TensorId &id);
// Those and everything else that a model saves to go on training.
bool isOptimizerStateId(const TensorId &id);

} // namespace popart
