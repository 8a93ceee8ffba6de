// HALF through the FLOAT kernels: operands are converted on the way in, results
// rounded on the way out, which is what the kinds say HALF means.
#pragma once

#include <kernels/KernelEntry.hpp>

#include <memory>

namespace kernels {

using PlanFunction = std::unique_ptr<Plan> (*)(const Signature &);

// A plan that runs `plan` on FLOAT copies of the HALF operands, whatever their
// strides; null where there is no HALF operand and where `plan` does not take
// the call.
std::unique_ptr<Plan> makeHalfPlan(const Signature &signature,
                                   PlanFunction plan);

template <PlanFunction plan>
std::unique_ptr<Plan> planAsFloat(const Signature &signature) {
  return makeHalfPlan(signature, plan);
}

} // namespace kernels
