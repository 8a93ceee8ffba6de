// What all losses end with.
#pragma once

#include "CallLowering.hpp"

namespace poptorch {

// The loss from its terms, by torch's number of a reduction.
popart::TensorId reducedLoss(CallLowering &call, const popart::TensorId &terms,
                             std::int64_t reduction);

} // namespace poptorch
