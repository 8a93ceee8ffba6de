// The variables' share of tile memory.
#include "model/VariableMemory.hpp"

#include "basics/BestFit.hpp"
#include "model/ConstantMemory.hpp"
#include "model/TilePeaks.hpp"
#include "model/TileSegments.hpp"
#include "model/VariableShares.hpp"

#include <algorithm>

namespace poplar::model {

using internal::TileRun;
using internal::Variable;
using internal::VariableId;

namespace {

std::uint64_t temporaryBytes(const Step &step, const TileRun &run) {
  const bool isTransfer = step.isHostTransfer() || step.isRemoteTransfer();
  return alignUp(run.temporaryBytes,
                 isTransfer ? transferBufferBytes : allocationBytes);
}

// Calls f(firstTile, tileCount, bytes) for what a step needs while it runs.
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
                     bytes += temporaryBytes(step, *run);
                   }
                   f(first, count, bytes);
                 });
}

// Variables that come and go over the schedule.
class LivePeaks {
public:
  LivePeaks(StepTable &steps, const Liveness &liveness,
            const std::vector<Placement> &placements)
      : steps_(steps), liveness_(liveness), placements_(placements) {}

  // Of all of them and the temporaries, or only of the interleaved variables.
  TilePeaks find(bool onlyInterleaved) const {
    TilePeaks peaks(steps_.tiles());
    std::vector<LiveRange> byBegin = liveness_.ranges;
    if (onlyInterleaved) {
      std::erase_if(byBegin, [&](const LiveRange &range) {
        return !placements_[range.variable.index()].isInterleaved;
      });
    }
    std::vector<LiveRange> byEnd = byBegin;
    std::stable_sort(
        byEnd.begin(), byEnd.end(),
        [](const LiveRange &a, const LiveRange &b) { return a.end < b.end; });
    announce(peaks, byBegin, onlyInterleaved);
    auto begin = byBegin.begin();
    auto end = byEnd.begin();
    for (std::size_t leaf = 0; leaf < liveness_.schedule.size(); ++leaf) {
      for (; begin != byBegin.end() && begin->begin == leaf; ++begin) {
        forEachShareOf(*begin, [&](auto... share) { peaks.add(share...); });
      }
      if (!onlyInterleaved) {
        forEachTemporaryOf(leaf, [&](auto... share) {
          peaks.add(share...);
          peaks.remove(share...);
        });
      }
      for (; end != byEnd.end() && end->end == leaf; ++end) {
        forEachShareOf(*end, [&](auto... share) { peaks.remove(share...); });
      }
    }
    return peaks;
  }

  // What comes and goes on one tile.
  std::vector<Allocation> allocationsOn(unsigned tile) const {
    std::vector<Allocation> result;
    for (const LiveRange &range : liveness_.ranges) {
      const std::uint64_t bytes =
          bytesOnTile(variable(range), placement(range), tile);
      if (bytes != 0) {
        result.push_back({bytes, range.begin, range.end});
      }
    }
    for (std::size_t leaf = 0; leaf < liveness_.schedule.size(); ++leaf) {
      std::uint64_t most = 0;
      for (const Step &step : steps_.stepsOf(*liveness_.schedule[leaf])) {
        std::uint64_t bytes = 0;
        for (const TileRun *run : step.runs) {
          if (tile - run->firstTile < run->tileCount) { // wraps if before
            bytes += temporaryBytes(step, *run);
          }
        }
        most = std::max(most, bytes);
      }
      if (most != 0) {
        result.push_back({most, leaf, leaf});
      }
    }
    return result;
  }

private:
  void announce(TilePeaks &peaks, const std::vector<LiveRange> &ranges,
                bool onlyInterleaved) const {
    const auto announceRun = [&](unsigned first, unsigned count,
                                 std::uint64_t) {
      peaks.announce(first, count);
    };
    for (const LiveRange &range : ranges) {
      forEachShareOf(range, announceRun);
    }
    for (std::size_t leaf = 0;
         leaf < liveness_.schedule.size() && !onlyInterleaved; ++leaf) {
      forEachTemporaryOf(leaf, announceRun);
    }
    peaks.begin();
  }

