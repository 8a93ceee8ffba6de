// State of optimisers by its names.
#include <session/OptimizerState.hpp>

#include <popart/tensornames.hpp>

namespace popart {
namespace {

bool startsWith(const TensorId &id, const char *prefix) {
  return id.rfind(prefix, 0) == 0;
}

} // namespace

bool isAccumulatorId(const TensorId &id) {
  return startsWith(id, reservedAccumPrefix());
}

bool isOptimizerStateId(const TensorId &id) {
  for (const char *prefix :
       {reservedAcclPrefix(), reservedAccl1Prefix(), reservedAccl2Prefix(),
        reservedAccl3Prefix(), reservedStepPrefix(), reservedCounterPrefix(),
        reservedLossScaleUpdateFactorPrefix()}) {
    if (startsWith(id, prefix)) {
      return true;
    }
  }
  return isAccumulatorId(id);
}

} // namespace popart
