// Convolutions and matrix products planned together before they are built.
#pragma once

#include <poplin/Convolution.hpp>
#include <poplin/MatMul.hpp>

#include <set>

namespace poplin {

void preplan(const std::set<ConvPlanParams> &convs,
             const std::set<MatMulPlanParams> &matmuls, PlanningCache &cache);

} // namespace poplin
