// Pooling.
#include "AtenTable.hpp"
#include "Parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;

// The dimensions that are pooled over: "..._pool2d..." has two.
std::size_t fieldRank(const CallLowering &call) {
  const std::string &op = call.call().op;
  return static_cast<std::size_t>(op[op.find("pool") + 4] - '0');
}

// torch allows an input without a batch dimension.
TensorId batched(CallLowering &call, const TensorId &x) {
  popart::Shape shape = call.shape(x);
  shape.insert(shape.begin(), fieldRank(call) + 2 - shape.size(), 1);
  return call.reshape(x, shape);
}

// (x, kernel, stride, padding): without a stride windows do not overlap.
Attributes windowOf(const CallLowering &call) {
  std::size_t spatial = fieldRank(call);
  auto kernel = call.integers(1, spatial, 1);
  bool hasStride = !call.isNone(2) && !call.integers(2).empty();
  auto pads = call.integers(3, spatial, 0);
  pads.insert(pads.end(), pads.begin(), pads.end());
  return Attributes()
      .set("kernel_shape", kernel)
      .set("strides", hasStride ? call.integers(2, spatial, 1) : kernel)
      .set("pads", pads);
}

void setPooled(CallLowering &call, const TensorId &y) {
  call.setResult(0, call.reshape(y, call.resultInfo().shape()));
}

TensorId maxPool(CallLowering &call, const TensorId &x,
                 const Attributes &attributes) {
  return call.addSeveral("ai.onnx", "MaxPool", {x}, 2, attributes)[0];
}

// max_pool(x, kernel, stride, padding, dilation, ceil)
void lowerMaxPool(CallLowering &call) {
  Attributes attributes = windowOf(call);
  attributes.set("dilations", call.integers(4, fieldRank(call), 1))
      .set("ceil_mode", std::int64_t{call.boolean(5)});
  setPooled(call, maxPool(call, batched(call, call.tensor(0)), attributes));
}

// avg_pool(x, kernel, stride, padding, ceil, count_include_pad, divisor), in
// FLOAT whatever the input is.
void lowerAveragePool(CallLowering &call) {
  Attributes attributes = windowOf(call);
  bool hasDivisor = !call.isNone(6);
  if (hasDivisor && call.boolean(4)) {
    call.fail("divisor_override together with ceil_mode is not supported");
  }
  attributes.set("ceil_mode", std::int64_t{call.boolean(4)})
      .set("count_include_pad", std::int64_t{hasDivisor || call.boolean(5)});
  TensorId x = batched(call, call.tensorAs(0, DataType::FLOAT));
  TensorId y = call.add("AveragePool", {x}, attributes);
  if (hasDivisor) {
    auto kernel = call.integers(1, fieldRank(call), 1);
    auto size = std::accumulate(kernel.begin(), kernel.end(), std::int64_t{1},
                                std::multiplies<>());
    y = call.times(y, static_cast<double>(size) / call.real(6));
  }
  setPooled(call, y);
}

// Windows of equal stride that give the sizes of the second argument, each of
// which must divide what there is.
Attributes adaptiveWindow(CallLowering &call, const TensorId &x) {
  std::size_t spatial = fieldRank(call);
  const popart::Shape &to = call.resultInfo().shape();
  Ints kernel;
  Ints strides;
  for (std::size_t d = 0; d < spatial; ++d) {
    auto from = call.shape(x)[2 + d];
    auto count = to[to.size() - spatial + d];
    if (from % count != 0) {
      call.fail(fmt::format("Input dim {} ({}) is not divisible by the "
                            "corresponding output dim ({})",
                            d, from, count));
    }
    strides.push_back(from / count);
    kernel.push_back(from / count);
  }
  return Attributes().set("kernel_shape", kernel).set("strides", strides);
}

// One window over everything is a mean.
void lowerAdaptiveAverage(CallLowering &call) {
  TensorId x = batched(call, call.tensorAs(0, DataType::FLOAT));
  const popart::Shape &to = call.resultInfo().shape();
  if (std::all_of(to.end() - static_cast<std::ptrdiff_t>(fieldRank(call)),
                  to.end(), [](std::int64_t n) { return n == 1; })) {
    Ints field = numbersTo(call.rank(x));
    field.erase(field.begin(), field.begin() + 2);
    setPooled(call, reducedOver(call, "ReduceMean", x, field, true));
    return;
  }
  setPooled(call, call.add("AveragePool", {x}, adaptiveWindow(call, x)));
}

void lowerAdaptiveMax(CallLowering &call) {
  TensorId x = batched(call, call.tensor(0));
  setPooled(call, maxPool(call, x, adaptiveWindow(call, x)));
}

} // namespace

std::vector<AtenRow> poolRows() {
  return {
      {"aten::max_pool2d_with_indices", lowerMaxPool},
      {"aten::max_pool3d_with_indices", lowerMaxPool},
      {"aten::max_pool1d", lowerMaxPool},
      {"aten::max_pool2d", lowerMaxPool},
      {"aten::max_pool3d", lowerMaxPool},
      {"aten::avg_pool2d", lowerAveragePool},
      {"aten::avg_pool3d", lowerAveragePool},
      {"aten::adaptive_avg_pool1d", lowerAdaptiveAverage},
      {"aten::adaptive_avg_pool2d", lowerAdaptiveAverage},
      {"aten::adaptive_avg_pool3d", lowerAdaptiveAverage},
      {"aten::adaptive_max_pool1d", lowerAdaptiveMax},
      {"aten::adaptive_max_pool2d", lowerAdaptiveMax},
      {"aten::adaptive_max_pool3d", lowerAdaptiveMax},
  };
}

} // namespace poptorch
