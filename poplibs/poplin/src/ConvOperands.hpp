// Shapes and types of the operands of convolutions, as parameters give them.
#pragma once

#include <poplin/ConvParams.hpp>

#include <kernels/Attributes.hpp>
#include <poplar/Tensor.hpp>

#include <vector>

namespace poplin::internal {

std::vector<std::size_t> convInputShape(const ConvParams &params);
std::vector<std::size_t> convWeightsShape(const ConvParams &params);
std::vector<std::size_t> convOutputShape(const ConvParams &params);

// Throws poplibs_error, naming function and operand, for another shape or type.
void checkConvOperand(const char *function, const char *operand,
                      const poplar::Tensor &tensor,
                      const std::vector<std::size_t> &shape,
                      const poplar::Type &type);

// Lets a kind give results of another type than that of its operands.
void setOutputType(kernels::Attributes &attributes, const poplar::Type &input,
                   const poplar::Type &output);

} // namespace poplin::internal
