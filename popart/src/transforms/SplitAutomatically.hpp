// VirtualGraphMode::Auto: splits the model over the IPUs by the memory that its
// operations need.
#pragma once

#include <transforms/Pass.hpp>

namespace popart {

void splitAutomatically(PassContext &context);

} // namespace popart
