// Every operation there is.
#include <ops/List.hpp>

#include <ops/HostFunction.hpp>
#include <ops/Variants.hpp>

#include <map>
#include <utility>

namespace popart {
namespace {

using Key = std::pair<std::string, std::string>;

std::map<Key, OpRule> makeRules() {
  std::vector<OpRule> (*const families[])() = {
      accumulateRules,
      averagePoolRules,
      batchNormRules,
      callRules,
      castRules,
      classLossRules,
      concatRules,
      convRules,
      convTransposeRules,
      ctcRules,
      cumSumRules,
      customGradientRules,
      depthToSpaceRules,
      detRules,
      dropoutRules,
      dynamicSliceRules,
      einsumRules,
      expressionRules,
      formulaRules,
      gatherNdRules,
      gatherRules,
      gemmRules,
      graphcoreLstmRules,
      groupedGatherRules,
      groupNormRules,
      gruRules,
      hostFunctionRules,
      identityLossRules,
      ifRules,
      initRules,
      ipuCopyRules,
      l1LossRules,
      loopRules,
      lossRules,
      lrnRules,
      lstmRules,
      matMulRules,
      maxPoolRules,
      normalisationRules,
      oneHotRules,
      optimizerStepRules,
      packedDataBlockRules,
      padRules,
      poplibsRules,
      positionRules,
      printTensorRules,
      quantiseRules,
      randomRules,
      reduceRules,
      remoteRules,
      repeatRules,
      replicaReduceRules,
      replicatedCollectiveRules,
      resizeRules,
      rnnRules,
      roiAlignRules,
      scaledAddRules,
      scatterReduceRules,
      scatterRules,
      shapeRules,
      sliceRules,
      softmaxRules,
      sortRules,
      stashRules,
      subsampleRules,
      topKRules,
      updateRules,
      variadicRules,
      viewRules,
  };
  std::map<Key, OpRule> rules;
  for (auto *family : families) {
    for (OpRule &rule : family()) {
      Key key{rule.domain, rule.type};
      rules.emplace(std::move(key), std::move(rule));
    }
  }
  return rules;
}

const std::map<Key, OpRule> &rules() {
  static const std::map<Key, OpRule> all = makeRules();
  return all;
}

} // namespace

const OpRule *findOpRule(const OperatorIdentifier &opid) {
  auto found = rules().find({opid.domain, opid.type});
  if (found == rules().end() && opid.domain == "ai.graphcore") {
    found = rules().find(computedByVariant(opid.type));
  }
  return found == rules().end() ? nullptr : &found->second;
}

std::vector<const OpRule *> allOpRules() {
  std::vector<const OpRule *> all;
  for (const auto &[key, rule] : rules()) {
    all.push_back(&rule);
  }
  return all;
}

} // namespace popart
