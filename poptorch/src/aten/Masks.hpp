// Elements chosen by masks that only the run knows.
#pragma once

#include "CallLowering.hpp"

namespace poptorch {

// index_put(x, indices, values, accumulate) where a mask is the only index.
bool isMaskedPut(CallLowering &call);
void lowerMaskedPut(CallLowering &call);

} // namespace poptorch
