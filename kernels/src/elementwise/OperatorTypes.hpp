// Which types an element-wise operator takes and gives: the type rules of
// expressions, step by step.
#pragma once

#include <kernels/Expression.hpp>

#include <span>
#include <vector>

namespace kernels::elementwise {

// Whether the operator's row of ElementwiseOps.def has a cost for the type.
bool takesType(const ElementwiseOpInfo &info, support::DataType type);

// See Expression::stepTypes.
std::vector<support::DataType>
inferStepTypes(std::span<const ExpressionStep> steps,
               std::span<const support::DataType> inputs);

} // namespace kernels::elementwise
