// The geometry of a convolution or of one of its gradients that is to be
// planned, whichever of the shapes its operands tell.
#pragma once

#include "kinds/ConvolutionShape.hpp"

namespace kernels {

inline ConvolutionShape forwardShape(const Signature &signature) {
  return convolutionShape("convolution", signature.attributes,
                          signature.inputs[0].shape, signature.inputs[1].shape);
}

inline ConvolutionShape dataGradShape(const Signature &signature) {
  return convolutionShape("convolutionDataGrad", signature.attributes,
                          signature.outputs[0].shape,
                          signature.inputs[1].shape);
}

inline ConvolutionShape weightGradShape(const Signature &signature) {
  return convolutionShape("convolutionWeightGrad", signature.attributes,
                          signature.inputs[1].shape,
                          signature.outputs[0].shape);
}

} // namespace kernels
