#include "ConvolutionShape.hpp"

#include "Rules.hpp"

#include <algorithm>

namespace kernels {

namespace {

ConvolutionShape::Pair pairOf(std::string_view kind,
                              const Attributes &attributes,
                              std::string_view name, std::int64_t least) {
  const auto &values = requireInts(kind, attributes, name, 2, least);
  return {values[0], values[1]};
}

} // namespace

ConvolutionShape convolutionShape(std::string_view kind,
                                  const Attributes &attributes, const Shape &x,
                                  const Shape &w) {
  require(x.size() == 4 && w.size() == 4,
          "[{}] x has shape {} and w {}; the ranks must be 4", kind,
          support::toString(x), support::toString(w));
  ConvolutionShape shape;
  shape.batch = x[0];
  shape.inChannels = x[1];
  shape.in = {x[2], x[3]};
  shape.outChannels = w[0];
  shape.kernel = {w[2], w[3]};
  shape.groups = attributes.getInt("groups");
  shape.strides = pairOf(kind, attributes, "strides", 1);
  shape.padLower = pairOf(kind, attributes, "padLower", 0);
  shape.padUpper = pairOf(kind, attributes, "padUpper", 0);
  shape.dilations = pairOf(kind, attributes, "dilations", 1);
  require(shape.groups >= 1 && shape.inChannels % shape.groups == 0 &&
              shape.outChannels % shape.groups == 0,
          "[{}] groups is {}; it must divide the {} input and {} output "
          "channels",
          kind, shape.groups, shape.inChannels, shape.outChannels);
  require(w[1] == shape.inChannelsPerGroup(),
          "[{}] w has shape {}; its dimension 1 must be {}, the input "
          "channels of a group",
          kind, support::toString(w), shape.inChannelsPerGroup());
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t padded =
        shape.in[d] + shape.padLower[d] + shape.padUpper[d];
    const std::int64_t window = (shape.kernel[d] - 1) * shape.dilations[d] + 1;
    require(shape.kernel[d] >= 1 && window <= padded,
            "[{}] the kernel spans {} in spatial dimension {}; the padded "
            "input has {}",
            kind, window, d, padded);
    shape.out[d] = (padded - window) / shape.strides[d] + 1;
  }
  return shape;
}

} // namespace kernels
