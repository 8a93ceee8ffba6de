// The shapes of pooling and group normalisation as the loops want them, for any
// layout of the images.
#pragma once

#include "kinds/PoolShape.hpp"
#include "loops/Loops.hpp"

#include <kernels/Signature.hpp>

namespace kernels {

inline PoolLoops::Plane planeOf(const PoolShape &shape) {
  return {.inRows = shape.in[0],
          .inColumns = shape.in[1],
          .outRows = shape.out[0],
          .outColumns = shape.out[1],
          .kernelRows = shape.kernel[0],
          .kernelColumns = shape.kernel[1],
          .strideRows = shape.strides[0],
          .strideColumns = shape.strides[1],
          .padRows = shape.padLower[0],
          .padColumns = shape.padLower[1],
          .hasRelu = shape.hasRelu};
}

struct NormShape {
  std::int64_t batch, channels, groups, size; // size: elements of a channel

  NormLoops::Group group() const { return {channels / groups, size}; }
  std::int64_t sample() const { return channels * size; }
};

// Of operand `x` of a group normalisation or its gradient.
inline NormShape normShape(const Signature &signature, std::size_t x) {
  const auto &shape = signature.operand(x).shape;
  return {shape[0], shape[1], signature.attributes.getInt("groups"),
          support::elementCount(std::span(shape).subspan(2))};
}

} // namespace kernels
