// Gradients that torch has as operators: backward() of a
// torch.autograd.Function calls them.
#include "AtenTable.hpp"
#include "Parts.hpp"

namespace poptorch {
namespace {

using popart::DataType;
using popart::TensorId;

// _softmax_backward_data(gradient, y, dim, dtype): y * (g - sum of g * y)
void lowerSoftmaxGradient(CallLowering &call) {
  TensorId y = call.tensor(1);
  TensorId terms = call.add("Mul", {call.tensorAs(0, call.type(y)), y});
  TensorId sum = reducedOver(call, "ReduceSum", terms,
                             {dimOf(call, 2, call.rank(y))}, true);
  call.setResult(0, call.add("Sub", {terms, call.add("Mul", {y, sum})}));
}

// _log_softmax_backward_data(gradient, y, dim, dtype): g - exp(y) * sum of g
void lowerLogSoftmaxGradient(CallLowering &call) {
  TensorId y = call.tensor(1);
  TensorId gradient = call.tensorAs(0, call.type(y));
  TensorId sum = reducedOver(call, "ReduceSum", gradient,
                             {dimOf(call, 2, call.rank(y))}, true);
  call.setResult(
      0, call.add("Sub",
                  {gradient, call.add("Mul", {call.add("Exp", {y}), sum})}));
}

// tanh_backward(gradient, y): g * (1 - y^2)
void lowerTanhGradient(CallLowering &call) {
  TensorId y = call.tensor(1);
  TensorId gradient = call.tensorAs(0, call.type(y));
  TensorId lost = call.add("Mul", {gradient, call.add("Square", {y})});
  call.setResult(0, call.add("Sub", {gradient, lost}));
}

// sigmoid_backward(gradient, y): g * y * (1 - y)
void lowerSigmoidGradient(CallLowering &call) {
  TensorId y = call.tensor(1);
  TensorId slope = call.add("Sub", {y, call.add("Square", {y})});
  call.setResult(0, call.add("Mul", {call.tensorAs(0, call.type(y)), slope}));
}

// threshold_backward(gradient, x, threshold): g where x is above it
void lowerThresholdGradient(CallLowering &call) {
  TensorId x = call.tensor(1);
  DataType type = call.type(x);
  TensorId isAbove = call.add("Greater", {x, call.tensorAs(2, type)});
  call.setResult(
      0, chosen(call, isAbove, call.tensorAs(0, type), call.scalar(0, type)));
}

} // namespace

std::vector<AtenRow> gradientRows() {
  return {
      {"aten::_softmax_backward_data", lowerSoftmaxGradient},
      {"aten::_log_softmax_backward_data", lowerLogSoftmaxGradient},
      {"aten::tanh_backward", lowerTanhGradient},
      {"aten::sigmoid_backward", lowerSigmoidGradient},
      {"aten::threshold_backward", lowerThresholdGradient},
  };
}

} // namespace poptorch
