// The geometry of a two-dimensional pooling, read from the attributes.
#pragma once

#include <kernels/Signature.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace kernels {

struct PoolShape {
  using Pair = std::array<std::int64_t, 2>; // height, width

  // With a ReLU: the index where no element of the window is positive, so that
  // the gradient goes nowhere.
  static constexpr std::uint8_t noPosition = 255;

  std::int64_t batch = 0;
  std::int64_t channels = 0;
  Pair in{}, kernel{}, out{};
  Pair strides{}, padLower{}, padUpper{};
  bool hasRelu = false; // applied before pooling

  Shape inputShape() const { return {batch, channels, in[0], in[1]}; }
  Shape outputShape() const { return {batch, channels, out[0], out[1]}; }
};

// Throws std::invalid_argument for parameters that make no sense, such as a
// window without any element or one too large for an 8-bit index.
PoolShape poolShape(std::string_view kind, const Attributes &attributes,
                    const Shape &x);

} // namespace kernels
