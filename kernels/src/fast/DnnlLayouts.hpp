// Between oneDNN's memory descriptors and our layouts, and windows onto parts
// of operands in either.
#pragma once

#include "Dnnl.hpp"

#include <kernels/KernelEntry.hpp>

namespace kernels {

// The blocked layout of an image [N,C,field...] or of weights [O,I,field...]
// that `desc` describes; Plain when it describes none. Descriptors of weights
// have a dimension more when there are groups.
Layout imageLayoutOf(const dnnl::memory::desc &desc, const Shape &shape);
Layout weightLayoutOf(const dnnl::memory::desc &desc, const Shape &shape);

// Whether an operand need not be reordered where `wanted` is wanted; a plain
// one is left to the plan.
inline bool agrees(const OperandSpec &operand, Layout wanted) {
  return operand.layout == Layout::Plain || operand.layout == wanted;
}

// Indices of the first two dimensions: samples and channels of an image, output
// and input channels of weights.
struct Part {
  ShardRange first, second;

  static Part whole(const Shape &shape) {
    return {{0, shape[0]}, {0, shape[1]}};
  }
  Shape shapeIn(Shape shape) const {
    shape[0] = first.end - first.begin;
    shape[1] = second.end - second.begin;
    return shape;
  }
};

// The element at which the part begins, and one past its last. Strides must be
// positive, parts begin and end at the borders of blocks.
ShardRange elementsOf(const OperandSpec &operand, const Part &part);

// A part of an image. `inside` describes it where it lies dense in the
// operand's layout.
dnnl::memory::desc imageDesc(const OperandSpec &operand, const Part &part,
                             const dnnl::memory::desc &inside);

// A part of the weights, of `groups` groups if it is whole. A part of weights
// in a blocked layout must be dense.
dnnl::memory::desc weightDesc(const OperandSpec &operand, const Part &part,
                              std::int64_t groups,
                              const dnnl::memory::desc &inside);

} // namespace kernels
