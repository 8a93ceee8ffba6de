#include "SessionOptionsTable.hpp"

#include "Error.hpp"

#include <fmt/format.h>

#include <functional>

namespace poptorch {
namespace {

using popart::SessionOptions;
using Strings = std::map<std::string, std::string>;
using Setter = std::function<void(SessionOptions &, const PopartOption &)>;

// The documented names by the type of their value. The value of most has no
// bearing on an emulated machine; those that have one are in setters().
const std::map<std::string, std::vector<const char *>> &knownNames() {
  static const std::map<std::string, std::vector<const char *>> names = {
      {"bool",
       {"enableExplicitIR",
        "enableInplaceAmbiguityChecking",
        "enableLoadAndOffloadRNGState",
        "batchSerializationSettings.concatOnVirtualGraphChange",
        "batchSerializationSettings.concatOnExecutionPhaseChange",
        "batchSerializationSettings.concatOnPipelineStageChange",
        "strictOpVersions",
        "opxAliasChecking",
        "opxModifyChecking",
        "dotOpNames",
        "exportPoplarComputationGraph",
        "exportPoplarVertexGraph",
        "separateCallOpPdfs",
        "enableOutlining",
        "enableOutliningCopyCostPruning",
        "rearrangeAnchorsOnHost",
        "rearrangeStreamsOnHost",
        "enablePrefetchDatastreams",
        "enableNonStableSoftmax",
        "enableReplicatedGraphs",
        "enableGradientAccumulation",
        "instrumentWithHardwareCycleCounter",
        "enablePipelining",
        "disableGradAccumulationTensorStreams",
        "disableOptimizerStateTensorStreams",
        "compileEngine",
        "constantWeights",
        "enableEngineCaching",
        "enableMergeExchange",
        "enableFloatingPointChecks",
        "enableStochasticRounding",
        "ensureFp32LossScaleTensor",
        "explicitRecomputation",
        "enableExplicitMainLoops",
        "useHostCopyOps",
        "aliasZeroCopy",
        "delayVarUpdates",
        "enableFullyConnectedPass",
        "enableSerializedMatmuls",
        "enableStableNorm",
        "decomposeGradSum",
        "enableDistributedReplicatedGraphs",
        "groupHostSync",
        "automaticLossScalingSettings.enabled",
        "enableSupportedDataTypeCasting",
        "groupNormStridedChannelGrouping",
        "scheduleNonWeightUpdateGradientConsumersEarly",
        "replicatedCollectivesSettings.prepareScheduleForMergingCollectives",
        "replicatedCollectivesSettings.mergeAllReduceCollectives"}},
      {"uint64",
       {"executionPhaseSettings.phases",
        "executionPhaseSettings.stages",
        "batchSerializationSettings.factor",
        "firstDotOp",
        "finalDotOp",
        "numIOTiles",
        "mergeVarUpdateMemThreshold",
        "looseThresholdAtPeak",
        "accumulationFactor",
        "swapLimitScheduler",
        "globalReplicationFactor",
        "globalReplicaOffset",
        "defaultBufferingDepth",
        "defaultPrefetchBufferingDepth",
        "compilationProgressTotal",
        "transitiveClosureOptimizationThreshold",
        "automaticLossScalingSettings.updatePeriod",
        "autodiffSettings.stitchStrategy",
        "batchSerializationSettings.transformContext",
        "batchSerializationSettings.method",
        "batchSerializationSettings.batchSchedule",
        "autoRecomputation",
        "mergeVarUpdate",
        "virtualGraphMode",
        "syntheticDataMode",
        "subgraphCopyingStrategy",
        "accumulationAndReplicationReductionType",
        "meanAccumulationAndReplicationReductionStrategy",
        "automaticLossScalingSettings.gradientTensorTrackingMethod",
        "accumulateOuterFragmentSettings.schedule",
        "patterns_level"}},
      {"floating point",
       {"outlineSequenceBreakCost", "outlineThreshold", "timeLimitScheduler",
        "automaticLossScalingSettings.thresholdUpperCountProportion",
        "automaticLossScalingSettings.binEdgeLocation"}},
      {"string",
       {"cachePath", "partialsTypeMatMuls", "customCodeletCompileFlags",
        "serializedPoprithmsShiftGraphsDir", "kahnTieBreaker",
        "saveInitializersToFile", "logDir"}},
      {"set / vector",
       {"dotChecks", "hardwareInstrumentations", "customCodelets",
        "updatableNamedBuffers",
        "accumulateOuterFragmentSettings.excludedVirtualGraphs"}},
      {"map",
       {"engineOptions", "reportOptions", "convolutionOptions", "matmulOptions",
        "lstmOptions", "gclOptions", "patterns"}},
  };
  return names;
}

template <typename Enum>
Enum enumValue(const PopartOption &value, int count, const char *name) {
  auto number = std::get<std::int64_t>(value);
  if (number < 0 || number >= count) {
    throw Error(fmt::format("Value for {} out of range: {} is not in [0, {})",
                            name, number, count));
  }
  return static_cast<Enum>(number);
}

const std::map<std::string, Setter> &setters() {
  static const std::map<std::string, Setter> table = {
      {"enablePipelining",
       [](SessionOptions &o, const PopartOption &v) {
         o.enablePipelining = std::get<bool>(v);
       }},
      {"constantWeights",
       [](SessionOptions &o, const PopartOption &v) {
         o.constantWeights = std::get<bool>(v);
       }},
      {"autoRecomputation",
       [](SessionOptions &o, const PopartOption &v) {
         o.autoRecomputation =
             enumValue<popart::RecomputationType>(v, 5, "RecomputationType");
       }},
      {"virtualGraphMode",
       [](SessionOptions &o, const PopartOption &v) {
         o.virtualGraphMode =
             enumValue<popart::VirtualGraphMode>(v, 4, "VirtualGraphMode");
       }},
      {"accumulationAndReplicationReductionType",
       [](SessionOptions &o, const PopartOption &v) {
         o.accumulationAndReplicationReductionType =
             enumValue<popart::ReductionType>(v, 2, "ReductionType");
       }},
      {"meanAccumulationAndReplicationReductionStrategy",
       [](SessionOptions &o, const PopartOption &v) {
         o.meanAccumulationAndReplicationReductionStrategy =
             enumValue<popart::MeanReductionStrategy>(v, 2,
                                                      "MeanReductionStrategy");
       }},
      {"partialsTypeMatMuls",
       [](SessionOptions &o, const PopartOption &v) {
         o.partialsTypeMatMuls = std::get<std::string>(v);
       }},
      {"engineOptions",
       [](SessionOptions &o, const PopartOption &v) {
         o.engineOptions = std::get<Strings>(v);
       }},
      {"reportOptions",
       [](SessionOptions &o, const PopartOption &v) {
         o.reportOptions = std::get<Strings>(v);
       }},
      {"convolutionOptions",
       [](SessionOptions &o, const PopartOption &v) {
         o.convolutionOptions = std::get<Strings>(v);
       }},
      {"matmulOptions",
       [](SessionOptions &o, const PopartOption &v) {
         o.matmulOptions = std::get<Strings>(v);
       }},
  };
  return table;
}

// Options that would change values: better an error than other results.
void requireSupported(const PopartOptions &values) {
  for (const char *name : {"automaticLossScalingSettings.enabled"}) {
    auto found = values.find(name);
    if (found != values.end() && found->second == PopartOption(true)) {
      throw Error(fmt::format("Option {} is not supported yet", name));
    }
  }
}

const char *typeName(const PopartOption &value) {
  constexpr const char *names[] = {"bool",   "uint64",       "floating point",
                                   "string", "set / vector", "map"};
  return names[value.index()];
}

void requireKnown(const std::string &name, const PopartOption &value) {
  for (const char *known : knownNames().at(typeName(value))) {
    if (name == known) {
      return;
    }
  }
  throw Error(fmt::format("Unknown {} option {}", typeName(value), name));
}

} // namespace

void applyPopartOptions(const PopartOptions &values,
                        popart::SessionOptions &options) {
  if (values.count("patterns") && !values.count("patterns_level")) {
    throw Error("patterns must be set with Options._Popart.setPatterns(): "
                "patterns_level is missing");
  }
  requireSupported(values);
  for (const auto &[name, value] : values) {
    requireKnown(name, value);
    auto setter = setters().find(name);
    if (setter != setters().end()) {
      setter->second(options, value);
    }
  }
}

} // namespace poptorch
