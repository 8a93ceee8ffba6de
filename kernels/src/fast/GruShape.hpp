// What the plans of GRU layers share.
#pragma once

#include "RecurrentPlan.hpp"

namespace kernels {

struct GruShape : RecurrentShape {
  Attributes::Ints positions;
  int activation, recurrent; // as GateFunction
  bool resetsAfter;

  GruShape(const RecurrentShape &shape, const Attributes &attributes)
      : RecurrentShape(shape),
        positions(gatePositions("gru", attributes, gruGates)),
        activation(
            static_cast<int>(gateFunction("gru", attributes, "activation"))),
        recurrent(static_cast<int>(
            gateFunction("gru", attributes, "recurrentActivation"))),
        resetsAfter(isGiven(attributes, "resetAfter")) {}

  std::int64_t position(std::int64_t gate) const {
    return positions[static_cast<std::size_t>(gate)];
  }
  std::int64_t unit(std::int64_t gate) const { return position(gate) * out; }
};

inline auto adder() {
  return selectedLoops()
      .reduce.columns[static_cast<std::size_t>(ReduceOp::Add)];
}

inline float attentionOf(std::byte *const *operands, std::size_t operand,
                         std::int64_t sample, std::int64_t t,
                         std::int64_t steps) {
  return operand == OperandOrder::absent
             ? 0.0f
             : dataOf<const float>(operands, operand)[sample * steps + t];
}

} // namespace kernels
