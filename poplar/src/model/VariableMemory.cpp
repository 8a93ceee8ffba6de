// The variables' share of tile memory.
#include "model/VariableMemory.hpp"

#include "model/Constants.hpp"
#include "model/TileSegments.hpp"
#include "model/TileSum.hpp"

#include <algorithm>

namespace poplar::model {

using internal::MappingPiece;
using internal::TileRun;
using internal::Variable;

namespace {

std::uint64_t alignedBytes(std::int64_t elements, support::DataType type) {
  const std::uint64_t bytes =
      static_cast<std::uint64_t>(elements) * support::sizeOf(type);
  return (bytes + allocationBytes - 1) / allocationBytes * allocationBytes;
}

// Calls f(firstTile, tileCount, bytes) for the runs of tiles with equal shares.
template <typename F> void forEachTileRun(const Variable &variable, F &&f) {
  for (const MappingPiece &piece : variable.mapping.pieces()) {
    const std::int64_t whole = piece.parts * piece.grain;
    if ((piece.end - piece.begin) % whole == 0) { // all shares are equal
      f(piece.firstTile, piece.parts,
        alignedBytes((piece.end - piece.begin) / piece.parts, variable.type));
      continue;
    }
    unsigned first = 0;
    std::uint64_t bytes = 0;
    for (unsigned part = 0; part < piece.parts; ++part) {
      const MappingPiece::Range range = piece.partRange(part);
      const auto share = alignedBytes(range.end - range.begin, variable.type);
      if (share != bytes) {
        f(piece.firstTile + first, part - first, bytes);
        first = part;
        bytes = share;
      }
    }
    f(piece.firstTile + first, piece.parts - first, bytes);
  }
}

// The live bytes of every tile while the schedule passes, and their peak.
class LiveBytes {
public:
  explicit LiveBytes(unsigned tiles) : live_(tiles, 0), peak_(tiles, 0) {}

