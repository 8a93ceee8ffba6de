// VirtualGraphMode::Auto: splits the model over the IPUs by the memory that its
// operations need.
#pragma once

#include <transforms/Pass.hpp>

#include <vector>

namespace popart {

// The piece of the schedule that each operation is in, so that pieces 0 to i
// together have `shares[i]` of the cost. `what` names pieces in messages.
std::vector<int> splitSchedule(PassContext &context,
                               const std::vector<double> &shares,
                               const char *what);

void splitAutomatically(PassContext &context);

} // namespace popart
