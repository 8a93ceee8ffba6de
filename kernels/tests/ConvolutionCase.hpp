// Calls of "convolution" over images of two dimensions.
#pragma once

#include "KernelTesting.hpp"

namespace kernels::testing {

struct ConvolutionCase {
  std::int64_t batch, in, out;
  Shape field, kernel, strides, padLower, padUpper, dilations;

  Call call(bool hasBias, std::string activation) const;
};

} // namespace kernels::testing
