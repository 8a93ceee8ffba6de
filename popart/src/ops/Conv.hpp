// What convolutions and transposed ones share.
#pragma once

#include <ops/Window.hpp>
#include <popart/attributes.hpp>

namespace popart {

class GradientBuilder;
struct OpRule;

// A window as Conv and its gradients spell it, with the padding worked out.
Attributes convAttributes(const Window &window, std::int64_t group);

// The sum of a gradient over all but the channels.
TensorId addBiasGradient(GradientBuilder &builder, const TensorId &dy);

// Several convolutions in one operation: MultiConv.cpp.
OpRule multiConvRule();

} // namespace popart
