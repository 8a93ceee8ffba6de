// The backward pass as a step of the pipeline of passes.
#include <transforms/Passes.hpp>

#include <autodiff/Autodiff.hpp>

namespace popart {

void differentiateLoss(PassContext &context) {
  if (context.ir.isTraining()) {
    differentiate(context.ir);
  }
}

} // namespace popart
