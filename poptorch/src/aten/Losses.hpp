// What files of losses share.
#pragma once

#include "CallLowering.hpp"

namespace poptorch {

// torch's numbers.
enum class Reduction { None = 0, Mean = 1, Sum = 2 };

// PopART's numbers of them.
popart::Attributes::Int popartReduction(Reduction reduction);

// Terms of a loss, reduced as torch's number says.
popart::TensorId reducedLoss(CallLowering &call, const popart::TensorId &terms,
                             std::int64_t reduction);

} // namespace poptorch
