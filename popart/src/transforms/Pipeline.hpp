// The order of the passes: the one list to read to know what happens to a
// model.
#pragma once

#include <transforms/Pass.hpp>

namespace popart {

// From the forward graph to the whole training step, or to inference.
std::span<const Pass> modelPasses();
// From there to what the machine does: copies between IPUs, stashes,
// recomputation. None of them changes a value.
std::span<const Pass> machinePasses();

} // namespace popart
