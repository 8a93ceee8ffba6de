#include "PoolShape.hpp"

#include "Rules.hpp"

namespace kernels {

namespace {

PoolShape::Pair pairOf(std::string_view kind, const Attributes &attributes,
                       std::string_view name, std::int64_t least) {
  const auto &values = requireInts(kind, attributes, name, 2, least);
  return {values[0], values[1]};
}

} // namespace

PoolShape poolShape(std::string_view kind, const Attributes &attributes,
                    const Shape &x) {
  require(x.size() == 4, "[{}] x has shape {}; its rank must be 4", kind,
          support::toString(x));
  PoolShape shape;
  shape.batch = x[0];
  shape.channels = x[1];
  shape.in = {x[2], x[3]};
  shape.kernel = pairOf(kind, attributes, "kernel", 1);
  shape.strides = pairOf(kind, attributes, "strides", 1);
  shape.padLower = pairOf(kind, attributes, "padLower", 0);
  shape.padUpper = pairOf(kind, attributes, "padUpper", 0);
  shape.hasRelu =
      requireChoice(kind, attributes, "activation", {"", "RELU"}) == "RELU";
  require(shape.kernel[0] * shape.kernel[1] <= PoolShape::noPosition,
          "[{}] kernel is {}x{}; at most {} positions are allowed", kind,
          shape.kernel[0], shape.kernel[1], PoolShape::noPosition);
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t padded =
        shape.in[d] + shape.padLower[d] + shape.padUpper[d];
    require(shape.kernel[d] <= padded,
            "[{}] kernel has {} in spatial dimension {}; the padded input has "
            "{}",
            kind, shape.kernel[d], d, padded);
    require(shape.padLower[d] < shape.kernel[d] &&
                shape.padUpper[d] < shape.kernel[d],
            "[{}] the padding of spatial dimension {} is {} and {}; each must "
            "be less than the kernel's {}",
            kind, d, shape.padLower[d], shape.padUpper[d], shape.kernel[d]);
    shape.out[d] = (padded - shape.kernel[d]) / shape.strides[d] + 1;
  }
  return shape;
}

} // namespace kernels
