// The geometry that all normalisations share: activations as [outer, rows,
// channels, size], a statistic for each outer index and channel, taken over
// rows and size.
#pragma once

#include <kernels/Signature.hpp>

#include <cstdint>

namespace kernels {

struct NormRows {
  std::int64_t outer = 1, rows = 1, channels = 1, size = 1;

  std::int64_t statistics() const { return outer * channels; }
  std::int64_t count() const { return rows * size; } // of a statistic
  std::int64_t rowStride() const { return channels * size; }
  std::int64_t elements() const { return outer * rows * rowStride(); }
};

// Of [outer, rows, channels, size].
inline NormRows normRows(const Shape &shape) {
  return {shape[0], shape[1], shape[2], shape[3]};
}

// Of [batch, channels, field...] with a statistic per channel.
inline NormRows batchNormRows(const Shape &shape) {
  return {1, shape[0], shape[1],
          support::elementCount(std::span(shape).subspan(2))};
}

} // namespace kernels
