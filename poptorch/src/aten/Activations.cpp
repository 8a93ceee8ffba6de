// Activation functions, put together from PopART's element-wise operations.
#include "AtenTable.hpp"
#include "Parts.hpp"
#include "Random.hpp"

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

// As `approximate` says; the SDK computes the tanh form for both values.
void lowerGelu(CallLowering &call) {
  std::string approximate = call.isNone(1) ? "none" : call.string(1);
  if (approximate != "none" && approximate != "tanh") {
    call.fail("Unknown GELU approximate '" + approximate + "'");
  }
  TensorId x = call.tensor(0);
  if (approximate == "none") {
    call.setResult(0, call.add("GeluErf", {x}));
    return;
  }
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

// softplus(beta * x) / beta
void lowerSoftplus(CallLowering &call) {
  double beta = call.real(1);
  TensorId y = softplusOf(call, call.times(call.tensor(0), beta));
  call.setResult(0, call.times(y, 1 / beta));
}

void lowerMish(CallLowering &call) {
  TensorId x = call.tensor(0);
  TensorId gate = call.add("Tanh", {softplusOf(call, x)});
  call.setResult(0, call.add("Mul", {x, gate}));
}

// -softplus(-x)
void lowerLogSigmoid(CallLowering &call) {
  TensorId x = call.add("Neg", {call.tensor(0)});
  call.setResult(0, call.add("Neg", {softplusOf(call, x)}));
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

// x where it is greater than a number, else another: threshold(x, number,
// other).
void lowerThreshold(CallLowering &call) {
  TensorId x = call.tensor(0);
  auto type = call.type(x);
  TensorId isAbove = call.add("Greater", {x, call.scalar(call.real(1), type)});
  call.setResult(0, chosen(call, isAbove, x, call.scalar(call.real(2), type)));
}

// hardshrink(x, bound) and softshrink, which moves x towards zero as well.
void lowerShrink(CallLowering &call) {
  auto bound = static_cast<float>(call.real(1));
  bool isSoft = call.call().op == "aten::softshrink";
  popart::Attributes attributes;
  attributes.set("lambd", bound).set("bias", isSoft ? bound : 0.0f);
  call.setResult(0, call.add("Shrink", {call.tensor(0)}, attributes));
}

// x where it is positive, a multiple of it elsewhere.
TensorId leaky(CallLowering &call, const TensorId &x, const TensorId &slope) {
  TensorId isPositive = call.add("Greater", {x, call.scalar(0, call.type(x))});
  return chosen(call, isPositive, x, call.add("Mul", {x, slope}));
}

// prelu(x, weight), the weight being one or one for each channel.
void lowerPrelu(CallLowering &call) {
  TensorId x = call.tensor(0);
  TensorId weight = call.tensorAs(1, call.type(x));
  if (call.info(weight).nelms() > 1) {
    popart::Shape shape(call.shape(x).size(), 1);
    shape[1] = call.info(weight).nelms();
    weight = call.reshape(weight, shape);
  } else {
    weight = call.reshape(weight, {});
  }
  call.setResult(0, leaky(call, x, weight));
}

// rrelu(x, lower, upper, training), or with a second argument for the noise,
// which is not given back: slopes are random, or the mean where it does not
// train.
void lowerRrelu(CallLowering &call) {
  TensorId x = call.tensor(0);
  std::size_t first = call.call().op == "aten::rrelu" ? 1 : 2;
  double low = call.real(first);
  double high = call.real(first + 1);
  TensorId slope = call.boolean(first + 2)
                       ? uniform(call, call.info(x), low, high)
                       : call.scalar((low + high) / 2, call.type(x));
  call.setResult(0, leaky(call, x, slope));
}

// glu(x, dim): one half of x, gated by the other.
void lowerGlu(CallLowering &call) {
  TensorId x = call.tensor(0);
  auto dim = dimOf(call, 1, call.rank(x));
  auto size = call.shape(x)[static_cast<std::size_t>(dim)];
  TensorId gate = call.add("Sigmoid", {sliced(call, x, dim, size / 2, size)});
  call.setResult(0, call.add("Mul", {sliced(call, x, dim, 0, size / 2), gate}));
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
      {"aten::threshold", lowerThreshold},
      {"aten::hardshrink", lowerShrink},
      {"aten::softshrink", lowerShrink},
      {"aten::prelu", lowerPrelu},
      {"aten::rrelu", lowerRrelu},
      {"aten::rrelu_with_noise", lowerRrelu},
      {"aten::glu", lowerGlu},
      {"aten::hardsigmoid", lowerHardsigmoid},
      {"aten::hardswish", lowerHardswish},
  };
}

} // namespace poptorch
