// Reverse-mode differentiation: appends to the graph what computes the gradient
// of the loss by every variable that the optimiser updates.
#pragma once

#include <popart/ir.hpp>

namespace popart {

// With automatic loss scaling: what the loss's gradient is, the optimiser's
// lossScaling times a factor, lossScaleUpdateFactor, that follows the
// gradients.
inline const char *finalLossScaleId() {
  return "finalLossScale";
}

// The gradient of tensor t is named Gradient___t; several paths meet in one
// Sum. The loss's own gradient is the loss scaling. Gradients of other tensors
// are made too where an anchor asks for them.
void differentiate(Ir &ir);

// Where the pipeline turns back, be the loss there or before; unused without
// pipelining.
PipelineStage lastForwardStage(const Graph &graph);

} // namespace popart
