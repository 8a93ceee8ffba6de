// Every kind, each defined in the file of its family; KindList.cpp lists them.
#pragma once

#include <kernels/Kind.hpp>

namespace kernels {

const Kind &adamUpdateKind();
const Kind &attentionKind();
const Kind &batchNormGradKind();
const Kind &batchNormKind();
const Kind &choleskyKind();
const Kind &convolutionDataGradKind();
const Kind &convolutionKind();
const Kind &convolutionWeightGradKind();
const Kind &cumulateKind();
const Kind &ctcBeamSearchKind();
const Kind &ctcLossKind();
const Kind &dropoutKind();
const Kind &dynamicSliceKind();
const Kind &dynamicUpdateKind();
const Kind &elementwiseKind();
const Kind &fillKind();
const Kind &floatControlKind();
const Kind &fromQuarterKind();
const Kind &groupNormGradKind();
const Kind &groupNormKind();
const Kind &hasNanKind();
const Kind &histogramKind();
const Kind &iotaKind();
const Kind &gruGradKind();
const Kind &gruKind();
const Kind &gruWeightGradKind();
const Kind &labelLossKind();
const Kind &logSoftmaxGradKind();
const Kind &logSoftmaxKind();
const Kind &lstmGradKind();
const Kind &lstmKind();
const Kind &lstmWeightGradKind();
const Kind &matmulKind();
const Kind &maxPoolGradKind();
const Kind &maxPoolKind();
const Kind &nextSeedKind();
const Kind &nllLossGradKind();
const Kind &nllLossKind();
const Kind &normParamGradKind();
const Kind &normStatisticsGradKind();
const Kind &normStatisticsKind();
const Kind &oneHotKind();
const Kind &poolGradKind();
const Kind &poolKind();
const Kind &randomKind();
const Kind &reduceKind();
const Kind &rmspropUpdateKind();
const Kind &roundHalfKind();
const Kind &roundingControlKind();
const Kind &sequenceSliceKind();
const Kind &sgdUpdateKind();
const Kind &softmaxGradKind();
const Kind &softmaxKind();
const Kind &splineBasisKind();
const Kind &splineWeightingKind();
const Kind &toQuarterKind();
const Kind &topKKind();
const Kind &triangularMaskKind();
const Kind &triangularSolveKind();

} // namespace kernels
