// Where the session's options want tensors to be.
#pragma once

#include <popart/ir.hpp>

namespace popart {

// Of a variable. Off chip and sharded only as far as it makes sense: not
// optimiser scalars, nor what is smaller than the options' limits, nor what an
// anchor shows.
TensorLocation locationOf(const Ir &ir, const Tensor &variable);

// Of what an operation makes, while it waits for those that read it later. Off
// chip where there are execution phases, unless the options name the tensor;
// never sharded.
TensorLocation activationLocationOf(const Ir &ir, const Tensor &activation);

// When a phase that reads the variable loads it.
ExecutionPhaseIOSchedule ioScheduleOf(const Ir &ir, const Tensor &variable);

// How many replicas share out a variable that is sharded.
std::int64_t shardsOf(const Ir &ir, const CommGroup &domain);

} // namespace popart
