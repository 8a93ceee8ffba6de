// Some pixels of sixteen channels stay in registers while what is in their
// windows is broadcast over rows of the weights. Each element is one chain of
// products.
#include "FewChannelConvolutionLoops.hpp"

#include "Lanes.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Field = FewChannelConvolutionLoops::Field;
using Sums = FewChannelConvolutionLoops::Sums;

// As many sums as registers hold beside weights and an element.
#ifdef __AVX__
constexpr int tilePixels = 6;
#else
constexpr int tilePixels = 2;
#endif

template <int Pixels>
void multiplyTile(const Field &field, const Sums &s, std::int64_t first) {
  const float *windows[Pixels];
  Lanes sums[Pixels];
#pragma GCC unroll 6
  for (int p = 0; p < Pixels; ++p) {
    windows[p] = s.image + field.windows[first + p];
    sums[p] = s.bias == nullptr ? Lanes{} : loadLanes(s.bias);
  }
  for (std::int64_t product = 0; product < field.products; ++product) {
    const std::int64_t place = field.places[product];
    Lanes row = loadLanes(s.weights + product * laneCount);
    keepInRegister(row);
#pragma GCC unroll 6
    for (int p = 0; p < Pixels; ++p) {
      sums[p] += broadcast(windows[p][place]) * row;
    }
  }
#pragma GCC unroll 6
  for (int p = 0; p < Pixels; ++p) {
    storeLanes(s.result + (first + p) * laneCount,
               s.hasRelu ? choose(sums[p] < 0, Lanes{}, sums[p]) : sums[p]);
  }
}

void multiply(const Field &field, const Sums &sums) {
  std::int64_t pixel = 0;
  for (; pixel + tilePixels <= field.pixels; pixel += tilePixels) {
    multiplyTile<tilePixels>(field, sums, pixel);
  }
  for (; pixel < field.pixels; ++pixel) {
    multiplyTile<1>(field, sums, pixel);
  }
}

} // namespace

FewChannelConvolutionLoops fewChannelConvolutionLoops() {
  return {multiply};
}

} // namespace kernels::loops::LOOPS_LEVEL
