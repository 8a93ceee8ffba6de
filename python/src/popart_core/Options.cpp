// Session options, the settings inside them, patterns.
#include "Bindings.hpp"

#include <popart/patterns/patterns.hpp>
#include <popart/sessionoptions.hpp>

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <optional>

namespace popart::python {
namespace {

namespace py = pybind11;
using O = SessionOptions;
using Class = py::class_<SessionOptions>;

#define FIELD(name) .def_readwrite(#name, &T::name)

void bindLocations(py::module_ &module) {
  using T = TensorLocation;
  using Sharding = ReplicatedTensorSharding;
  py::class_<T>(module, "TensorLocation")
      .def(py::init<>())
      .def(py::init<TensorStorage>())
      .def(py::init<TensorStorage, Sharding>())
      .def(py::init<TensorStorage, TileSet, TileSet, Sharding, CommGroup>(),
           py::arg("storage"), py::arg("loadTileSet"),
           py::arg("storageTileSet"),
           py::arg("replicatedTensorSharding") = Sharding::Off,
           py::arg("shardingDomain") = CommGroup())
      // clang-format off
      FIELD(storage) FIELD(loadTileSet) FIELD(storageTileSet)
      FIELD(replicatedTensorSharding) FIELD(shardingDomain)
      // clang-format on
      .def("__eq__", [](const T &a, const T &b) { return a == b; });
  using S = TensorLocationSettings;
  py::class_<S>(module, "TensorLocationSettings")
      .def(py::init<>())
      .def(py::init<TensorLocation, int, int>(), py::arg("location"),
           py::arg("minElementsForOffChip") = 2,
           py::arg("minElementsForReplicatedTensorSharding") = 8192)
      .def(py::init<TensorStorage, int, int>(), py::arg("storage"),
           py::arg("minElementsForOffChip") = 2,
           py::arg("minElementsForReplicatedTensorSharding") = 8192)
      .def_readwrite("location", &S::location)
      .def_readwrite("minElementsForOffChip", &S::minElementsForOffChip)
      .def_readwrite("minElementsForReplicatedTensorSharding",
                     &S::minElementsForReplicatedTensorSharding);
}

void bindPhases(py::module_ &module) {
  // clang-format off
  {
    using T = ExecutionPhaseSettings;
    py::class_<T>(module, "ExecutionPhaseSettings")
        .def(py::init<>())
        FIELD(phases) FIELD(stages) FIELD(weightIOSchedule)
        FIELD(activationIOSchedule) FIELD(optimizerStateIOSchedule)
        FIELD(accumulatorIOSchedule) FIELD(schedule);
  }
  {
    using T = BatchSerializationSettings;
    py::class_<T>(module, "BatchSerializationSettings")
        .def(py::init<>())
        FIELD(factor) FIELD(concatOnVirtualGraphChange)
        FIELD(concatOnExecutionPhaseChange) FIELD(concatOnPipelineStageChange)
        FIELD(transformContext) FIELD(method) FIELD(batchSchedule);
  }
  {
    using T = ReplicatedCollectivesSettings;
    py::class_<T>(module, "ReplicatedCollectivesSettings")
        .def(py::init<>())
        FIELD(prepareScheduleForMergingCollectives)
        FIELD(mergeAllReduceCollectives) FIELD(mergeReduceScatterCollectives)
        FIELD(mergeAllGatherCollectives);
  }
  {
    using T = DeveloperSettings;
    py::class_<T>(module, "DeveloperSettings")
        FIELD(timePartitionLoggerThresholdPercentage);
  }
  {
    using T = ExperimentalSettings;
    py::class_<T>(module, "ExperimentalSettings")
        .def_readwrite("_customTransformApplierSettings",
                       &T::customTransformApplierSettings);
  }
  // clang-format on
}

void bindGradients(py::module_ &module) {
  using A = AccumulateOuterFragmentSettings;
  py::class_<A>(module, "AccumulateOuterFragmentSettings")
      .def(py::init([](AccumulateOuterFragmentSchedule schedule,
                       std::vector<int> excluded) {
             return A{schedule, std::move(excluded)};
           }),
           py::arg("schedule") = AccumulateOuterFragmentSchedule::Serial,
           py::arg("excludedVirtualGraphs") = std::vector<int>())
      .def_readwrite("schedule", &A::schedule)
      .def_readwrite("excludedVirtualGraphs", &A::excludedVirtualGraphs);
  using D = AutodiffSettings;
  py::class_<D>(module, "AutodiffSettings")
      .def(
          py::init([](AutodiffStitchStrategy strategy) { return D{strategy}; }),
          py::arg("stitchStrategy") =
              AutodiffStitchStrategy::RecomputeAllNonInputs)
      .def_readwrite("stitchStrategy", &D::stitchStrategy);
  using L = AutomaticLossScalingSettings;
  using Ids = std::optional<std::vector<TensorId>>;
  py::class_<L>(module, "AutomaticLossScalingSettings")
      .def(py::init<>())
      .def_readwrite("enabled", &L::enabled)
      .def_readwrite("binEdgeLocation", &L::binEdgeLocation)
      .def_readwrite("thresholdUpperCountProportion",
                     &L::thresholdUpperCountProportion)
      .def_property(
          "toTrackTensors",
          [](const L &s) {
            return s.toTrackTensors ? Ids(*s.toTrackTensors) : Ids();
          },
          [](L &s, const Ids &ids) {
            s.toTrackTensors = ids ? optional<std::vector<TensorId>>(*ids)
                                   : optional<std::vector<TensorId>>();
          })
      .def_readwrite("updatePeriod", &L::updatePeriod)
      .def_readwrite("gradientTensorTrackingMethod",
                     &L::gradientTensorTrackingMethod);
}

// What Python's SessionOptions wraps is under a name with "_" before it.
void bindWrapped(Class &type) {
  type.def_readwrite("_engineOptions", &O::engineOptions)
      .def_readwrite("_convolutionOptions", &O::convolutionOptions)
      .def_readwrite("_matmulOptions", &O::matmulOptions)
      .def_readwrite("_lstmOptions", &O::lstmOptions)
      .def_readwrite("_reportOptions", &O::reportOptions)
      .def_readwrite("_gclOptions", &O::gclOptions)
      .def_readwrite("_bufferingDepthMap", &O::bufferingDepthMap)
      .def_readwrite("_tensorLocationSettingsOverride",
                     &O::tensorLocationSettingsOverride)
      .def_readwrite("_customCodelets", &O::customCodelets)
      .def_readwrite("_updatableNamedBuffers", &O::updatableNamedBuffers)
      .def_readwrite("_virtualGraphSplitRatios", &O::virtualGraphSplitRatios);
}

// clang-format off
void bindRunning(Class &type) {
  using T = O;
  type
      FIELD(virtualGraphMode) FIELD(enablePipelining) FIELD(autoRecomputation)
      FIELD(explicitRecomputation) FIELD(executionPhaseSettings)
      FIELD(batchSerializationSettings)
      FIELD(createImplicitPipeliningFwdOnlyProgram)
      FIELD(stashAllTensorsInferencePipeline)
      FIELD(enableGradientAccumulation) FIELD(accumulationFactor)
      FIELD(accumulationAndReplicationReductionType)
      FIELD(meanAccumulationAndReplicationReductionStrategy)
      FIELD(autodiffSettings) FIELD(automaticLossScalingSettings)
      FIELD(ensureFp32LossScaleTensor) FIELD(decomposeGradSum)
      FIELD(delayVarUpdates)
      FIELD(scheduleNonWeightUpdateGradientConsumersEarly)
      FIELD(mergeVarUpdate) FIELD(mergeVarUpdateMemThreshold)
      FIELD(looseThresholdAtPeak) FIELD(accumulateOuterFragmentSettings)
      FIELD(enableReplicatedGraphs) FIELD(replicatedGraphCount)
      FIELD(enableDistributedReplicatedGraphs) FIELD(globalReplicationFactor)
      FIELD(globalReplicaOffset) FIELD(replicatedCollectivesSettings)
      FIELD(weightTensorLocationSettings)
      FIELD(optimizerStateTensorLocationSettings)
      FIELD(accumulatorTensorLocationSettings)
      FIELD(activationTensorLocationSettings) FIELD(numIOTiles)
      FIELD(constantWeights) FIELD(syntheticDataMode)
      FIELD(rearrangeAnchorsOnHost) FIELD(rearrangeStreamsOnHost)
      FIELD(enablePrefetchDatastreams) FIELD(defaultBufferingDepth)
      FIELD(groupHostSync) FIELD(disableGradAccumulationTensorStreams)
      FIELD(disableOptimizerStateTensorStreams) FIELD(useHostCopyOps)
      FIELD(enableExplicitMainLoops) FIELD(enableEfficientOverlapIOTopoCons)
      FIELD(enableMergeExchange)
      .def_readwrite("defaultPrefetchBufferingDepth",
                     &T::defaultBufferingDepth);
}

void bindCompiling(Class &type) {
  using T = O;
  type
      FIELD(enableFloatingPointChecks) FIELD(enableStochasticRounding)
      FIELD(_enableRngStateManagement) FIELD(enableLoadAndOffloadRNGState)
      FIELD(enableNonStableSoftmax) FIELD(enableStableNorm)
      FIELD(groupNormStridedChannelGrouping) FIELD(partialsTypeMatMuls)
      FIELD(enableSupportedDataTypeCasting)
      FIELD(throwIfLog2ScaleTensorNotInRange)
      FIELD(customCodeletCompileFlags) FIELD(compileEngine)
      FIELD(enableEngineCaching) FIELD(enableVariablesCaching)
      FIELD(cachePath) FIELD(strictOpVersions) FIELD(enableOutlining)
      FIELD(enableOutliningCopyCostPruning) FIELD(outlineThreshold)
      FIELD(outlineSequenceBreakCost) FIELD(subgraphCopyingStrategy)
      FIELD(enableFullyConnectedPass) FIELD(enableSerializedMatmuls)
      FIELD(enableConstantFoldingOfMultipleConsumers) FIELD(aliasZeroCopy)
      FIELD(useLoopCandidateCreator) FIELD(kahnTieBreaker)
      FIELD(timeLimitScheduler) FIELD(swapLimitScheduler)
      FIELD(transitiveClosureOptimizationThreshold)
      FIELD(serializedPoprithmsShiftGraphsDir)
      FIELD(compilationProgressLogger) FIELD(compilationProgressTotal)
      FIELD(instrumentWithHardwareCycleCounter)
      FIELD(hardwareInstrumentations) FIELD(logDir) FIELD(dotChecks)
      FIELD(firstDotOp) FIELD(finalDotOp) FIELD(dotOpNames)
      FIELD(separateCallOpPdfs) FIELD(exportPoplarComputationGraph)
      FIELD(exportPoplarVertexGraph) FIELD(opxAliasChecking)
      FIELD(opxModifyChecking) FIELD(enableInplaceAmbiguityChecking)
      FIELD(developerSettings) FIELD(experimentalSettings);
}
// clang-format on

void bindPatterns(py::module_ &module) {
  py::class_<Patterns> type(module, "Patterns");
  type.def(py::init<>())
      .def(py::init<PatternsLevel>())
      .def(py::init<const std::vector<std::string> &>())
      .def("enablePattern", &Patterns::enablePattern)
      .def("isPatternEnabled", &Patterns::isPatternEnabled)
      .def("enableRuntimeAsserts", &Patterns::enableRuntimeAsserts);
  // Spelled as properties, two of them otherwise than the patterns.
  struct Property {
    const char *name;
    const char *pattern;
  };
  for (const Property &property :
       {Property{"PreUniRepl", "PreUniRepl"},
        {"PostNRepl", "PostNRepl"},
        {"SoftMaxGradDirect", "SoftmaxGradDirect"},
        {"NlllWithSoftMaxGradDirect", "NlllWithSoftmaxGradDirect"},
        {"OpToIdentity", "OpToIdentity"},
        {"SubtractArg1GradOp", "SubtractArg1GradOp"},
        {"MulArgGradOp", "MulArgGradOp"},
        {"MatMulOp", "MatMulOp"},
        {"MatMulLhsGradOp", "MatMulLhsGradOp"},
        {"MatMulRhsGradOp", "MatMulRhsGradOp"},
        {"InPlace", "InPlace"}}) {
    std::string pattern = property.pattern;
    type.def_property(
        property.name,
        [pattern](const Patterns &p) { return p.isPatternEnabled(pattern); },
        [pattern](Patterns &p, bool enable) {
          p.enablePattern(pattern, enable);
        });
  }
}

} // namespace

void initOptions(py::module_ &module) {
  bindLocations(module);
  bindPhases(module);
  bindGradients(module);
  bindPatterns(module);
  Class type(module, "_SessionOptionsCore");
  type.def(py::init<>())
      .def("enableExplicitIR", &O::enableExplicitIR)
      .def("getGlobalReplicationFactor", &O::getGlobalReplicationFactor);
  bindWrapped(type);
  bindRunning(type);
  bindCompiling(type);
}

} // namespace popart::python
