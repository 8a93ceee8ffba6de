// Whole kinds of poplin: matrix products and convolutions with their gradients.
// Options: availableMemoryProportion, partialsType.
#pragma once

#include <poputil/internal/KindFunction.hpp>

namespace poplin::internal {

poputil::internal::KindFunction matMul;
poputil::internal::KindFunction convolution;
poputil::internal::KindFunction convolutionDataGrad;
poputil::internal::KindFunction convolutionWeightGrad;

} // namespace poplin::internal
