// What the plans of GRU layers share.
#pragma once

#include "RecurrentWalk.hpp"

namespace kernels {

struct GruShape : GateShape {
  bool resetsAfter;

  GruShape(const RecurrentShape &shape, const Attributes &attributes)
      : GateShape("gru", gruGates, shape, attributes),
        resetsAfter(isGiven(attributes, "resetAfter")) {}
};

inline float attentionOf(std::byte *const *operands, std::size_t operand,
                         std::int64_t sample, std::int64_t t,
                         std::int64_t steps) {
  return operand == OperandOrder::absent
             ? 0.0f
             : dataOf<const float>(operands, operand)[sample * steps + t];
}

} // namespace kernels
