#include "engine/EngineOptions.hpp"

#include <nlohmann/json.hpp>
#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>

namespace poplar::engine {
namespace {

enum class Values { Boolean, Integer, Text, OneOf };

struct OptionRule {
  std::string_view name; // a name that ends in '*' stands for a family
  Values values = Values::Text;
  std::string_view allowed = {}; // OneOf: the words, with '|' between them
};

// Every engine option of the SDK. Those that only matter to hardware are
// accepted and recorded.
constexpr OptionRule rules[] = {
    {"autoReport.all", Values::Boolean},
    {"autoReport.directory"},
    {"autoReport.outputGraphProfile", Values::Boolean},
    {"autoReport.outputExecutionProfile", Values::Boolean},
    {"autoReport.outputLoweredVars", Values::Boolean},
    {"autoReport.outputDebugInfo", Values::Boolean},
    {"autoReport.outputArchive", Values::Boolean},
    {"autoReport.outputSerializedGraph", Values::Boolean},
    {"autoReport.executionProfileProgramRunCount", Values::Integer},
    {"autoReport.streamAtEachRun", Values::Boolean},
    {"debug.instrument", Values::Boolean},
    {"debug.instrumentCompute", Values::Boolean},
    {"debug.instrumentControlFlow", Values::Boolean},
    {"debug.instrumentExternalExchange", Values::Boolean},
    {"debug.computeInstrumentationLevel", Values::OneOf,
     "vertex|tile|ipu|device"},
    {"debug.profilingTile", Values::Integer},
    {"debug.retainDebugInformation", Values::Boolean},
    {"debug.allowOutOfMemory", Values::Boolean},
    {"debug.floatPointOpException", Values::Boolean},
    {"debug.nanOverflowException", Values::Boolean},
    {"debug.trace", Values::Boolean},
    {"debug.traceFile"},
    {"debug.verify", Values::Boolean},
    {"debug.runtimeVerify", Values::Boolean},
    {"debug.outputAllSymbols", Values::Boolean},
    {"debug.loweredVarDumpFile"},
    {"debug.cpuMultiThreadExecution", Values::Boolean},
    {"debug.branchRecordTile", Values::Integer},
    {"debug.checkAssertions", Values::Boolean},
    {"debug.executionProfile"},
    {"debug.nanOverflowMode"},
    {"debug.graphReportDestination"},
    {"debug.supervisorStackSizeInBytes", Values::Integer},
    {"debug.workerStackSizeInBytes", Values::Integer},
    {"profiler.blocks.filter"},
    {"profiler.blocks.tile", Values::Integer},
    {"profiler.blocks.bufferSize", Values::Integer},
    {"profiler.blocks.implicitFlush", Values::Boolean},
    {"profiler.programs.filter"},
    {"profiler.includeFlopEstimates", Values::Boolean},
    {"profiler.includeCycleEstimates", Values::Boolean},
    {"profiler.perExecutionStreamCopyCycles", Values::Boolean},
    {"profiler.replicaToProfile", Values::Integer},
    {"profiler.format"},
    {"exchange.streamBufferOverlap", Values::OneOf,
     "any|hostRearrangeOnly|none"},
    {"exchange.enablePrefetch", Values::Boolean},
    {"exchange.multicastPolicy"},
    {"target.deterministicWorkers", Values::OneOf, "true|false|portable"},
    {"target.syncReplicasIndependently", Values::Boolean},
    {"target.hostSyncTimeout"},
    {"target.saveArchive"},
    {"target.extendedMemory"},
    {"target.useBufferedCompletions", Values::Boolean},
    {"target.gatewayWriteCombining"},
    {"target.numberRuntimeReplica", Values::Integer},
    {"target.firstRuntimeReplica", Values::Integer},
    {"target.workerStackSizeInBytes", Values::Integer},
    {"target.supervisorStackSizeInBytes", Values::Integer},
    {"opt.maxCompilationThreads", Values::Integer},
    {"opt.maxLinkerThreads", Values::Integer},
    {"opt.internalExchangeOptimisationTarget", Values::OneOf,
     "balanced|cycles|memory"},
    {"opt.enableMultiAccessCopies", Values::Boolean},
    {"opt.useAutoloader", Values::Boolean},
    {"opt.maxComputeSetsPerLoweredCopy", Values::Integer},
    {"opt.limitVertexStateToLower256K", Values::Boolean},
    {"opt.enableSwSyncs", Values::Boolean},
    {"opt.enableInlining", Values::Boolean},
    {"opt.maxCopyMergeSize", Values::Integer},
    {"prng.enable", Values::Boolean},
    {"prng.enableStochasticRounding", Values::Boolean},
    {"prng.seed", Values::Integer},
    {"streamCallbacks.*"},
};

constexpr OptionRule summaryRules[] = {
    {"showExecutionSteps", Values::Boolean},
    {"showOptimizations", Values::Boolean},
    {"showPerIpuMemoryUsage", Values::Boolean},
    {"showVarStorage", Values::Boolean},
    {"colours", Values::Boolean},
};

bool isNamed(const OptionRule &rule, std::string_view name) {
  if (rule.name.ends_with('*')) {
    return name.starts_with(rule.name.substr(0, rule.name.size() - 1));
  }
  return rule.name == name;
}

bool isInteger(std::string_view text) {
  if (text.starts_with('-')) {
    text.remove_prefix(1);
  }
  return !text.empty() &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool isOneOf(std::string_view value, std::string_view allowed) {
  while (!allowed.empty()) {
    const std::size_t bar = std::min(allowed.find('|'), allowed.size());
    if (allowed.substr(0, bar) == value) {
      return true;
    }
    allowed.remove_prefix(std::min(bar + 1, allowed.size()));
  }
  return false;
}

void checkValue(const OptionRule &rule, const std::string &name,
                const std::string &value) {
  bool isAllowed = true;
  std::string_view allowed;
  switch (rule.values) {
  case Values::Boolean:
    allowed = "true|false";
    isAllowed = isOneOf(value, allowed);
    break;
  case Values::Integer:
    allowed = "an integer";
    isAllowed = isInteger(value);
    break;
  case Values::OneOf:
    allowed = rule.allowed;
    isAllowed = isOneOf(value, allowed);
    break;
  case Values::Text:
    break;
  }
  support::requireUser<invalid_option>(
      isAllowed, "Option '{}' has the invalid value '{}'; allowed: {}", name,
      value, allowed);
}

template <std::size_t size>
void checkOptions(const OptionFlags &options, const OptionRule (&table)[size]) {
  for (const auto &[name, value] : options) {
    const auto rule = std::find_if(
        std::begin(table), std::end(table),
        [&, &key = name](const OptionRule &r) { return isNamed(r, key); });
    support::requireUser<invalid_option>(rule != std::end(table),
                                         "Unrecognised option '{}'", name);
    checkValue(*rule, name, value);
  }
}

void addFromEnvironment(const char *variable, OptionFlags &options) {
  const char *text = std::getenv(variable);
  if (text == nullptr || *text == '\0') {
    return;
  }
  const auto json = nlohmann::json::parse(text, nullptr, false);
  support::requireUser<parse_error>(
      json.is_object(),
      "{} is '{}'; it must be a JSON object of strings, such as "
      "{{\"debug.instrument\":\"true\"}}",
      variable, text);
  for (const auto &[name, value] : json.items()) {
    support::requireUser<parse_error>(value.is_string(),
                                      "{}: the value of '{}' must be a string",
                                      variable, name);
    options.set(name, value.get<std::string>());
  }
}

} // namespace

OptionFlags resolveOptions(const OptionFlags &options) {
  OptionFlags result = options;
  addFromEnvironment("POPLAR_ENGINE_OPTIONS", result);
  checkOptions(result, rules);
  return result;
}

bool isEnabled(const OptionFlags &options, const char *name, bool otherwise) {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : found->second == "true";
}

SummaryOptions parseSummaryOptions(const OptionFlags &options) {
  checkOptions(options, summaryRules);
  const auto isOn = [&](const char *name) { return isEnabled(options, name); };
  return {isOn("showExecutionSteps"), isOn("showOptimizations"),
          isOn("showPerIpuMemoryUsage"), isOn("showVarStorage"),
          isOn("colours")};
}

} // namespace poplar::engine
