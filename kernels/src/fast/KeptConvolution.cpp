#include "KeptConvolution.hpp"

#include "PlanHelpers.hpp"

#include <algorithm>

namespace kernels {

bool isKeptConvolution(const Signature &signature) {
  const OperandSpec &weights = signature.inputs[1];
  return isAllFloat(signature) && weights.isKept && weights.shape.size() == 4 &&
         isLayoutFor(Layout::WeightsOut16, weights.shape) &&
         signature.attributes.getInt("groups") == 1 &&
         std::all_of(signature.inputs.begin() + 2, signature.inputs.end(),
                     [](const OperandSpec &bias) { return bias.isRowMajor(); });
}

std::vector<Layout> keptConvolutionLayouts(const Signature &signature,
                                           Layout image) {
  std::vector layouts{image, Layout::WeightsOut16, Layout::ChannelBlocked16};
  if (signature.inputs.size() == 3) { // a bias
    layouts.insert(layouts.begin() + 2, Layout::Plain);
  }
  return layouts;
}

} // namespace kernels
