// Operations that keep all elements of their input, in another order or shape,
// read backwards: the layout of their output decides that of their input.
#pragma once

#include <poplar/Tensor.hpp>

namespace popart {

class Op;

// Whether unwindView knows the operation.
bool isUnwindableView(const Op &op);

// The input whose view by the operation is `output`.
poplar::Tensor unwindView(const Op &op, const poplar::Tensor &output);

} // namespace popart
