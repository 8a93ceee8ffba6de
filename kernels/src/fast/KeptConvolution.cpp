#include "KeptConvolution.hpp"

#include "PlanHelpers.hpp"
#include "loops/Loops.hpp"

#include <algorithm>
#include <string_view>

namespace kernels {

bool isKeptConvolution(const Signature &signature) {
  const std::string_view level = selectedLoops().level;
  const OperandSpec &weights = signature.inputs[1];
  return level != "v4" && isAllFloat(signature) && weights.isKept &&
         weights.shape.size() == 4 &&
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
