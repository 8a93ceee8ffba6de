// Activation functions, put together from PopART's element-wise operations.
#include "AtenTable.hpp"
#include "Parts.hpp"
#include "Random.hpp"

#include <cmath>

namespace poptorch {
namespace {

using popart::TensorId;

// x where it is positive, a multiple of it elsewhere.
TensorId leaky(CallLowering &call, const TensorId &x, const TensorId &slope) {
  TensorId isPositive = call.add("Greater", {x, call.scalar(0, call.type(x))});
  return chosen(call, isPositive, x, call.add("Mul", {x, slope}));
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

// softshrink(x, bound), which moves x towards zero as well.
void lowerSoftshrink(CallLowering &call) {
  auto bound = static_cast<float>(call.real(1));
  popart::Attributes attributes;
  attributes.set("lambd", bound).set("bias", bound);
  call.setResult(0, call.add("Shrink", {call.tensor(0)}, attributes));
}

// prelu(x, weight), the weight being one or one for each channel.
void lowerPrelu(CallLowering &call) {
  TensorId x = call.tensor(0);
  TensorId weight = call.tensorAs(1, call.type(x));
  if (call.info(weight).nelms() > 1 && call.rank(x) > 1) {
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
      {"aten::silu", lowerSilu},
      {"aten::mish", lowerMish},
      {"aten::gelu", lowerGelu},
      {"aten::log_sigmoid", lowerLogSigmoid},
      {"aten::log_sigmoid_forward", lowerLogSigmoid},
      {"aten::softshrink", lowerSoftshrink},
      {"aten::prelu", lowerPrelu},
      {"aten::rrelu", lowerRrelu},
      {"aten::rrelu_with_noise", lowerRrelu},
      {"aten::glu", lowerGlu},
  };
}

} // namespace poptorch
