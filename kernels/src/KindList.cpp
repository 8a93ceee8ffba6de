#include "kinds/Kinds.hpp"

#include <support/Error.hpp>

namespace kernels {

std::span<const Kind *const> allKinds() {
  static const Kind *const kinds[] = {
      &elementwiseKind(),
      &fillKind(),
      &reduceKind(),
      &dynamicSliceKind(),
      &dynamicUpdateKind(),
      &sequenceSliceKind(),
      &topKKind(),
      &cumulateKind(),
      &oneHotKind(),
      &iotaKind(),
      &hasNanKind(),
      &histogramKind(),
      &splineBasisKind(),
      &splineWeightingKind(),
      &matmulKind(),
      &convolutionKind(),
      &convolutionDataGradKind(),
      &convolutionWeightGradKind(),
      &choleskyKind(),
      &triangularMaskKind(),
      &triangularSolveKind(),
      &maxPoolKind(),
      &maxPoolGradKind(),
      &poolKind(),
      &poolGradKind(),
      &groupNormKind(),
      &groupNormGradKind(),
      &batchNormKind(),
      &batchNormGradKind(),
      &normStatisticsKind(),
      &normStatisticsGradKind(),
      &normParamGradKind(),
      &logSoftmaxKind(),
      &logSoftmaxGradKind(),
      &softmaxKind(),
      &softmaxGradKind(),
      &attentionKind(),
      &nllLossKind(),
      &nllLossGradKind(),
      &lstmKind(),
      &lstmGradKind(),
      &lstmWeightGradKind(),
      &gruKind(),
      &gruGradKind(),
      &gruWeightGradKind(),
      &labelLossKind(),
      &ctcLossKind(),
      &ctcBeamSearchKind(),
      &sgdUpdateKind(),
      &adamUpdateKind(),
      &rmspropUpdateKind(),
      &randomKind(),
      &dropoutKind(),
      &nextSeedKind(),
      &floatControlKind(),
      &roundingControlKind(),
      &roundHalfKind(),
      &toQuarterKind(),
      &fromQuarterKind(),
  };
  return kinds;
}

const Kind &findKind(std::string_view name) {
  for (const Kind *kind : allKinds()) {
    if (kind->name == name) {
      return *kind;
    }
  }
  throw support::InternalError(
      fmt::format("internal error: no kind is named '{}'", name));
}

} // namespace kernels
