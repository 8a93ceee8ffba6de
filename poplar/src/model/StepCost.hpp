// Prices one step: what it costs each IPU that takes part.
#pragma once

#include "model/Step.hpp"
#include <poplar/internal/TargetData.hpp>

namespace poplar::model {

// Fills step.costs from its runs and flows. Syncs are left to the timeline,
// which knows what came before. The target is that of one of the replicas.
void priceStep(Step &step, const internal::TargetData &target,
               unsigned replicas);

} // namespace poplar::model
