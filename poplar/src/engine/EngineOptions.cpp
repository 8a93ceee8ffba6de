#include "engine/EngineOptions.hpp"

#include "engine/OptionRules.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>
#include <support/Logging.hpp>

#include <charconv>

namespace poplar::engine {
namespace {

using enum OptionValues;

constexpr support::Logger logger(support::LogChannel::Poplar, "ENGINE");

// Every engine option of the SDK. Those that only matter to hardware are
// accepted and recorded.
constexpr OptionRule engineRules[] = {
    {"autoReport.all", Boolean},
    {"autoReport.directory"},
    {"autoReport.outputGraphProfile", Boolean},
    {"autoReport.outputExecutionProfile", Boolean},
    {"autoReport.outputLoweredVars", Boolean},
    {"autoReport.outputDebugInfo", Boolean},
    {"autoReport.outputArchive", Boolean},
    {"autoReport.outputSerializedGraph", Boolean},
    {"autoReport.executionProfileProgramRunCount", Natural},
    {"autoReport.streamAtEachRun", Boolean},
    {"debug.instrument", Boolean},
    {"debug.instrumentCompute", Boolean},
    {"debug.instrumentControlFlow", Boolean},
    {"debug.instrumentExternalExchange", Boolean},
    {"debug.computeInstrumentationLevel", OneOf, "vertex|tile|ipu|device"},
    {"debug.profilingTile", Integer},
    {"debug.retainDebugInformation", Boolean},
    {"debug.allowOutOfMemory", Boolean},
    {"debug.floatPointOpException", Boolean},
    {"debug.nanOverflowException", Boolean},
    {"debug.trace", Boolean},
    {"debug.traceFile"},
    {"debug.verify", Boolean},
    {"debug.runtimeVerify", Boolean},
    {"debug.outputAllSymbols", Boolean},
    {"debug.loweredVarDumpFile"},
    {"debug.cpuMultiThreadExecution", Boolean},
    {"debug.branchRecordTile", Integer},
    {"debug.checkAssertions", Boolean},
    {"debug.executionProfile"},
    {"debug.nanOverflowMode"},
    {"debug.graphReportDestination"},
    {"debug.supervisorStackSizeInBytes", Natural},
    {"debug.workerStackSizeInBytes", Natural},
    {"profiler.blocks.filter", Pattern},
    {"profiler.blocks.tile", Natural},
    {"profiler.blocks.bufferSize", Natural},
    {"profiler.blocks.implicitFlush", Boolean},
    {"profiler.programs.filter", Pattern},
    {"profiler.includeFlopEstimates", Boolean},
    {"profiler.includeCycleEstimates", Boolean},
    {"profiler.perExecutionStreamCopyCycles", Boolean},
    {"profiler.replicaToProfile", Natural},
    {"profiler.format"},
    {"exchange.streamBufferOverlap", OneOf, "any|hostRearrangeOnly|none"},
    {"exchange.enablePrefetch", Boolean},
    {"exchange.multicastPolicy"},
    {"target.deterministicWorkers", OneOf, "true|false|portable"},
    {"target.syncReplicasIndependently", Boolean},
    {"target.saveArchive"},
    {"target.extendedMemory"},
    {"target.useBufferedCompletions", Boolean},
    {"target.gatewayWriteCombining"},
    {"target.numberRuntimeReplica", Natural},
    {"target.firstRuntimeReplica", Natural},
    {"target.workerStackSizeInBytes", Natural},
    {"target.supervisorStackSizeInBytes", Natural},
    {"opt.maxCompilationThreads", Natural},
    {"opt.maxLinkerThreads", Natural},
    {"opt.internalExchangeOptimisationTarget", OneOf, "balanced|cycles|memory"},
    {"opt.enableMultiAccessCopies", Boolean},
    {"opt.useAutoloader", Boolean},
    {"opt.maxComputeSetsPerLoweredCopy", Natural},
    {"opt.limitVertexStateToLower256K", Boolean},
    {"opt.enableSwSyncs", Boolean},
    {"opt.enableInlining", Boolean},
    {"opt.maxCopyMergeSize", Natural},
    {"prng.enable", Boolean},
    {"prng.enableStochasticRounding", Boolean},
    {"prng.seed", Natural},
};

// How the host serves a running program. Engines take them too.
constexpr OptionRule runtimeRules[] = {
    {"target.syncMethod", OneOf, "polling|hybrid|default"},
    {"target.syncPollPeriodUs", Natural},
    {"target.exceptionPollPeriodUs", Natural},
    {"target.hostSyncTimeout", Number}, // seconds
    {"streamCallbacks.multiThreadMode", OneOf,
     "singleThread|collaborative|dedicated"},
    {"streamCallbacks.numaAware", Boolean},
    {"streamCallbacks.numWorkerThreads", Natural, "auto"},
    {"streamCallbacks.maxLookahead", Natural, "unlimited"},
};

constexpr OptionRule summaryRules[] = {
    {"showExecutionSteps", Boolean},
    {"showOptimizations", Boolean},
    {"showPerIpuMemoryUsage", Boolean},
    {"showVarStorage", Boolean},
    {"colours", Boolean},
    {"assumedRuns", Natural},
};

} // namespace

OptionFlags resolveOptions(const OptionFlags &options) {
  OptionFlags result = options;
  readJSONFromEnv("POPLAR_ENGINE_OPTIONS", result);
  checkOptions(result, {engineRules, runtimeRules});
  for (const auto &[name, value] : result) {
    logger.debug("option {} = {}", name, value);
  }
  return result;
}

OptionFlags resolveRuntimeOptions(const OptionFlags &options) {
  OptionFlags result = options;
  readJSONFromEnv("POPLAR_RUNTIME_OPTIONS", result);
  checkOptions(result, {runtimeRules});
  return result;
}

bool isEnabled(const OptionFlags &options, const char *name, bool otherwise) {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : found->second == "true";
}

namespace {

// A natural number of 32 bits; none if it was not given.
std::optional<std::uint32_t> numberOf(const OptionFlags &options,
                                      const char *name) {
  const auto found = options.find(name);
  if (found == options.end()) {
    return std::nullopt;
  }
  const std::string &text = found->second;
  std::uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  support::requireUser<invalid_option>(
      error == std::errc(),
      "Option '{}' has the invalid value '{}'; allowed: numbers below 2^32",
      name, text);
  return number;
}

// The value of the first of two names that was given.
std::uint64_t bytesOf(const OptionFlags &options, const char *name,
                      const char *oldName, std::uint64_t otherwise) {
  const auto given = numberOf(options, name);
  return given ? *given
               : numberOf(options, oldName)
                     .value_or(static_cast<std::uint32_t>(otherwise));
}

model::ComputeCounters computeCounters(const OptionFlags &options) {
  using enum model::ComputeCounters;
  const auto found = options.find("debug.computeInstrumentationLevel");
  const std::string level = found == options.end() ? "tile" : found->second;
  return level == "vertex" ? Vertex
         : level == "tile" ? Tile
         : level == "ipu"  ? Ipu
                           : Device;
}

} // namespace

model::MemoryOptions memoryOptions(const OptionFlags &options) {
  model::MemoryOptions result;
  result.supervisorStackBytes =
      bytesOf(options, "target.supervisorStackSizeInBytes",
              "debug.supervisorStackSizeInBytes", result.supervisorStackBytes);
  result.workerStackBytes =
      bytesOf(options, "target.workerStackSizeInBytes",
              "debug.workerStackSizeInBytes", result.workerStackBytes);
  const bool isInstrumented = isEnabled(options, "debug.instrument",
                                        isEnabled(options, "autoReport.all"));
  if (isEnabled(options, "debug.instrumentCompute", isInstrumented)) {
    result.computeCounters = computeCounters(options);
  }
  result.countsControlFlow =
      isEnabled(options, "debug.instrumentControlFlow", isInstrumented);
  result.countsExternalExchange =
      isEnabled(options, "debug.instrumentExternalExchange", isInstrumented);
  return result;
}

compiler::RuntimeReplicas runtimeReplicas(const OptionFlags &options,
                                          unsigned replicas) {
  const char *firstName = "target.firstRuntimeReplica";
  const char *countName = "target.numberRuntimeReplica";
  const compiler::RuntimeReplicas result{
      numberOf(options, firstName).value_or(0),
      numberOf(options, countName).value_or(replicas)};
  support::requireUser<invalid_option>(
      result.count > 0 && replicas % result.count == 0 &&
          result.first % result.count == 0 && result.first < replicas,
      "Options '{}' ({}) and '{}' ({}) do not name an engine's share of {} "
      "replicas: shares are equal, and follow each other from replica 0",
      firstName, result.first, countName, result.count, replicas);
  return result;
}

SummaryOptions parseSummaryOptions(const OptionFlags &options) {
  checkOptions(options, {summaryRules});
  const auto isOn = [&](const char *name) { return isEnabled(options, name); };
  SummaryOptions result{isOn("showExecutionSteps"),
                        isOn("showOptimizations"),
                        isOn("showPerIpuMemoryUsage"),
                        isOn("showVarStorage"),
                        std::nullopt,
                        0};
  if (options.find("colours") != options.end()) {
    result.colours = isOn("colours");
  }
  if (options.find("assumedRuns") != options.end()) {
    result.assumedRuns = std::stoull(options.at("assumedRuns"));
  }
  return result;
}

} // namespace poplar::engine