  const Variable &variable(const LiveRange &range) const {
    return steps_.graph()[range.variable];
  }
  Placement placement(const LiveRange &range) const {
    return placements_[range.variable.index()];
  }
  template <typename F>
  void forEachShareOf(const LiveRange &range, F &&f) const {
    forEachShare(variable(range), placement(range), f);
  }
  template <typename F> void forEachTemporaryOf(std::size_t leaf, F &&f) const {
    for (const Step &step : steps_.stepsOf(*liveness_.schedule[leaf])) {
      forEachTemporary(step, steps_.target().tilesPerIPU, f);
    }
  }

  StepTable &steps_;
  const Liveness &liveness_;
  const std::vector<Placement> &placements_;
};

void addAlwaysLive(const StepTable &steps, const Liveness &liveness,
                   const std::vector<Placement> &placements, MemorySums &sums) {
  for (const VariableId id : liveness.alwaysLive) {
    const Variable &variable = steps.graph()[id];
    if (variable.isConstant) {
      continue;
    }
    const Placement placement = placements[id.index()];
    forEachShare(variable, placement,
                 [&](unsigned first, unsigned count, std::uint64_t bytes) {
                   sums.add(MemoryCategory::Variables, first, count, bytes);
                   if (placement.isInterleaved) {
                     sums.addInterleavedOnly(first, count, bytes);
                   }
                 });
  }
}

} // namespace

std::uint64_t bytesOnTile(const Variable &variable, Placement placement,
                          unsigned tile) {
  std::uint64_t bytes = 0;
  for (const internal::MappingPiece &piece : variable.mapping.pieces()) {
    if (tile >= piece.firstTile && tile < piece.firstTile + piece.parts) {
      const auto range = piece.partRange(tile - piece.firstTile);
      bytes += alignUp(static_cast<std::uint64_t>(range.end - range.begin) *
                           support::sizeOf(variable.type),
                       placement.alignment);
    }
  }
  return bytes;
}

std::uint64_t packedBytes(std::vector<Allocation> allocations) {
  std::stable_sort(allocations.begin(), allocations.end(),
                   [](const Allocation &a, const Allocation &b) {
                     return a.bytes > b.bytes;
                   });
  internal::BestFit placed(0);
  for (const Allocation &next : allocations) {
    placed.place({next.bytes, next.begin, next.end},
                 [](std::size_t) { return true; });
  }
  return placed.bytes();
}

void addVariables(StepTable &steps, const Liveness &liveness,
                  const std::vector<Placement> &placements, MemorySums &sums) {
  addAlwaysLive(steps, liveness, placements, sums);
  addConstants(steps.graph(), liveness.alwaysLive, placements, sums);
  const LivePeaks live(steps, liveness, placements);
  const TilePeaks peaks = live.find(false);
  unsigned highestTile = 0;
  std::uint64_t highest = 0;
  peaks.forEachPeak([&](unsigned first, unsigned count, std::uint64_t bytes) {
    sums.addMaxLive(first, count, bytes);
    if (bytes > highest) {
      highest = bytes;
      highestTile = first;
    }
  });
  live.find(true).forEachPeak(
      [&](auto... share) { sums.addInterleavedOnly(share...); });
  if (highest == 0) {
    return;
  }
  // Packing is done on the tile with the highest peak; the others, whose
  // variables are much the same, get gaps in proportion.
  const std::uint64_t packed = packedBytes(live.allocationsOn(highestTile));
  const std::uint64_t gap = packed > highest ? packed - highest : 0;
  peaks.forEachPeak([&](unsigned first, unsigned count, std::uint64_t bytes) {
    sums.addGaps(first, count, bytes * gap / highest);
  });
}

} // namespace poplar::model
