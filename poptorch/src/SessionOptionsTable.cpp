#include "SessionOptionsTable.hpp"

#include "Error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

namespace poptorch {
namespace {

using popart::SessionOptions;
using Strings = std::vector<std::string>;
using StringMap = std::map<std::string, std::string>;

// An option: what its value must be, and where it goes.
struct Entry {
  std::size_t type; // index in PopartOption
  std::function<void(SessionOptions &, const PopartOption &)> set;
};

template <typename T> constexpr std::size_t indexOf() {
  return PopartOption(std::in_place_type<T>).index();
}

// What Python hands over for a field.
template <typename Field>
using ValueOf = std::conditional_t<
    std::is_same_v<Field, bool>, bool,
    std::conditional_t<
        std::is_integral_v<Field>, std::int64_t,
        std::conditional_t<
            std::is_floating_point_v<Field>, double,
            std::conditional_t<std::is_same_v<Field, std::set<std::string>>,
                               Strings, Field>>>>;

// `field` gives the field of the options.
template <typename GetField> Entry entry(GetField field) {
  using Field = std::remove_reference_t<decltype(field(
      std::declval<SessionOptions &>()))>;
  using Value = ValueOf<Field>;
  return {indexOf<Value>(),
          [field](SessionOptions &options, const PopartOption &option) {
            const auto &value = std::get<Value>(option);
            if constexpr (std::is_arithmetic_v<Field>) {
              field(options) = static_cast<Field>(value);
            } else {
              field(options) = Field(value.begin(), value.end());
            }
          }};
}

// Enumerations come as numbers.
template <typename GetField>
Entry enumEntry(const char *name, int count, GetField field) {
  using Enum = std::remove_reference_t<decltype(field(
      std::declval<SessionOptions &>()))>;
  return {indexOf<std::int64_t>(),
          [=](SessionOptions &options, const PopartOption &option) {
            const auto number = std::get<std::int64_t>(option);
            if (number < 0 || number >= count) {
              throw Error(
                  fmt::format("Value for {} out of range: {} is not in [0, {})",
                              name, number, count));
            }
            field(options) = static_cast<Enum>(number);
          }};
}

// Names that are known and change nothing here.
template <typename Value> Entry unused() {
  return {indexOf<Value>(), [](SessionOptions &, const PopartOption &) {}};
}

void setExcludedGraphs(SessionOptions &options, const PopartOption &option) {
  auto &excluded =
      options.accumulateOuterFragmentSettings.excludedVirtualGraphs;
  excluded.clear();
  for (const auto &text : std::get<Strings>(option)) {
    int number = 0;
    const auto *end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end) {
      throw Error(fmt::format(
          "accumulateOuterFragmentSettings.excludedVirtualGraphs takes numbers "
          "of IPUs as strings, not '{}'",
          text));
    }
    excluded.push_back(number);
  }
}

void setInstrumentations(SessionOptions &options, const PopartOption &option) {
  options.hardwareInstrumentations.clear();
  for (const auto &text : std::get<Strings>(option)) {
    if (text != "0" && text != "1") {
      throw Error(fmt::format("hardwareInstrumentations takes \"0\" (Outer) "
                              "and \"1\" (Inner), not '{}'",
                              text));
    }
    options.hardwareInstrumentations.insert(
        text == "0" ? popart::Instrumentation::Outer
                    : popart::Instrumentation::Inner);
  }
}

#define FIELD(name)                                                            \
  {                                                                            \
#name, entry([](SessionOptions & o) -> auto & { return o.name; })          \
  }
#define ENUM(name, type, count)                                                \
  {                                                                            \
#name,                                                                     \
        enumEntry(                                                             \
            #type, count, [](SessionOptions & o) -> auto & { return o.name; }) \
  }

const std::map<std::string, Entry> &entries() {
  static const std::map<std::string, Entry> table = {
      FIELD(enableInplaceAmbiguityChecking),
      FIELD(enableLoadAndOffloadRNGState),
      FIELD(batchSerializationSettings.concatOnVirtualGraphChange),
      FIELD(batchSerializationSettings.concatOnExecutionPhaseChange),
      FIELD(batchSerializationSettings.concatOnPipelineStageChange),
      FIELD(strictOpVersions),
      FIELD(opxAliasChecking),
      FIELD(opxModifyChecking),
      FIELD(dotOpNames),
      FIELD(exportPoplarComputationGraph),
      FIELD(exportPoplarVertexGraph),
      FIELD(separateCallOpPdfs),
      FIELD(enableOutlining),
      FIELD(enableOutliningCopyCostPruning),
      FIELD(rearrangeAnchorsOnHost),
      FIELD(rearrangeStreamsOnHost),
      FIELD(enablePrefetchDatastreams),
      FIELD(enableNonStableSoftmax),
      FIELD(enableReplicatedGraphs),
      FIELD(enableGradientAccumulation),
      FIELD(instrumentWithHardwareCycleCounter),
      FIELD(enablePipelining),
      FIELD(disableGradAccumulationTensorStreams),
      FIELD(disableOptimizerStateTensorStreams),
      FIELD(compileEngine),
      FIELD(constantWeights),
      FIELD(enableEngineCaching),
      FIELD(enableMergeExchange),
      FIELD(enableFloatingPointChecks),
      FIELD(enableStochasticRounding),
      FIELD(ensureFp32LossScaleTensor),
      FIELD(explicitRecomputation),
      FIELD(enableExplicitMainLoops),
      FIELD(useHostCopyOps),
      FIELD(aliasZeroCopy),
      FIELD(delayVarUpdates),
      FIELD(enableFullyConnectedPass),
      FIELD(enableSerializedMatmuls),
      FIELD(enableStableNorm),
      FIELD(decomposeGradSum),
      FIELD(enableDistributedReplicatedGraphs),
      FIELD(groupHostSync),
      FIELD(automaticLossScalingSettings.enabled),
      FIELD(enableSupportedDataTypeCasting),
      FIELD(groupNormStridedChannelGrouping),
      FIELD(scheduleNonWeightUpdateGradientConsumersEarly),
      FIELD(replicatedCollectivesSettings.prepareScheduleForMergingCollectives),
      FIELD(replicatedCollectivesSettings.mergeAllReduceCollectives),
      FIELD(executionPhaseSettings.phases),
      FIELD(executionPhaseSettings.stages),
      FIELD(batchSerializationSettings.factor),
      FIELD(firstDotOp),
      FIELD(finalDotOp),
      FIELD(numIOTiles),
      FIELD(mergeVarUpdateMemThreshold),
      FIELD(looseThresholdAtPeak),
      FIELD(accumulationFactor),
      FIELD(swapLimitScheduler),
      FIELD(globalReplicationFactor),
      FIELD(globalReplicaOffset),
      FIELD(defaultBufferingDepth),
      FIELD(compilationProgressTotal),
      FIELD(transitiveClosureOptimizationThreshold),
      FIELD(automaticLossScalingSettings.updatePeriod),
      FIELD(outlineSequenceBreakCost),
      FIELD(outlineThreshold),
      FIELD(timeLimitScheduler),
      FIELD(automaticLossScalingSettings.thresholdUpperCountProportion),
      FIELD(automaticLossScalingSettings.binEdgeLocation),
      FIELD(cachePath),
      FIELD(partialsTypeMatMuls),
      FIELD(customCodeletCompileFlags),
      FIELD(serializedPoprithmsShiftGraphsDir),
      FIELD(kahnTieBreaker),
      FIELD(dotChecks),
      FIELD(customCodelets),
      FIELD(updatableNamedBuffers),
      FIELD(engineOptions),
      FIELD(reportOptions),
      FIELD(convolutionOptions),
      FIELD(matmulOptions),
      FIELD(lstmOptions),
      FIELD(gclOptions),
      ENUM(autodiffSettings.stitchStrategy, AutodiffStitchStrategy, 4),
      ENUM(batchSerializationSettings.transformContext,
           BatchSerializationTransformContext, 2),
      ENUM(batchSerializationSettings.method, BatchSerializationMethod, 3),
      ENUM(batchSerializationSettings.batchSchedule,
           BatchSerializationBatchSchedule, 4),
      ENUM(autoRecomputation, RecomputationType, 5),
      ENUM(mergeVarUpdate, MergeVarUpdateType, 4),
      ENUM(virtualGraphMode, VirtualGraphMode, 4),
      ENUM(syntheticDataMode, SyntheticDataMode, 4),
      ENUM(subgraphCopyingStrategy, SubgraphCopyingStrategy, 2),
      ENUM(accumulationAndReplicationReductionType, ReductionType, 2),
      ENUM(meanAccumulationAndReplicationReductionStrategy,
           MeanReductionStrategy, 2),
      ENUM(automaticLossScalingSettings.gradientTensorTrackingMethod,
           GradientTensorTrackingMethod, 3),
      ENUM(accumulateOuterFragmentSettings.schedule,
           AccumulateOuterFragmentSchedule, 4),
      {"enableExplicitIR",
       {indexOf<bool>(),
        [](SessionOptions &options, const PopartOption &option) {
          options.enableExplicitIR(std::get<bool>(option));
        }}},
      {"defaultPrefetchBufferingDepth", // the older name
       entry([](SessionOptions & o) -> auto & {
         return o.defaultBufferingDepth;
       })},
      {"accumulateOuterFragmentSettings.excludedVirtualGraphs",
       {indexOf<Strings>(), setExcludedGraphs}},
      {"hardwareInstrumentations", {indexOf<Strings>(), setInstrumentations}},
      {"saveInitializersToFile", unused<std::string>()},
      {"logDir", unused<std::string>()}, // Options.logDir() is the way
      {"patterns", unused<StringMap>()},
      {"patterns_level", unused<std::int64_t>()},
  };
  return table;
}

#undef FIELD
#undef ENUM

const char *typeName(std::size_t index) {
  constexpr const char *names[] = {"bool",   "uint64",       "floating point",
                                   "string", "set / vector", "map"};
  return names[index];
}

// How many letters must be put in, taken out or replaced (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t replaced = corner + (a[i] == b[j] ? 0 : 1);
      corner = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, corner + 1});
    }
  }
  return row.back();
}

