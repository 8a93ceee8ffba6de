#include "ConvolutionShape.hpp"

#include "Rules.hpp"

namespace kernels {

ConvolutionShape convolutionShape(std::string_view kind,
                                  const Attributes &attributes, const Shape &x,
                                  const Shape &w) {
  require(x.size() >= 3 && w.size() == x.size(),
          "[{}] x has shape {} and w {}; both must have the same rank, at "
          "least 3",
          kind, support::toString(x), support::toString(w));
  const std::size_t dims = x.size() - 2;
  ConvolutionShape shape;
  shape.batch = x[0];
  shape.inChannels = x[1];
  shape.in.assign(x.begin() + 2, x.end());
  shape.outChannels = w[0];
  shape.kernel.assign(w.begin() + 2, w.end());
  shape.groups = attributes.getInt("groups");
  shape.strides = requireInts(kind, attributes, "strides", dims, 1);
  shape.padLower = requireInts(kind, attributes, "padLower", dims, 0);
  shape.padUpper = requireInts(kind, attributes, "padUpper", dims, 0);
  shape.dilations = requireInts(kind, attributes, "dilations", dims, 1);
  require(shape.groups >= 1 && shape.inChannels % shape.groups == 0 &&
              shape.outChannels % shape.groups == 0,
          "[{}] groups is {}; it must divide the {} input and {} output "
          "channels",
          kind, shape.groups, shape.inChannels, shape.outChannels);
  require(w[1] == shape.inChannelsPerGroup(),
          "[{}] w has shape {}; its dimension 1 must be {}, the input "
          "channels of a group",
          kind, support::toString(w), shape.inChannelsPerGroup());
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t padded =
        shape.in[d] + shape.padLower[d] + shape.padUpper[d];
    const std::int64_t window = (shape.kernel[d] - 1) * shape.dilations[d] + 1;
    require(shape.kernel[d] >= 1 && window <= padded,
            "[{}] the kernel spans {} in spatial dimension {}; the padded "
            "input has {}",
            kind, window, d, padded);
    shape.out.push_back((padded - window) / shape.strides[d] + 1);
  }
  return shape;
}

} // namespace kernels
