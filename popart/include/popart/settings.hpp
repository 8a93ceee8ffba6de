// Groups of session options that belong together.
#pragma once

#include <popart/names.hpp>
#include <popart/optional.hpp>

#include <map>
#include <string>
#include <vector>

namespace popart {

enum class ExecutionPhaseIOSchedule { Preload = 0, OnDemand };
enum class ExecutionPhaseSchedule { Interleaving = 0, Batch, BatchClusteredIO };

struct ExecutionPhaseSettings {
  int phases = 0; // more than 1 turns them on
  int stages = 2; // groups of IPUs that take turns
  ExecutionPhaseIOSchedule weightIOSchedule = ExecutionPhaseIOSchedule::Preload;
  ExecutionPhaseIOSchedule activationIOSchedule =
      ExecutionPhaseIOSchedule::Preload;
  ExecutionPhaseIOSchedule optimizerStateIOSchedule =
      ExecutionPhaseIOSchedule::OnDemand;
  ExecutionPhaseIOSchedule accumulatorIOSchedule =
      ExecutionPhaseIOSchedule::Preload;
  ExecutionPhaseSchedule schedule = ExecutionPhaseSchedule::Interleaving;
};

enum class BatchSerializationTransformContext {
  Forward = 0,
  Fwd = Forward,
  Backward = 1,
  Bwd = Backward
};
enum class BatchSerializationMethod { UnrollDynamic = 0, UnrollStatic, Loop };
enum class BatchSerializationBatchSchedule {
  Scheduler = 0,
  Isomorphic,
  OverlapOnIo,
  OverlapOnCompute
};

struct BatchSerializationSettings {
  int factor = 0; // parts of the batch dimension; 0 turns it off
  bool concatOnVirtualGraphChange = true;
  bool concatOnExecutionPhaseChange = true;
  bool concatOnPipelineStageChange = true;
  BatchSerializationTransformContext transformContext =
      BatchSerializationTransformContext::Fwd;
  BatchSerializationMethod method = BatchSerializationMethod::UnrollDynamic;
  BatchSerializationBatchSchedule batchSchedule =
      BatchSerializationBatchSchedule::Isomorphic;
};

enum class AccumulateOuterFragmentSchedule {
  Scheduler = 0,
  Serial,
  OverlapCycleOptimized,
  OverlapMemoryOptimized
};

struct AccumulateOuterFragmentSettings {
  AccumulateOuterFragmentSchedule schedule =
      AccumulateOuterFragmentSchedule::Serial;
  std::vector<int> excludedVirtualGraphs;
};

enum class AutodiffStitchStrategy {
  RecomputeMinimal = 0,
  RecomputeAllNonInputs,
  AddFwdOutputs,
  SafeAddFwdOutputs
};

struct AutodiffSettings {
  AutodiffStitchStrategy stitchStrategy =
      AutodiffStitchStrategy::RecomputeAllNonInputs;
};

enum class GradientTensorTrackingMethod {
  AllNonViewChangingGradientTensors = 0,
  ConvAndMatmulGradients,
  GradientsOfUserSpecifiedTensors
};

struct AutomaticLossScalingSettings {
  bool enabled = false;
  float binEdgeLocation = 0.125f;
  float thresholdUpperCountProportion = 1e-7f;
  optional<std::vector<TensorId>> toTrackTensors;
  int updatePeriod = 1;
  GradientTensorTrackingMethod gradientTensorTrackingMethod =
      GradientTensorTrackingMethod::AllNonViewChangingGradientTensors;
};

struct ReplicatedCollectivesSettings {
  bool prepareScheduleForMergingCollectives = false;
  bool mergeAllReduceCollectives = false;
  bool mergeReduceScatterCollectives = false;
  bool mergeAllGatherCollectives = false;
};

struct DeveloperSettings {
  int timePartitionLoggerThresholdPercentage = 0;
};

struct ExperimentalSettings {
  // Names of a user's own transforms by the point after which they run.
  std::map<std::string, std::vector<std::string>>
      customTransformApplierSettings;
};

} // namespace popart
