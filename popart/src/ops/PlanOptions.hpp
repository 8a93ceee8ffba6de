// How the products inside of operators are planned: the session's options, and
// over them what the Builder says of a single operator (its attributes
// __available_memory, __partials_type and __enable_conv_dithering).
#pragma once

#include <popart/attributes.hpp>

#include <poplar/OptionFlags.hpp>

namespace popart {

class LoweringContext;

// For poplin's convolutions and matrix products and popnn's LSTM, given an
// operator's attributes.
poplar::OptionFlags convOptions(const LoweringContext &context,
                                const Attributes &own);
poplar::OptionFlags matMulOptions(const LoweringContext &context,
                                  const Attributes &own);
poplar::OptionFlags lstmOptions(const LoweringContext &context,
                                const Attributes &own);

// `attributes` of a gradient's operation, which is planned as the operator was
// asked to be whose attributes are `forward`.
Attributes withPlanOf(const Attributes &forward, Attributes attributes = {});

// Throws popart::error for a value that no operator can have.
void checkPlan(const Attributes &attributes);

} // namespace popart
