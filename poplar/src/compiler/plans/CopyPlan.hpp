// Copies between strided windows and between layouts.
#pragma once

#include <kernels/KernelEntry.hpp>

#include <memory>

namespace poplar::compiler {

// Operand 0 is the source, operand 1 the target; equal shapes and element
// sizes. At most one of the two has a layout other than Plain.
std::unique_ptr<kernels::Plan> makeCopyPlan(const kernels::OperandSpec &source,
                                            const kernels::OperandSpec &target);

} // namespace poplar::compiler
