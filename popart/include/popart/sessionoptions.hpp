// What a session does beyond running the model. docs/session-options.md says
// of each what it changes: values, the machine program, or nothing here.
#pragma once

#include <popart/names.hpp>
#include <popart/reductiontype.hpp>
#include <popart/settings.hpp>
#include <popart/tensorlocation.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace popart {

enum class VirtualGraphMode { Off = 0, Manual, Auto, ExecutionPhases };
enum class RecomputationType {
  None = 0,
  Standard,
  NormOnly,
  Pipeline,
  RecomputeAll
};
enum class MeanReductionStrategy { Running = 0, Post };
enum class SyntheticDataMode { Off = 0, Zeros, RandomNormal, RandomUniform };
enum class Instrumentation { Outer = 0, Inner };
enum class MergeVarUpdateType { None = 0, All, AutoTight, AutoLoose };
enum class SubgraphCopyingStrategy { OnEnterAndExit = 0, JustInTime };
enum class IrSerializationFormat { JSON = 0 };

struct SessionOptions {
  using Strings = std::map<std::string, std::string>;

  // Placement and the shape of the step.
  VirtualGraphMode virtualGraphMode = VirtualGraphMode::Off;
  std::vector<float> virtualGraphSplitRatios;
  bool enablePipelining = false;
  RecomputationType autoRecomputation = RecomputationType::None;
  bool explicitRecomputation = false;
  ExecutionPhaseSettings executionPhaseSettings;
  BatchSerializationSettings batchSerializationSettings;
  bool createImplicitPipeliningFwdOnlyProgram = false;
  bool stashAllTensorsInferencePipeline = false;

  // Gradients.
  bool enableGradientAccumulation = false;
  std::int64_t accumulationFactor = 1;
  ReductionType accumulationAndReplicationReductionType = ReductionType::Sum;
  // Only with Mean: scale the sum afterwards, or keep a running mean.
  MeanReductionStrategy meanAccumulationAndReplicationReductionStrategy =
      MeanReductionStrategy::Post;
  AutodiffSettings autodiffSettings;
  AutomaticLossScalingSettings automaticLossScalingSettings;
  bool ensureFp32LossScaleTensor = false;
  bool decomposeGradSum = false;
  bool delayVarUpdates = true;
  bool scheduleNonWeightUpdateGradientConsumersEarly = false;
  MergeVarUpdateType mergeVarUpdate = MergeVarUpdateType::None;
  std::int64_t mergeVarUpdateMemThreshold = 1000000;
  std::int64_t looseThresholdAtPeak = 8000;
  AccumulateOuterFragmentSettings accumulateOuterFragmentSettings;

  // Replicas.
  bool enableReplicatedGraphs = false;
  std::int64_t replicatedGraphCount = 1;
  bool enableDistributedReplicatedGraphs = false;
  std::int64_t globalReplicationFactor = 1;
  std::int64_t globalReplicaOffset = 0;
  ReplicatedCollectivesSettings replicatedCollectivesSettings;

  // Where tensors are.
  TensorLocationSettings weightTensorLocationSettings;
  TensorLocationSettings optimizerStateTensorLocationSettings;
  TensorLocationSettings accumulatorTensorLocationSettings;
  TensorLocationSettings activationTensorLocationSettings;
  std::map<TensorId, TensorLocation> tensorLocationSettingsOverride;
  int numIOTiles = 0;

  // Data in and out.
  // Inference: weights are part of the program and cannot change.
  bool constantWeights = true;
  SyntheticDataMode syntheticDataMode = SyntheticDataMode::Off;
  bool rearrangeAnchorsOnHost = true;
  bool rearrangeStreamsOnHost = false;
  bool enablePrefetchDatastreams = true;
  unsigned defaultBufferingDepth = 1;
  std::map<TensorId, unsigned> bufferingDepthMap;
  bool groupHostSync = false;
  bool disableGradAccumulationTensorStreams = false;
  bool disableOptimizerStateTensorStreams = false;
  bool useHostCopyOps = false;
  bool enableExplicitMainLoops = false;
  bool enableEfficientOverlapIOTopoCons = false;
  bool enableMergeExchange = true;
  std::vector<std::string> updatableNamedBuffers;

  // Numbers.
  bool enableFloatingPointChecks = false;
  bool enableStochasticRounding = false;
  bool _enableRngStateManagement = false;
  bool enableLoadAndOffloadRNGState = false;
  bool enableNonStableSoftmax = false;
  bool enableStableNorm = false;
  bool groupNormStridedChannelGrouping = false;
  std::string partialsTypeMatMuls; // "", "float" or "half"
  bool enableSupportedDataTypeCasting = true;
  bool throwIfLog2ScaleTensorNotInRange = true;

  // Options of the layers below.
  Strings engineOptions;
  Strings convolutionOptions;
  Strings matmulOptions;
  Strings lstmOptions;
  Strings reportOptions;
  Strings gclOptions;
  std::vector<std::string> customCodelets;
  std::string customCodeletCompileFlags;

  // Compiling.
  bool compileEngine = true;
  bool enableEngineCaching = false;
  bool enableVariablesCaching = true;
  std::string cachePath = "session_cache";
  bool strictOpVersions = true;
  bool enableOutlining = true;
  bool enableOutliningCopyCostPruning = true;
  float outlineThreshold = 1.0f;
  float outlineSequenceBreakCost = 10000.0f;
  SubgraphCopyingStrategy subgraphCopyingStrategy =
      SubgraphCopyingStrategy::OnEnterAndExit;
  bool enableFullyConnectedPass = true;
  bool enableSerializedMatmuls = true;
  bool enableConstantFoldingOfMultipleConsumers = true;
  bool aliasZeroCopy = false;
  bool useLoopCandidateCreator = false;
  std::string kahnTieBreaker = "greedy";
  double timeLimitScheduler = 1e9;
  std::int64_t swapLimitScheduler = 1000000000;
  std::size_t transitiveClosureOptimizationThreshold = 100000;
  std::string serializedPoprithmsShiftGraphsDir;
  // Called with (progress, compilationProgressTotal).
  std::function<void(int, int)> compilationProgressLogger;
  int compilationProgressTotal = 100;

  // Looking inside.
  bool instrumentWithHardwareCycleCounter = false;
  std::set<Instrumentation> hardwareInstrumentations{Instrumentation::Outer};
  std::string logDir;
  std::set<std::string> dotChecks;
  int firstDotOp = 0;
  int finalDotOp = 10000;
  bool dotOpNames = false;
  bool separateCallOpPdfs = true;
  bool exportPoplarComputationGraph = false;
  bool exportPoplarVertexGraph = false;
  bool opxAliasChecking = false;
  bool opxModifyChecking = false;
  bool enableInplaceAmbiguityChecking = false;
  DeveloperSettings developerSettings;
  ExperimentalSettings experimentalSettings;

  // Micro-batches per weight update, over all replicas' own share.
  std::int64_t getAccumulationFactor() const {
    return enableGradientAccumulation ? accumulationFactor : 1;
  }
  // Replicas of this process.
  std::int64_t getReplicationFactor() const {
    return enableReplicatedGraphs ? replicatedGraphCount : 1;
  }
  std::int64_t getGlobalReplicationFactor() const {
    return enableDistributedReplicatedGraphs ? globalReplicationFactor
                                             : getReplicationFactor();
  }
  // Loads, stores, loops and recomputation as operations of the IR.
  void enableExplicitIR(bool enable) {
    useHostCopyOps = enable;
    enableExplicitMainLoops = enable;
    explicitRecomputation = enable;
  }
};

} // namespace popart
