// The rules of all operations, a function for each file of this folder.
#pragma once

#include <ops/OpRule.hpp>

#include <vector>

namespace popart {

std::vector<OpRule> accumulateRules();
std::vector<OpRule> averagePoolRules();
std::vector<OpRule> batchNormRules();
std::vector<OpRule> callRules();
std::vector<OpRule> castRules();
std::vector<OpRule> classLossRules();
std::vector<OpRule> concatRules();
std::vector<OpRule> convRules();
std::vector<OpRule> convTransposeRules();
std::vector<OpRule> ctcRules();
std::vector<OpRule> cumSumRules();
std::vector<OpRule> customGradientRules();
std::vector<OpRule> depthToSpaceRules();
std::vector<OpRule> detRules();
std::vector<OpRule> dropoutRules();
std::vector<OpRule> dynamicSliceRules();
std::vector<OpRule> einsumRules();
std::vector<OpRule> expressionRules();
std::vector<OpRule> formulaRules();
std::vector<OpRule> gatherNdRules();
std::vector<OpRule> gatherRules();
std::vector<OpRule> gemmRules();
std::vector<OpRule> graphcoreLstmRules();
std::vector<OpRule> groupedGatherRules();
std::vector<OpRule> groupNormRules();
std::vector<OpRule> gruRules();
std::vector<OpRule> identityLossRules();
std::vector<OpRule> ifRules();
std::vector<OpRule> initRules();
std::vector<OpRule> ipuCopyRules();
std::vector<OpRule> l1LossRules();
std::vector<OpRule> loopRules();
std::vector<OpRule> lossRules();
std::vector<OpRule> lrnRules();
std::vector<OpRule> lstmRules();
std::vector<OpRule> matMulRules();
std::vector<OpRule> maxPoolRules();
std::vector<OpRule> normalisationRules();
std::vector<OpRule> oneHotRules();
std::vector<OpRule> optimizerStepRules();
std::vector<OpRule> packedDataBlockRules();
std::vector<OpRule> padRules();
std::vector<OpRule> poplibsRules();
std::vector<OpRule> positionRules();
std::vector<OpRule> printTensorRules();
std::vector<OpRule> quantiseRules();
std::vector<OpRule> randomRules();
std::vector<OpRule> reduceRules();
std::vector<OpRule> remoteRules();
std::vector<OpRule> repeatRules();
std::vector<OpRule> replicaReduceRules();
std::vector<OpRule> replicatedCollectiveRules();
std::vector<OpRule> resizeRules();
std::vector<OpRule> rnnRules();
std::vector<OpRule> roiAlignRules();
std::vector<OpRule> scaledAddRules();
std::vector<OpRule> scatterReduceRules();
std::vector<OpRule> scatterRules();
std::vector<OpRule> shapeRules();
std::vector<OpRule> sliceRules();
std::vector<OpRule> softmaxRules();
std::vector<OpRule> sortRules();
std::vector<OpRule> stashRules();
std::vector<OpRule> subsampleRules();
std::vector<OpRule> topKRules();
std::vector<OpRule> updateRules();
std::vector<OpRule> variadicRules();
std::vector<OpRule> viewRules();

} // namespace popart
