// Pooling.
#include "AtenTable.hpp"
#include "CallLowering.hpp"

#include <algorithm>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::TensorId;

// max_pool(x, kernel, stride, padding, dilation, ceil)
void lowerMaxPool(CallLowering &call) {
  TensorId x = call.tensor(0);
  auto spatial = call.call().op.find("pool1d") != std::string::npos ? 1u : 2u;
  auto kernel = call.integers(1, spatial, 1);
  auto strides = call.isNone(2) || call.integers(2).empty()
                     ? kernel
                     : call.integers(2, spatial, 1);
  auto pads = call.integers(3, spatial, 0);
  pads.insert(pads.end(), pads.begin(), pads.end());
  // torch allows an input without a batch dimension.
  popart::Shape batched = call.shape(x);
  while (batched.size() < spatial + 2) {
    batched.insert(batched.begin(), 1);
  }
  Attributes attributes;
  attributes.set("kernel_shape", kernel)
      .set("strides", strides)
      .set("pads", pads)
      .set("dilations", call.integers(4, spatial, 1))
      .set("ceil_mode", std::int64_t{call.boolean(5)});
  TensorId y = call.addSeveral("ai.onnx", "MaxPool", {call.reshape(x, batched)},
                               2, attributes)[0];
  call.setResult(0, call.reshape(y, call.resultInfo().shape()));
}

// adaptive_avg_pool2d to one element is a mean; other sizes pool windows of
// equal stride.
void lowerAdaptiveAveragePool(CallLowering &call) {
  TensorId x = call.tensor(0);
  auto wanted = call.integers(1);
  auto spatial = wanted.size();
  popart::Shape shape = call.shape(x);
  if (std::all_of(wanted.begin(), wanted.end(),
                  [](std::int64_t n) { return n == 1; })) {
    std::vector<std::int64_t> axes;
    for (auto d = shape.size() - spatial; d < shape.size(); ++d) {
      axes.push_back(static_cast<std::int64_t>(d));
    }
    call.setResult(0, call.add("ReduceMean", {x},
                               Attributes()
                                   .set("axes", axes)
                                   .set("keepdims", Attributes::Int{1})));
    return;
  }
  call.fail("sizes other than 1 are not supported yet");
}

} // namespace

std::vector<AtenRow> poolRows() {
  return {
      {"aten::max_pool2d_with_indices", lowerMaxPool},
      {"aten::max_pool2d", lowerMaxPool},
      {"aten::adaptive_avg_pool1d", lowerAdaptiveAveragePool},
      {"aten::adaptive_avg_pool2d", lowerAdaptiveAveragePool},
      {"aten::adaptive_avg_pool3d", lowerAdaptiveAveragePool},
  };
}

} // namespace poptorch
