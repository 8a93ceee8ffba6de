// Activation functions, put together from PopART's element-wise operations.
#include "AtenTable.hpp"
#include "CallLowering.hpp"

#include <cmath>

namespace poptorch {
namespace {

using popart::TensorId;

void lowerLeakyRelu(CallLowering &call) {
  TensorId x = call.tensor(0);
  TensorId positive = call.add("Relu", {x});
  TensorId negative = call.add("Sub", {x, positive});
  call.setResult(
      0, call.add("Add", {positive, call.times(negative, call.real(1))}));
}

void lowerSilu(CallLowering &call) {
  TensorId x = call.tensor(0);
  call.setResult(0, call.add("Mul", {x, call.add("Sigmoid", {x})}));
}

// The device computes the tanh approximation for both values of `approximate`.
void lowerGelu(CallLowering &call) {
  std::string approximate = call.isNone(1) ? "none" : call.string(1);
  if (approximate != "none" && approximate != "tanh") {
    call.fail("Unknown GELU approximate '" + approximate + "'");
  }
  TensorId x = call.tensor(0);
  TensorId cube = call.add("Mul", {x, call.add("Square", {x})});
  TensorId inner = call.add("Add", {x, call.times(cube, 0.044715)});
  TensorId tanh = call.add("Tanh", {call.times(inner, std::sqrt(2 / M_PI))});
  TensorId half = call.times(x, 0.5);
  call.setResult(0, call.add("Mul", {half, call.plus(tanh, 1)}));
}

// x where it is positive, alpha * (exp(inputScale * x) - 1) elsewhere.
TensorId elu(CallLowering &call, double alpha, double inputScale) {
  TensorId x = call.tensor(0);
  TensorId positive = call.add("Relu", {x});
  TensorId negative = call.add("Sub", {x, positive});
  TensorId curved =
      call.times(call.add("Expm1", {call.times(negative, inputScale)}), alpha);
  return call.add("Add", {positive, curved});
}

// elu(x, alpha, scale, inputScale)
void lowerElu(CallLowering &call) {
  TensorId y = elu(call, call.real(1), call.real(3));
  call.setResult(0, call.times(y, call.real(2)));
}

// celu(x, alpha)
void lowerCelu(CallLowering &call) {
  call.setResult(0, elu(call, call.real(1), 1 / call.real(1)));
}

// log(1 + exp(x)), without overflow.
TensorId softplus(CallLowering &call, const TensorId &x) {
  TensorId magnitude = call.add("Neg", {call.add("Abs", {x})});
  TensorId tail = call.add("Log1p", {call.add("Exp", {magnitude})});
  return call.add("Add", {call.add("Relu", {x}), tail});
}

// softplus(beta * x) / beta
void lowerSoftplus(CallLowering &call) {
  double beta = call.real(1);
  TensorId y = softplus(call, call.times(call.tensor(0), beta));
  call.setResult(0, call.times(y, 1 / beta));
}

void lowerMish(CallLowering &call) {
  TensorId x = call.tensor(0);
  TensorId gate = call.add("Tanh", {softplus(call, x)});
  call.setResult(0, call.add("Mul", {x, gate}));
}

// -softplus(-x)
void lowerLogSigmoid(CallLowering &call) {
  TensorId x = call.add("Neg", {call.tensor(0)});
  call.setResult(0, call.add("Neg", {softplus(call, x)}));
}

// (x + 3) / 6, kept in [0, 1].
TensorId hardSigmoid(CallLowering &call) {
  TensorId x = call.times(call.plus(call.tensor(0), 3), 1.0 / 6);
  auto type = call.info(x).dataType();
  return call.add("Clamp", {x, call.scalar(0, type), call.scalar(1, type)});
}

void lowerHardsigmoid(CallLowering &call) {
  call.setResult(0, hardSigmoid(call));
}

void lowerHardswish(CallLowering &call) {
  call.setResult(0, call.add("Mul", {call.tensor(0), hardSigmoid(call)}));
}

} // namespace

std::vector<AtenRow> activationRows() {
  return {
      {"aten::leaky_relu", lowerLeakyRelu},
      {"aten::silu", lowerSilu},
      {"aten::mish", lowerMish},
      {"aten::gelu", lowerGelu},
      {"aten::elu", lowerElu},
      {"aten::celu", lowerCelu},
      {"aten::softplus", lowerSoftplus},
      {"aten::log_sigmoid", lowerLogSigmoid},
      {"aten::log_sigmoid_forward", lowerLogSigmoid},
      {"aten::hardsigmoid", lowerHardsigmoid},
      {"aten::hardswish", lowerHardswish},
  };
}

} // namespace poptorch
