// What operators that move elements by indices share.
#pragma once

#include <kernels/Attributes.hpp>
#include <popart/op.hpp>

#include <poplar/Tensor.hpp>

#include <string>

namespace popart {

class LoweringContext;

// Throws popart::error unless the input is of a type that indexes.
void requireIndices(const Op &op, InIndex input);

// Indices that count from the end, -1 being the last of `size`, as those from
// the front.
poplar::Tensor positiveIndices(LoweringContext &context,
                               const poplar::Tensor &indices,
                               std::int64_t size);

// Of the kinds "dynamicSlice" and "dynamicUpdate", for single entries of the
// first dimension after the groups; entries outside are left out.
kernels::Attributes sliceAttributes();
kernels::Attributes updateAttributes(const std::string &operation);

// A variable where `op` is, filled with a value each time the program gets
// here.
poplar::Tensor filledVariable(LoweringContext &context, const Op &op,
                              const TensorInfo &info, double value);

} // namespace popart
