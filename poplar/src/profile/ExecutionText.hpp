// The execution section of the profile summary.
#pragma once

#include "model/StepTable.hpp"
#include "profile/ProfileSummary.hpp"

#include <iosfwd>

namespace poplar::profile {

void printExecution(std::ostream &stream, const ProfileRequest &request,
                    model::StepTable &steps);

} // namespace poplar::profile
