// PopTorch's own operators.
#include "AtenTable.hpp"
#include "CallLowering.hpp"

namespace poptorch {
namespace {

// Annotations: the values pass through.
void lowerIdentity(CallLowering &call) {
  call.setResult(0, call.tensor(0));
}

void lowerNop(CallLowering &call) {
  call.setResult(0, call.add("Identity", {call.tensor(0)}));
}

// internal_cast(x, type): the result has that type already.
void lowerInternalCast(CallLowering &call) {
  call.setResult(0, call.tensor(0));
}

} // namespace

std::vector<AtenRow> poptorchRows() {
  return {
      {"poptorch::nop", lowerNop},
      {"poptorch::recomputation_checkpoint", lowerIdentity},
      {"poptorch::set_available_memory", lowerIdentity},
      {"poptorch::set_matmul_serialization", lowerIdentity},
      {"poptorch::internal_cast", lowerInternalCast},
  };
}

} // namespace poptorch
