// The text of Engine::printProfileSummary(): prices the programs with the
// machine model and prints the result in the SDK's layout.
#pragma once

#include "model/MemoryOptions.hpp"
#include "model/ProgramCounts.hpp"
#include <poplar/internal/GraphData.hpp>
#include <poplar/internal/ProgramNode.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace poplar::profile {

// `count` consecutive runs of one program.
struct ProgramRun {
  std::size_t program = 0; // index into ProfileRequest::programs
  std::string name;        // debug name, empty when it has none
  std::uint64_t count = 1;
};

struct ProfileRequest {
  const internal::GraphData &graph;
  std::vector<internal::ProgramPtr> programs; // null: costs nothing
  // In the order they ran, consecutive equal ones merged into one entry.
  std::vector<ProgramRun> runs;
  // What was counted of data-dependent programs, if anything was.
  const model::ProgramCounts *counts = nullptr;
  model::MemoryOptions memory = {};

  bool showExecutionSteps = false;
  bool showPerIpuMemoryUsage = false;
  bool showVarStorage = false;
  bool showOptimizations = false;
  bool colours = false;
};

void printSummary(std::ostream &stream, const ProfileRequest &request);

} // namespace poplar::profile
