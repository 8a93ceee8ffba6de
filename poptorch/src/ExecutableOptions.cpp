// PopTorch's options as those of a PopART session.
#include "Error.hpp"
#include "Executable.hpp"

#include <support/Error.hpp>

namespace poptorch {
namespace {

bool isPhased(const CompileOptions &options) {
  return options.executionMode == "serial_phased" ||
         options.executionMode == "parallel_phased";
}

} // namespace

std::optional<std::int64_t> Executable::phaseStride() const {
  if (!isPhased(options_)) {
    return std::nullopt;
  }
  switch (options_.liveness) {
  case Liveness::OffChipAfterFwdNoOverlap:
    return 2;
  case Liveness::OffChipAfterEachPhase:
    return 4;
  default:
    return 1;
  }
}

// Phases without operations let tensors leave the chip in between.
void Executable::setPhases(popart::SessionOptions &session) const {
  session.virtualGraphMode = popart::VirtualGraphMode::ExecutionPhases;
  auto &settings = session.executionPhaseSettings;
  bool isSerial =
      options_.executionMode == "serial_phased" || translation_.ipuCount == 1;
  settings.stages = isSerial ? 1 : 2;
  settings.phases = static_cast<int>(translation_.phases);
  settings.phases += options_.liveness == Liveness::AlwaysLive ? 0 : 3;
  settings.phases += options_.hasSeparateBackwardPhase ? 1 : 0;
}

void Executable::setSessionOptions(bool clipsGradients) {
  popart::SessionOptions &session = ir_->sessionOptions;
  bool isMultiIpu = translation_.ipuCount > 1;
  bool isPipelined = options_.executionMode == "pipelined" && isMultiIpu;
  session.constantWeights = false;
  session.enablePipelining = isPipelined;
  session.virtualGraphMode = isMultiIpu ? popart::VirtualGraphMode::Manual
                                        : popart::VirtualGraphMode::Off;
  if (isPipelined && ir_->isTraining()) {
    session.autoRecomputation = popart::RecomputationType::Pipeline;
  }
  session.enableGradientAccumulation = options_.gradientAccumulation > 1;
  session.accumulationFactor = options_.gradientAccumulation;
  session.accumulationAndReplicationReductionType = options_.reductionType;
  session.meanAccumulationAndReplicationReductionStrategy =
      options_.meanStrategy;
  session.enableReplicatedGraphs = options_.replicationFactor > 1;
  session.replicatedGraphCount = options_.replicationFactor;
  session.enableDistributedReplicatedGraphs = options_.processes > 1;
  session.globalReplicationFactor =
      std::int64_t{options_.processes} * options_.replicationFactor;
  session.globalReplicaOffset =
      std::int64_t{options_.processId} * options_.replicationFactor;
  session.activationTensorLocationSettings = options_.activationLocation;
  session.weightTensorLocationSettings = options_.weightLocation;
  session.optimizerStateTensorLocationSettings = options_.optimizerLocation;
  session.accumulatorTensorLocationSettings = options_.accumulatorLocation;
  if (options_.processes > 1) {
    // A process has all parts of the variables that its replicas share out.
    popart::CommGroup local(popart::CommGroupType::Consecutive,
                            static_cast<unsigned>(options_.replicationFactor));
    session.weightTensorLocationSettings.location.shardingDomain = local;
    session.optimizerStateTensorLocationSettings.location.shardingDomain =
        local;
    session.accumulatorTensorLocationSettings.location.shardingDomain = local;
  }
  session.numIOTiles = options_.ioTiles;
  if (clipsGradients && isPipelined) {
    // The norm needs the gradients of all stages before the first update.
    session.accumulateOuterFragmentSettings.schedule =
        popart::AccumulateOuterFragmentSchedule::Scheduler;
  }
  if (phaseStride()) {
    setPhases(session);
  }
  // What the tiles draw from for nothing else; keeping it takes time.
  auto rounding = options_.popart.find("enableStochasticRounding");
  session.enableLoadAndOffloadRNGState = rounding != options_.popart.end() &&
                                         rounding->second == PopartOption(true);
  session.engineOptions["debug.retainDebugInformation"] = "false";
  applyPopartOptions(options_.popart, session);
  ir_->patterns = patternsOf(options_.popart);
  if (!ir_->isTraining()) { // one set of options is for both wrappers
    session.automaticLossScalingSettings.enabled = false;
  }
}

void Executable::checkPipeline() const {
  std::int64_t stages = translation_.forwardStages;
  if (!ir_->sessionOptions.enablePipelining || stages < 2) {
    return;
  }
  if (ir_->isTraining()) {
    std::int64_t all = 2 * stages - 1;
    support::requireUser<Error>(
        options_.gradientAccumulation >= all,
        "poptorch.Options().Training.gradientAccumulation must be greater than "
        "or equal to the number of pipeline stages ({}) when using "
        "poptorch.PipelinedExecution. Please note that a model with {} forward "
        "stages has {} more for training.",
        all, stages, stages - 1);
  } else {
    support::requireUser<Error>(
        options_.deviceIterations >= stages,
        "poptorch.Options().deviceIterations must be greater than or equal to "
        "the number of pipeline stages ({}) when using "
        "poptorch.PipelinedExecution.",
        stages);
  }
}

} // namespace poptorch
