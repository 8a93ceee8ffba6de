// The execution section of the profile summary.
#pragma once

#include "model/StepTable.hpp"
#include "model/Timeline.hpp"
#include "profile/ProfileSummary.hpp"

#include <iosfwd>

namespace poplar::profile {

// What the runs of the request cost.
model::ExecutionCost measureExecution(const ProfileRequest &request);

void printExecution(std::ostream &stream, const ProfileRequest &request,
                    model::StepTable &steps);

} // namespace poplar::profile
