// The window that convolutions and poolings move over a field: ONNX's
// attributes, with auto_pad and ceil_mode worked out.
#pragma once

#include <kernels/Attributes.hpp>
#include <popart/op.hpp>

namespace popart {

// One number for each dimension of the field.
struct Window {
  Attributes::Ints kernel;
  Attributes::Ints strides;
  Attributes::Ints dilations;
  Attributes::Ints padLower;
  Attributes::Ints padUpper;

  // The elements that the kernel covers in dimension d.
  std::int64_t extent(std::size_t d) const {
    return (kernel[d] - 1) * dilations[d] + 1;
  }
  // How many windows there are in a field of this size.
  Shape places(const Op &op, const Shape &field) const;

  // "pads" as ONNX lists them: all lower ones, then all upper ones.
  Attributes::Ints pads() const;
  // strides, dilations, padLower and padUpper for the kinds.
  kernels::Attributes kindAttributes() const;
};

// The dimensions behind the batch and the channels.
Shape fieldOf(const Shape &shape);
// The same with others in their place.
Shape withField(const Shape &shape, const Shape &field);

Window windowOf(const Op &op, const Shape &field,
                const Attributes::Ints &kernel);

} // namespace popart
