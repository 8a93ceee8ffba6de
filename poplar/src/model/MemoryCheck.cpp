// Does a compiled program fit the tiles?
#include "model/MemoryCheck.hpp"

#include "model/MemoryUse.hpp"
#include <poplar/internal/TargetData.hpp>

#include <fmt/format.h>

#include <cstdlib>

namespace poplar::model {

MemoryCheck checkMemory(const internal::GraphData &graph,
                        const std::vector<internal::ProgramPtr> &programs,
                        const std::string &policy) {
  if (!graph.target || graph.target->kind != internal::TargetKind::Ipu) {
    return {};
  }
  StepTable steps(graph);
  const MemoryUse use = measureMemory(steps, programs);
  unsigned outOfMemory = 0;
  for (unsigned tile = 0; tile < use.tiles(); ++tile) {
    outOfMemory += use.isOutOfMemory(tile) ? 1 : 0;
  }
  if (outOfMemory == 0) {
    return {};
  }
  const unsigned tile = use.fullestTile();
  const std::uint64_t bytes = use.usedWithGaps(tile);
  MemoryCheck result;
  // 125 %: the model is an estimate, so a program that is a little too large
  // may still fit the real machine.
  const bool isFarOver = bytes > use.bytesPerTile + use.bytesPerTile / 4;
  const bool isError = policy == "strict" || (isFarOver && policy != "warn");
  result.verdict =
      isError ? MemoryVerdict::OutOfMemory : MemoryVerdict::Warning;
  result.message = fmt::format(
      "Out of memory: Cannot fit all variable data onto one or more tiles. "
      "{} of {} tiles are too full; the fullest, tile {}, needs {} bytes "
      "({:.1f}%) of {}, {} of them code, which may take {}. ",
      outOfMemory, use.tiles(), tile, bytes,
      100.0 * static_cast<double>(bytes) /
          static_cast<double>(use.bytesPerTile),
      use.bytesPerTile, use.code(tile), use.interleavedOffset);
  result.message +=
      isError ? "Set ASPEN_MEMORY=warn to run anyway."
              : "Running anyway; ASPEN_MEMORY=strict makes this an error.";
  return result;
}

MemoryCheck checkMemory(const internal::GraphData &graph,
                        const std::vector<internal::ProgramPtr> &programs) {
  const char *policy = std::getenv("ASPEN_MEMORY");
  return checkMemory(graph, programs, policy != nullptr ? policy : "");
}

} // namespace poplar::model