const std::string &nearestName(std::string_view name) {
  auto nearest = std::min_element(
      entries().begin(), entries().end(), [&](const auto &a, const auto &b) {
        return distance(name, a.first) < distance(name, b.first);
      });
  return nearest->first;
}

} // namespace

popart::Patterns patternsOf(const PopartOptions &values) {
  auto level = popart::PatternsLevel::Default;
  auto given = values.find("patterns_level");
  if (given != values.end()) {
    const auto number = std::get<std::int64_t>(given->second);
    if (number < 0 || number > 3) {
      throw Error(fmt::format("setPatterns' level is {}; it is 0 (none), 1 "
                              "(minimal), 2 (default) or 3 (all)",
                              number));
    }
    level = static_cast<popart::PatternsLevel>(number);
  }
  popart::Patterns patterns(level);
  auto chosen = values.find("patterns");
  if (chosen != values.end()) {
    for (const auto &[name, value] : std::get<StringMap>(chosen->second)) {
      patterns.enablePattern(name, value == "True");
    }
  }
  return patterns;
}

void applyPopartOptions(const PopartOptions &values,
                        popart::SessionOptions &options) {
  if (values.count("patterns") && !values.count("patterns_level")) {
    throw Error("patterns must be set with Options._Popart.setPatterns(): "
                "patterns_level is missing");
  }
  for (const auto &[name, value] : values) {
    const auto found = entries().find(name);
    if (found == entries().end()) {
      throw Error(fmt::format("Unknown {} option {}. Did you mean {}?",
                              typeName(value.index()), name,
                              nearestName(name)));
    }
    if (found->second.type != value.index()) {
      throw Error(fmt::format("Unknown {} option {}: its value is a {}",
                              typeName(value.index()), name,
                              typeName(found->second.type)));
    }
    found->second.set(options, value);
  }
}

} // namespace poptorch