  void begin(const Variable &variable) {
    forEachTileRun(variable,
                   [&](unsigned first, unsigned count, std::uint64_t bytes) {
                     for (unsigned tile = first; tile < first + count; ++tile) {
                       live_[tile] += bytes;
                       peak_[tile] = std::max(peak_[tile], live_[tile]);
                     }
                   });
  }
  void end(const Variable &variable) {
    forEachTileRun(variable,
                   [&](unsigned first, unsigned count, std::uint64_t bytes) {
                     for (unsigned tile = first; tile < first + count; ++tile) {
                       live_[tile] -= bytes;
                     }
                   });
  }
  void touch(unsigned first, unsigned count, std::uint64_t temporary) {
    for (unsigned tile = first; tile < first + count; ++tile) {
      peak_[tile] = std::max(peak_[tile], live_[tile] + temporary);
    }
  }
  const std::vector<std::uint64_t> &peak() const { return peak_; }

private:
  std::vector<std::uint64_t> live_;
  std::vector<std::uint64_t> peak_;
};

template <typename F>
void forEachTemporary(const Step &step, unsigned tilesPerIpu, F &&f) {
  std::vector<const TileRun *> runs;
  for (const TileRun *run : step.runs) {
    if (run->temporaryBytes != 0) {
      runs.push_back(run);
    }
  }
  forEachSegment(std::span<const TileRun *const>(runs), tilesPerIpu,
                 [&](unsigned first, unsigned count, auto active) {
                   std::uint64_t bytes = 0;
                   for (const TileRun *run : active) {
                     bytes += run->temporaryBytes;
                   }
                   f(first, count, bytes);
                 });
}

std::vector<std::uint64_t> findPeaks(StepTable &steps,
                                     const Liveness &liveness) {
  const std::vector<Variable> &variables = steps.graph().variables;
  LiveBytes bytes(steps.tiles());
  std::vector<LiveRange> byEnd = liveness.ranges;
  std::stable_sort(
      byEnd.begin(), byEnd.end(),
      [](const LiveRange &a, const LiveRange &b) { return a.end < b.end; });
  auto begin = liveness.ranges.begin();
  auto end = byEnd.begin();
  for (std::size_t leaf = 0; leaf < liveness.schedule.size(); ++leaf) {
    for (; begin != liveness.ranges.end() && begin->begin == leaf; ++begin) {
      bytes.begin(variables[begin->variable.index()]);
    }
    for (const Step &step : steps.stepsOf(*liveness.schedule[leaf])) {
      forEachTemporary(step, steps.target().tilesPerIPU,
                       [&](unsigned first, unsigned count, std::uint64_t sum) {
                         bytes.touch(first, count, sum);
                       });
    }
    for (; end != byEnd.end() && end->end == leaf; ++end) {
      bytes.end(variables[end->variable.index()]);
    }
  }
  return bytes.peak();
}

std::vector<Allocation> allocationsOn(unsigned tile, StepTable &steps,
                                      const Liveness &liveness) {
  std::vector<Allocation> result;
  for (const LiveRange &range : liveness.ranges) {
    const Variable &variable = steps.graph().variables[range.variable.index()];
    if (const std::uint64_t bytes = bytesOnTile(variable, tile)) {
      result.push_back({bytes, range.begin, range.end});
    }
  }
  for (std::size_t leaf = 0; leaf < liveness.schedule.size(); ++leaf) {
    std::uint64_t temporary = 0;
    for (const Step &step : steps.stepsOf(*liveness.schedule[leaf])) {
      forEachTemporary(step, steps.target().tilesPerIPU,
                       [&](unsigned first, unsigned count, std::uint64_t sum) {
                         if (tile >= first && tile < first + count) {
                           temporary = std::max(temporary, sum);
                         }
                       });
    }
    if (temporary != 0) {
      result.push_back({temporary, leaf, leaf});
    }
  }
  return result;
}

} // namespace

std::uint64_t bytesOnTile(const Variable &variable, unsigned tile) {
  std::uint64_t bytes = 0;
  for (const MappingPiece &piece : variable.mapping.pieces()) {
    if (tile >= piece.firstTile && tile < piece.firstTile + piece.parts) {
      const auto range = piece.partRange(tile - piece.firstTile);
      bytes += alignedBytes(range.end - range.begin, variable.type);
    }
  }
  return bytes;
}

std::uint64_t packedBytes(std::vector<Allocation> allocations) {
  std::stable_sort(allocations.begin(), allocations.end(),
                   [](const Allocation &a, const Allocation &b) {
                     return a.bytes > b.bytes;
                   });
  struct Placed {
    std::uint64_t offset;
    Allocation allocation;
  };
  std::vector<Placed> placed; // ascending offset
  std::uint64_t top = 0;
  for (const Allocation &next : allocations) {
    std::uint64_t offset = 0; // end of what is known to be taken
    std::uint64_t best = 0;
    std::uint64_t bestHole = 0; // 0: none yet
    for (const Placed &other : placed) {
      if (other.allocation.end < next.begin ||
          other.allocation.begin > next.end) {
        continue; // never alive together
      }
      const std::uint64_t hole =
          other.offset > offset ? other.offset - offset : 0;
      if (hole >= next.bytes && (bestHole == 0 || hole < bestHole)) {
        best = offset;
        bestHole = hole;
      }
      offset = std::max(offset, other.offset + other.allocation.bytes);
    }
    const std::uint64_t at = bestHole != 0 ? best : offset;
    const auto place =
        std::find_if(placed.begin(), placed.end(),
                     [&](const Placed &other) { return other.offset > at; });
    placed.insert(place, {at, next});
    top = std::max(top, at + next.bytes);
  }
  return top;
}

VariableMemory measureVariables(StepTable &steps, const Liveness &liveness) {
  TileSum alwaysLive(steps.tiles());
  TileSum constants(steps.tiles());
  for (const internal::VariableId id : liveness.alwaysLive) {
    const Variable &variable = steps.graph().variables[id.index()];
    TileSum &sum = variable.isConstant ? constants : alwaysLive;
    forEachTileRun(variable,
                   [&](unsigned first, unsigned count, std::uint64_t bytes) {
                     sum.add(first, count, bytes);
                   });
  }
  VariableMemory result{
      alwaysLive.values(), constants.values(), findPeaks(steps, liveness), {}};
  // Packing is done on the tile with the highest peak; the others, whose
  // variables are much the same, get gaps in proportion.
  result.gaps.resize(steps.tiles(), 0);
  const auto highest = std::max_element(result.peak.begin(), result.peak.end());
  if (highest != result.peak.end() && *highest != 0) {
    const auto tile = static_cast<unsigned>(highest - result.peak.begin());
    const std::uint64_t packed =
        packedBytes(allocationsOn(tile, steps, liveness));
    const std::uint64_t gap = packed > *highest ? packed - *highest : 0;
    for (std::size_t t = 0; t < result.gaps.size(); ++t) {
      result.gaps[t] = result.peak[t] * gap / *highest;
    }
  }
  return result;
}

} // namespace poplar::model
