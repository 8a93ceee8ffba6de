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
// With replicas: to what the engine runs in their place.
std::span<const Pass> valuePasses();

} // namespace popart
