// The geometry of a two-dimensional convolution and of its gradients, read from
// the attributes and checked once.
#pragma once

#include <kernels/Signature.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace kernels {

struct ConvolutionShape {
  using Pair = std::array<std::int64_t, 2>; // height, width

  std::int64_t batch = 0;
  std::int64_t inChannels = 0;
  std::int64_t outChannels = 0;
  std::int64_t groups = 1;
  Pair in{}, kernel{}, out{};
  Pair strides{}, padLower{}, padUpper{}, dilations{};

  std::int64_t inChannelsPerGroup() const { return inChannels / groups; }
  std::int64_t outChannelsPerGroup() const { return outChannels / groups; }

  Shape inputShape() const { return {batch, inChannels, in[0], in[1]}; }
  Shape weightShape() const {
    return {outChannels, inChannelsPerGroup(), kernel[0], kernel[1]};
  }
  Shape outputShape() const { return {batch, outChannels, out[0], out[1]}; }
};

// Of a forward convolution, or of a gradient whose attributes complete the
// shapes. Throws std::invalid_argument with the kind's name for parameters that
// make no sense.
ConvolutionShape convolutionShape(std::string_view kind,
                                  const Attributes &attributes, const Shape &x,
                                  const Shape &w);

} // namespace kernels
