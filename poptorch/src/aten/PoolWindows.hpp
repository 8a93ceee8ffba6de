// Windows over the field of an image [N, C, ...], each with elements of its
// own: what pools are where PopART's windows of equal stride do not do.
#pragma once

#include "Parts.hpp"

namespace poptorch {

// The dimensions that are pooled over: "..._pool2d..." has two.
std::size_t fieldRank(const CallLowering &call);
// torch allows an input without a batch dimension.
popart::TensorId batched(CallLowering &call, const popart::TensorId &x);

// Along one dimension, where each window's elements are. All have as many: the
// last one stands for those that are missing.
struct WindowRow {
  std::int64_t size = 0;         // of the dimension
  std::int64_t most = 0;         // elements that a window has
  std::vector<Ints> places = {}; // by window

  void add(Ints window);
};

// Windows of a kernel, those elements that lie in the image.
WindowRow kernelRow(std::int64_t size, std::int64_t windows,
                    std::int64_t kernel, std::int64_t stride,
                    std::int64_t padding, std::int64_t dilation);
// As many windows as are wanted, which cover everything.
WindowRow adaptiveRow(std::int64_t size, std::int64_t windows);

// The greatest element of each window, and where it is in the flattened field;
// both [N, C, windows of the first dimension, ...].
popart::TensorId greatest(CallLowering &call, const popart::TensorId &x,
                          const std::vector<WindowRow> &rows);
popart::TensorId placesOfGreatest(CallLowering &call, const popart::TensorId &x,
                                  const std::vector<WindowRow> &rows);
// Means over windows of one dimension of x.
popart::TensorId means(CallLowering &call, const popart::TensorId &x,
                       const WindowRow &row, std::int64_t dim);

} // namespace poptorch
