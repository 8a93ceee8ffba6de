#include <poplar/Executable.hpp>

#include "compiler/CheckPrograms.hpp"
#include "compiler/CheckVertices.hpp"
#include "compiler/PriceCycleCounts.hpp"
#include "engine/EngineOptions.hpp"
#include "engine/ExecutableImpl.hpp"
#include "model/MemoryCheck.hpp"
#include "profile/ProfileSummary.hpp"

#include <poplar/exceptions.hpp>
#include <poplar/internal/Access.hpp>
#include <poplar/internal/LinkedPrograms.hpp>
#include <poplar/internal/OutOfMemory.hpp>
#include <support/Error.hpp>
#include <support/Timed.hpp>

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace poplar {
namespace {

using Reading = ExecutableImpl::Reading;

constexpr support::Logger logger(support::LogChannel::Poplar, "ENGINE");

std::shared_ptr<Reading> snapshot(const Graph &graph,
                                  ArrayRef<program::Program> programs) {
  Reading reading;
  reading.graph = internal::graphData(graph);
  internal::finishGraph(reading.graph);
  for (const internal::Variable &variable : reading.graph.variables) {
    variable.mapping.settle();
  }
  for (const program::Program &program : programs) {
    reading.programs.push_back(internal::programNode(program));
  }
  return std::make_shared<Reading>(std::move(reading));
}

// What a report would say of a program that no engine runs; empty unless the
// user asked for it.
std::string summaryOf(const Reading &machine, const OptionFlags &options) {
  const auto isAllowed = [](const auto &option) {
    return option.first == "debug.allowOutOfMemory" && option.second == "true";
  };
  if (std::none_of(options.begin(), options.end(), isAllowed)) {
    return {};
  }
  profile::ProfileRequest request{
      .graph = machine.graph, .programs = machine.programs, .runs = {}};
  request.memory = engine::memoryOptions(options);
  std::ostringstream text;
  profile::printSummary(text, request);
  return text.str();
}

void checkFits(const Reading &machine, const OptionFlags &options) {
  const model::MemoryCheck check = model::checkMemory(
      machine.graph, machine.programs, engine::memoryOptions(options));
  switch (check.verdict) {
  case model::MemoryVerdict::Fits:
    break;
  case model::MemoryVerdict::Warning:
    std::fprintf(stderr, "%s\n", check.message.c_str());
    break;
  case model::MemoryVerdict::OutOfMemory:
    if (auto summary = summaryOf(machine, options); !summary.empty()) {
      throw internal::OutOfMemory(check.message, std::move(summary));
    }
    throw graph_memory_allocation_error(check.message);
  }
}

Executable compile(std::shared_ptr<Reading> values,
                   std::shared_ptr<Reading> machine, const OptionFlags &options,
                   const ProgressFunc &progress) {
  constexpr int steps = 3;
  const auto report = [&](int step) {
    if (progress) {
      progress(step, steps);
    }
  };
  OptionFlags resolved = engine::resolveOptions(options);
  report(0);
  support::timed(logger, "checkMachineProgram", [&] {
    compiler::checkPrograms(machine->graph, machine->programs);
    compiler::checkVertices(machine->graph, machine->programs);
    compiler::checkTileMapping(machine->graph, machine->programs);
  });
  report(1);
  support::timed(logger, "checkValueProgram", [&] {
    if (values != machine) {
      compiler::checkPrograms(values->graph, values->programs);
      compiler::checkVertices(values->graph, values->programs);
    }
  });
  report(2);
  support::timed(logger, "checkMemory", [&] {
    compiler::priceCycleCounts(values->graph, values->programs);
    checkFits(*machine, resolved);
  });
  report(3);
  return Executable(std::make_shared<const ExecutableImpl>(
      std::move(values), std::move(machine), std::move(resolved)));
}

} // namespace

Executable::Executable() = default;
Executable::Executable(std::shared_ptr<const ExecutableImpl> impl)
    : impl_(std::move(impl)) {}
Executable::~Executable() = default;
Executable::Executable(const Executable &) = default;
Executable::Executable(Executable &&) noexcept = default;
Executable &Executable::operator=(const Executable &) = default;
Executable &Executable::operator=(Executable &&) noexcept = default;

Executable compileGraph(const Graph &graph, ArrayRef<program::Program> programs,
                        const OptionFlags &options, ProgressFunc progress,
                        const DebugContext &) {
  const auto reading = snapshot(graph, programs);
  return compile(reading, reading, options, progress);
}

Executable compileGraph(Graph &&graph, ArrayRef<program::Program> programs,
                        const OptionFlags &options, ProgressFunc progress,
                        const DebugContext &debugContext) {
  return compileGraph(static_cast<const Graph &>(graph), programs, options,
                      std::move(progress), debugContext);
}

Executable
internal::compileLinked(const Graph &valueGraph,
                        const std::vector<program::Program> &valuePrograms,
                        const Graph &machineGraph,
                        const std::vector<program::Program> &machinePrograms,
                        const OptionFlags &options, ProgressFunc progress) {
  support::requireInternal(valuePrograms.size() == machinePrograms.size(),
                           "{} value programs linked with {} machine programs",
                           valuePrograms.size(), machinePrograms.size());
  return compile(snapshot(valueGraph, valuePrograms),
                 snapshot(machineGraph, machinePrograms), options, progress);
}

} // namespace poplar
