// Convolutions of images in Layout::ChannelBlocked16 by weights in
// Layout::WeightsOut16: part of the table of Loops.hpp.
#pragma once

#include <cstdint>

namespace kernels {

struct BlockedConvolutionLoops {
  // One image and how windows lie in it.
  struct Field {
    std::int64_t plane;  // floats of sixteen channels of the image
    std::int64_t pixels; // of the result
    // For each tap of the kernel and pixel of the result, where the plane is
    // read: negative beyond the image, where there are zeros.
    const std::int32_t *places;
  };
  // What is summed at a time: blocks of sixteen channels of the image under
  // some taps of the kernel. Of several taps, it is all blocks.
  struct Part {
    std::int64_t firstTap, taps;
    std::int64_t firstBlock, blocks;
  };
  // Sixteen channels of the result, at pixels [begin, end).
  struct Sums {
    std::int64_t begin, end;
    const float *image;
    const float *weights; // of the part: [taps][blocks][16][16]
    float *result;        // [all pixels][16]
    const float *bias = nullptr;
    bool isAdded = false; // to the result, in place of a bias
    bool hasRelu = false;
  };
  void (*multiply)(const Field &field, const Part &part, const Sums &sums);
};

} // namespace kernels
