// Normalisations of images in blocks of channels: part of the table of
// Loops.hpp.
#pragma once

#include <cstdint>

namespace kernels {

// Normalisations of sixteen channels side by side (Layout::ChannelBlocked16):
// `pixels` of them in each of `samples` samples. All pointers but those to
// images are to sixteen floats.
struct NormBlockLoops {
  struct Block {
    std::int64_t samples, sampleStride, pixels;
  };
  void (*statistics)(const Block &block, const float *x, float epsilon,
                     float *mean, float *invStdDev);
  // Per channel the sums of dy * (x - mean) and of dy.
  void (*sums)(const Block &block, const float *dy, const float *x,
               const float *mean, float *products, float *gradients);
  // y = x * factor + shift
  void (*affine)(const Block &block, const float *x, const float *factor,
                 const float *shift, float *y);
  // dx = dy * byDy + x * byX + shift
  void (*combine)(const Block &block, const float *dy, const float *x,
                  const float *byDy, const float *byX, const float *shift,
                  float *dx);
};

} // namespace kernels
