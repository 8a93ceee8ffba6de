// The geometry of a convolution over any number of field dimensions and of its
// gradients, read from the attributes and checked once.
#pragma once

#include <kernels/Signature.hpp>

#include <cstdint>
#include <string_view>

namespace kernels {

struct ConvolutionShape {
  std::int64_t batch = 0;
  std::int64_t inChannels = 0;
  std::int64_t outChannels = 0;
  std::int64_t groups = 1;
  // One number per dimension of the field, for example height and width.
  Shape in, kernel, out;
  Shape strides, padLower, padUpper, dilations;

  std::int64_t inChannelsPerGroup() const { return inChannels / groups; }
  std::int64_t outChannelsPerGroup() const { return outChannels / groups; }

  Shape inputShape() const { return joined(batch, inChannels, in); }
  Shape weightShape() const {
    return joined(outChannels, inChannelsPerGroup(), kernel);
  }
  Shape outputShape() const { return joined(batch, outChannels, out); }

  // Products summed into the outputs, padding included.
  std::int64_t products() const {
    return support::elementCount(outputShape()) * inChannelsPerGroup() *
           support::elementCount(kernel);
  }

private:
  static Shape joined(std::int64_t first, std::int64_t second,
                      const Shape &field) {
    Shape shape{first, second};
    shape.insert(shape.end(), field.begin(), field.end());
    return shape;
  }
};

// Of a forward convolution, or of a gradient whose attributes complete the
// shapes. Throws std::invalid_argument with the kind's name for parameters that
// make no sense.
ConvolutionShape convolutionShape(std::string_view kind,
                                  const Attributes &attributes, const Shape &x,
                                  const Shape &w);

} // namespace kernels
