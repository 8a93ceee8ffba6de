// Does a compiled program fit the tiles?
#include "model/MemoryCheck.hpp"

#include "model/MemoryUse.hpp"
#include <poplar/internal/TargetData.hpp>

#include <fmt/format.h>

#include <cstdlib>

namespace poplar::model {

MemoryCheck checkMemory(const internal::GraphData &graph,
                        const std::vector<internal::ProgramPtr> &programs,
                        const MemoryOptions &options,
                        const std::string &policy) {
  if (!graph.target || graph.target->kind != internal::TargetKind::Ipu) {
    return {};
  }
  StepTable steps(graph);
  const MemoryUse use = measureMemory(steps, programs, options);
  unsigned outOfMemory = 0;
  const TileMemory *fullest = use.runs.data(); // there is at least one tile
  for (const TileMemory &run : use.runs) {
    outOfMemory += use.isOutOfMemory(run) ? run.tileCount : 0;
    fullest = use.fill(run) > use.fill(*fullest) ? &run : fullest;
  }
  if (outOfMemory == 0) {
    return {};
  }
  MemoryCheck result;
  // The model is an estimate, so a program that is a little too large may still
  // fit the real machine.
  const bool isFarOver = use.fill(*fullest) > 1.25;
  const bool isError = policy == "strict" || (isFarOver && policy != "warn");
  result.verdict =
      isError ? MemoryVerdict::OutOfMemory : MemoryVerdict::Warning;
  const std::uint64_t bytes = fullest->usedWithGaps();
  result.message = fmt::format(
      "Out of memory: Cannot fit all variable data onto one or more tiles. "
      "{} of {} tiles are too full; the fullest, tile {}, needs {} bytes "
      "({:.1f}%) of {}, {} of them code, which may take {}. ",
      outOfMemory, use.tiles(), fullest->firstTile, bytes,
      100.0 * static_cast<double>(bytes) /
          static_cast<double>(use.bytesPerTile),
      use.bytesPerTile, fullest->code(), use.interleavedOffset);
  result.message +=
      isError ? "Set ASPEN_MEMORY=warn to run anyway."
              : "Running anyway; ASPEN_MEMORY=strict makes this an error.";
  return result;
}

MemoryCheck checkMemory(const internal::GraphData &graph,
                        const std::vector<internal::ProgramPtr> &programs,
                        const MemoryOptions &options) {
  const char *policy = std::getenv("ASPEN_MEMORY");
  return checkMemory(graph, programs, options, policy != nullptr ? policy : "");
}

} // namespace poplar::model
