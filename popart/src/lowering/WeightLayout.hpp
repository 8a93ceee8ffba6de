// Where weights lie: as the products that read them want them, so that the
// machine need not rearrange them in every step.
#pragma once

#include <lowering/LoweringContext.hpp>
#include <popart/tensor.hpp>

namespace popart {

// A new variable for a weight or a constant. Where one matrix product alone
// reads it, if only through views such as PyTorch's transposed weights of
// linear layers, its elements lie in the order of the product's operand, on the
// tiles of its plan; otherwise in their own order, spread evenly. The tensor is
// in the weight's shape.
poplar::Tensor addWeight(LoweringContext &context, const Tensor &weight);

} // namespace popart
