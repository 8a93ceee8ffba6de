// Pooling.
#include "AtenTable.hpp"
#include "PoolWindows.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;

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

void setPooled(CallLowering &call, const TensorId &y, std::size_t i = 0) {
  call.setResult(i, call.reshape(y, call.resultInfo(i).shape()));
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
  TensorId x = batched(call, call.tensor(0));
  setPooled(call, maxPool(call, x, attributes));
  if (!call.isWanted(1)) {
    return;
  }
  std::size_t spatial = fieldRank(call);
  auto kernel = call.integers(1, spatial, 1);
  auto stride = attributes.getInts("strides", {});
  auto padding = call.integers(3, spatial, 0);
  auto dilation = call.integers(4, spatial, 1);
  const popart::Shape &to = call.resultInfo().shape();
  std::vector<WindowRow> rows;
  for (std::size_t d = 0; d < spatial; ++d) {
    rows.push_back(kernelRow(call.shape(x)[2 + d], to[to.size() - spatial + d],
                             kernel[d], stride[d], padding[d], dilation[d]));
  }
  setPooled(call, placesOfGreatest(call, x, rows), 1);
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

// The windows of adaptive pools. Where the sizes divide what there is, they are
// windows of equal stride.
struct AdaptiveWindows {
  std::vector<WindowRow> rows;
  bool areEqual = true;
  Attributes attributes;
};

AdaptiveWindows adaptiveWindows(CallLowering &call, const TensorId &x) {
  std::size_t spatial = fieldRank(call);
  const popart::Shape &to = call.resultInfo().shape();
  AdaptiveWindows windows;
  Ints kernel;
  for (std::size_t d = 0; d < spatial; ++d) {
    auto from = call.shape(x)[2 + d];
    auto count = to[to.size() - spatial + d];
    windows.rows.push_back(adaptiveRow(from, count));
    windows.areEqual = windows.areEqual && from % count == 0;
    kernel.push_back(from / count);
  }
  windows.attributes.set("kernel_shape", kernel).set("strides", kernel);
  return windows;
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
  AdaptiveWindows windows = adaptiveWindows(call, x);
  if (windows.areEqual) {
    setPooled(call, call.add("AveragePool", {x}, windows.attributes));
    return;
  }
  for (std::size_t d = 0; d < windows.rows.size(); ++d) {
    x = means(call, x, windows.rows[d], static_cast<std::int64_t>(2 + d));
  }
  setPooled(call, x);
}

void lowerAdaptiveMax(CallLowering &call) {
  TensorId x = batched(call, call.tensor(0));
  AdaptiveWindows windows = adaptiveWindows(call, x);
  setPooled(call, windows.areEqual ? maxPool(call, x, windows.attributes)
                                   : greatest(call, x, windows.rows));
  if (call.isWanted(1)) {
    setPooled(call, placesOfGreatest(call, x, windows.rows), 1);
  }
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
