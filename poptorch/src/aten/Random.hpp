// Random numbers for other families.
#pragma once

#include "CallLowering.hpp"

namespace poptorch {

// Evenly drawn from [low, high), FLOAT or FLOAT16.
popart::TensorId uniform(CallLowering &call, const popart::TensorInfo &info,
                         double low, double high);

} // namespace poptorch
