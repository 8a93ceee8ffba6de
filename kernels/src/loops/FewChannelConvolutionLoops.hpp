// Convolutions of row-major images of few channels by weights in
// Layout::WeightsOut16: part of the table of Loops.hpp.
#pragma once

#include <cstdint>

namespace kernels {

struct FewChannelConvolutionLoops {
  // How windows lie in an image that has all of what they cover.
  struct Field {
    std::int64_t pixels;         // of the result
    const std::int32_t *windows; // where each pixel's begins
    std::int64_t products;       // for each element of the result
    const std::int32_t *places;  // of what is multiplied in a window
  };
  // Sixteen channels of the result.
  struct Sums {
    const float *image;
    const float *weights; // [products][16]
    const float *bias;    // null: none
    float *result;        // [pixels][16]
    bool hasRelu;
  };
  void (*multiply)(const Field &field, const Sums &sums);
};

} // namespace kernels
