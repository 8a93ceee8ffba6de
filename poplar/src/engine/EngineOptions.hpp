// The options of engines and compileGraph(): which there are, what values they
// take, and the environment's overrides.
#pragma once

#include "compiler/ExpandReplicas.hpp"
#include "model/MemoryOptions.hpp"

#include <poplar/OptionFlags.hpp>

#include <optional>

namespace poplar::engine {

// `options` with those of the environment variable POPLAR_ENGINE_OPTIONS (a
// JSON object of strings) on top. Throws invalid_option for a name that does
// not exist or a value that its option does not take, parse_error for text that
// is not JSON.
OptionFlags resolveOptions(const OptionFlags &options);

// The same for RuntimeOptions and POPLAR_RUNTIME_OPTIONS.
OptionFlags resolveRuntimeOptions(const OptionFlags &options);

// Whether a boolean option is on; `otherwise` when it was not given.
bool isEnabled(const OptionFlags &options, const char *name,
               bool otherwise = false);

// What the options say about the memory of tiles: stacks and instrumentation.
model::MemoryOptions memoryOptions(const OptionFlags &options);

// Which of a graph's replicas the engine runs: all, unless the options
// target.firstRuntimeReplica and target.numberRuntimeReplica name some.
compiler::RuntimeReplicas runtimeReplicas(const OptionFlags &options,
                                          unsigned replicas);

// The options of printProfileSummary().
struct SummaryOptions {
  bool showExecutionSteps = false;
  bool showOptimizations = false;
  bool showPerIpuMemoryUsage = false;
  bool showVarStorage = false;
  std::optional<bool> colours; // none: as is usual for the stream
  // Of the first program, priced on top of those that took place.
  std::uint64_t assumedRuns = 0;
};
SummaryOptions parseSummaryOptions(const OptionFlags &options);

} // namespace poplar::engine
