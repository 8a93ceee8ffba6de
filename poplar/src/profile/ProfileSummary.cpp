// The text of Engine::printProfileSummary().
#include "profile/ProfileSummary.hpp"

#include "model/MemoryUse.hpp"
#include "model/StepTable.hpp"
#include "profile/ExecutionText.hpp"
#include "profile/MemoryText.hpp"
#include "profile/Text.hpp"
#include <support/Error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace poplar::profile {

namespace {

void printTarget(std::ostream &stream, const ProfileRequest &request,
                 const model::StepTable &steps) {
  const internal::TargetData &target = steps.target();
  const auto print = [&](const char *label, const std::string &value) {
    stream << fmt::format("  {:<24}{}\n", label, value);
  };
  const std::uint64_t replicas = std::max(request.graph.replicationFactor, 1U);
  const std::uint64_t bytes = target.bytesPerTile * steps.tiles();
  stream << heading("Target:", request.colours) << '\n';
  print("Number of IPUs:", thousands(replicas * steps.ipus()));
  print("Tiles per IPU:", thousands(target.tilesPerIPU));
  print("Total Tiles:", thousands(replicas * steps.tiles()));
  print("Memory Per-Tile:", memorySize(target.bytesPerTile));
  print("Total Memory:", memorySize(replicas * bytes));
  print("Clock Speed (approx):", decimal(target.clockHz / 1e6) + " MHz");
  print("Number of Replicas:", thousands(replicas));
  print("IPUs per Replica:", thousands(steps.ipus()));
  print("Tiles per Replica:", thousands(steps.tiles()));
  print("Memory per Replica:", memorySize(bytes));
  stream << '\n';
}

void printGraph(std::ostream &stream, const ProfileRequest &request,
                const model::MemoryUse &use) {
  const auto print = [&](const char *label, std::uint64_t count) {
    stream << rightAligned(2, label, thousands(count), 38) << '\n';
  };
  stream << heading("Graph:", request.colours) << '\n';
  print("Number of vertices", use.vertices);
  print("Number of edges", use.edges);
  print("Number of variables", request.graph.variables.size());
  print("Number of compute sets", use.computeSets);
  stream << '\n';
}

} // namespace

void printSummary(std::ostream &stream, const ProfileRequest &request) {
  for (const ProgramRun &run : request.runs) {
    support::requireInternal(run.program < request.programs.size(),
                             "run of program {} of {}", run.program,
                             request.programs.size());
  }
  model::StepTable steps(request.graph, request.counts);
  const model::MemoryUse use =
      model::measureMemory(steps, request.programs, request.memory);
  printTarget(stream, request, steps);
  printGraph(stream, request, use);
  printMemory(stream, request, use, steps.target().tilesPerIPU);
  printExecution(stream, request, steps);
}

} // namespace poplar::profile
