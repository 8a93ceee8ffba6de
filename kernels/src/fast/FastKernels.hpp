// The fast implementations of each kind, best first; defined beside their plans
// and named by the kinds.
#pragma once

#include <kernels/KernelEntry.hpp>

#include <span>

namespace kernels {

std::span<const KernelEntry> adamUpdateKernels();
std::span<const KernelEntry> attentionKernels();
std::span<const KernelEntry> batchNormGradKernels();
std::span<const KernelEntry> batchNormKernels();
std::span<const KernelEntry> choleskyKernels();
std::span<const KernelEntry> convolutionDataGradKernels();
std::span<const KernelEntry> convolutionKernels();
std::span<const KernelEntry> convolutionWeightGradKernels();
std::span<const KernelEntry> cumulateKernels();
std::span<const KernelEntry> ctcLossKernels();
std::span<const KernelEntry> dropoutKernels();
std::span<const KernelEntry> dynamicSliceKernels();
std::span<const KernelEntry> dynamicUpdateKernels();
std::span<const KernelEntry> elementwiseKernels();
std::span<const KernelEntry> fillKernels();
std::span<const KernelEntry> fromQuarterKernels();
std::span<const KernelEntry> groupNormGradKernels();
std::span<const KernelEntry> groupNormKernels();
std::span<const KernelEntry> hasNanKernels();
std::span<const KernelEntry> iotaKernels();
std::span<const KernelEntry> gruGradKernels();
std::span<const KernelEntry> gruKernels();
std::span<const KernelEntry> gruWeightGradKernels();
std::span<const KernelEntry> labelLossKernels();
std::span<const KernelEntry> logSoftmaxGradKernels();
std::span<const KernelEntry> logSoftmaxKernels();
std::span<const KernelEntry> lstmGradKernels();
std::span<const KernelEntry> lstmKernels();
std::span<const KernelEntry> lstmWeightGradKernels();
std::span<const KernelEntry> matmulKernels();
std::span<const KernelEntry> maxPoolGradKernels();
std::span<const KernelEntry> maxPoolKernels();
std::span<const KernelEntry> nllLossGradKernels();
std::span<const KernelEntry> nllLossKernels();
std::span<const KernelEntry> normParamGradKernels();
std::span<const KernelEntry> normStatisticsGradKernels();
std::span<const KernelEntry> normStatisticsKernels();
std::span<const KernelEntry> oneHotKernels();
std::span<const KernelEntry> poolGradKernels();
std::span<const KernelEntry> poolKernels();
std::span<const KernelEntry> randomKernels();
std::span<const KernelEntry> reduceKernels();
std::span<const KernelEntry> rmspropUpdateKernels();
std::span<const KernelEntry> roundHalfKernels();
std::span<const KernelEntry> sgdUpdateKernels();
std::span<const KernelEntry> softmaxGradKernels();
std::span<const KernelEntry> softmaxKernels();
std::span<const KernelEntry> splineBasisKernels();
std::span<const KernelEntry> splineWeightingKernels();
std::span<const KernelEntry> toQuarterKernels();
std::span<const KernelEntry> topKKernels();
std::span<const KernelEntry> triangularMaskKernels();
std::span<const KernelEntry> triangularSolveKernels();

} // namespace kernels
