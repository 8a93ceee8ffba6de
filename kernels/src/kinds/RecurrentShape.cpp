#include "RecurrentShape.hpp"

#include "Rules.hpp"

#include <algorithm>
#include <cmath>

namespace kernels {

GateFunction gateFunction(std::string_view kind, const Attributes &attributes,
                          std::string_view name) {
  const auto &function = requireChoice(
      kind, attributes, name, {"SIGMOID", "HARD_SIGMOID", "RELU", "TANH"});
  return function == "SIGMOID"        ? GateFunction::Sigmoid
         : function == "HARD_SIGMOID" ? GateFunction::HardSigmoid
         : function == "RELU"         ? GateFunction::Relu
                                      : GateFunction::Tanh;
}

double applyGate(GateFunction function, double x) {
  switch (function) {
  case GateFunction::Sigmoid:
    return 1 / (1 + std::exp(-x));
  case GateFunction::HardSigmoid:
    return std::clamp(0.2 * x + 0.5, 0.0, 1.0);
  case GateFunction::Relu:
    return std::max(x, 0.0);
  case GateFunction::Tanh:
    break;
  }
  return std::tanh(x);
}

double gateSlope(GateFunction function, double y) {
  switch (function) {
  case GateFunction::Sigmoid:
    return y * (1 - y);
  case GateFunction::HardSigmoid:
    return y > 0 && y < 1 ? 0.2 : 0;
  case GateFunction::Relu:
    return y > 0 ? 1 : 0;
  case GateFunction::Tanh:
    break;
  }
  return 1 - y * y;
}

const Attributes::Ints &gatePositions(std::string_view kind,
                                      const Attributes &attributes,
                                      std::int64_t count) {
  const auto &gates = requireInts(kind, attributes, "gates",
                                  static_cast<std::size_t>(count), 0);
  auto sorted = gates;
  std::sort(sorted.begin(), sorted.end());
  for (std::int64_t i = 0; i < count; ++i) {
    require(sorted[static_cast<std::size_t>(i)] == i,
            "[{}] gates are {}; they must be a permutation of 0 to {}", kind,
            support::toString(gates), count - 1);
  }
  return gates;
}

bool isGiven(const Attributes &attributes, std::string_view name) {
  return attributes.getInt(name) != 0;
}

ForwardOperands::ForwardOperands(const Attributes &attributes, bool isLstm) {
  OperandOrder order;
  x = order.next();
  h = order.next();
  c = order.nextIf(isLstm);
  inputWeights = order.next();
  outputWeights = order.next();
  biases = order.next();
  steps = order.nextIf(isGiven(attributes, "hasSteps"));
  attention = order.nextIf(!isLstm && isGiven(attributes, "hasAttention"));
  count = order.count();
}

BackwardOperands::BackwardOperands(const Attributes &attributes, bool isLstm) {
  OperandOrder order;
  saved = order.next();
  inputWeights = order.next();
  outputWeights = order.next();
  h = order.nextIf(isLstm);
  c = order.nextIf(isLstm);
  dy = order.nextIf(isGiven(attributes, "hasDy"));
  dh = order.nextIf(isGiven(attributes, "hasDh"));
  dc = order.nextIf(isLstm && isGiven(attributes, "hasDc"));
  steps = order.nextIf(isGiven(attributes, "hasSteps"));
  attention = order.nextIf(!isLstm && isGiven(attributes, "hasAttention"));
  count = order.count();
}

Shape gruBiasShape(const Attributes &attributes, std::int64_t out) {
  return isGiven(attributes, "resetAfter") ? Shape{gruGates, 2, out}
                                           : Shape{gruGates, out};
}

void requireSteps(std::string_view kind, const TensorType &steps,
                  std::int64_t batch) {
  requireType(kind, "steps", steps, {DataType::Int, DataType::UnsignedInt});
  const auto count = support::elementCount(steps.shape);
  require(steps.shape.size() <= 1 && (count == 1 || count == batch),
          "[{}] steps has shape {}; it must be one number or one for each of "
          "the {} samples",
          kind, support::toString(steps.shape), batch);
}

} // namespace kernels
