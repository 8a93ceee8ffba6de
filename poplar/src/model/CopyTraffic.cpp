// Collects the moves of one copy and turns them into runs of equal tiles.
#include "model/CopyTraffic.hpp"

#include "model/Constants.hpp"

namespace poplar::model {

using internal::TileRun;
using internal::VertexUse;

void CopyTraffic::addOnTile(TileLoad &load, std::uint64_t bytes) {
  if (bytes % 8 == 0) {
    load.bytes8 += bytes;
  } else if (bytes % 4 == 0) {
    load.bytes4 += bytes;
  } else {
    load.bytes2 += bytes;
  }
  load.copyRuns += 1;
}

void CopyTraffic::move(unsigned from, unsigned to, std::uint64_t bytes,
                       std::uint64_t sentBytes) {
  if (from == to) {
    addOnTile(inside_[to], bytes);
    return;
  }
  const bool isInside = isOneIpu(from, to);
  Loads &loads = isInside ? inside_ : global_;
  TileLoad &sender = loads[from];
  sender.bytesOut += sentBytes;
  sender.fragmentsOut += sentBytes != 0 ? 1 : 0;
  TileLoad &receiver = loads[to];
  receiver.bytesIn += bytes;
  receiver.fragmentsIn += 1;
  if (bytes % 4 != 0) {
    // The exchange moves words: what is no whole word is put in place by the
    // receiving tile.
    addOnTile(inside_[to], bytes);
  }
  if (!isInside) {
    addFlow(from / target_.tilesPerIPU, to / target_.tilesPerIPU, bytes);
  }
}

void CopyTraffic::moveMany(unsigned from, unsigned to, unsigned tiles,
                           std::uint64_t bytes) {
  TileLoad local;
  if (from == to || bytes % 4 != 0) {
    addOnTile(local, bytes);
    insideRuns_.push_back(makeRun(to, tiles, local));
  }
  if (from == to) {
    return;
  }
  const bool isInside = isOneIpu(from, to);
  auto &runs = isInside ? insideRuns_ : globalRuns_;
  TileLoad sender;
  sender.bytesOut = bytes;
  sender.fragmentsOut = 1;
  runs.push_back(makeRun(from, tiles, sender));
  TileLoad receiver;
  receiver.bytesIn = bytes;
  receiver.fragmentsIn = 1;
  runs.push_back(makeRun(to, tiles, receiver));
  if (!isInside) {
    addFlow(from / target_.tilesPerIPU, to / target_.tilesPerIPU,
            bytes * tiles);
  }
}

void CopyTraffic::scatter(unsigned firstTile, unsigned tiles,
                          std::uint64_t bytes, std::uint64_t fragments,
                          bool isReceiver, bool isGlobal) {
  TileLoad load;
  (isReceiver ? load.bytesIn : load.bytesOut) = bytes;
  (isReceiver ? load.fragmentsIn : load.fragmentsOut) =
      static_cast<std::uint32_t>(fragments);
  (isGlobal ? globalRuns_ : insideRuns_)
      .push_back(makeRun(firstTile, tiles, load));
}

void CopyTraffic::addFlow(unsigned fromIpu, unsigned toIpu,
                          std::uint64_t bytes) {
  flows_[{fromIpu, toIpu}] += bytes;
}

TileRun CopyTraffic::makeRun(unsigned firstTile, unsigned tiles,
                             const TileLoad &load) const {
  TileRun run;
  run.firstTile = firstTile;
  run.tileCount = tiles;
  run.bytesIn = load.bytesIn;
  run.bytesOut = load.bytesOut;
  run.fragmentsIn = load.fragmentsIn;
  run.fragmentsOut = load.fragmentsOut;
  run.isBusShared = load.isBusShared;
  std::uint64_t callCycles = copyCallCycles; // once for the tile's copies
  const auto addCopy = [&](const char *type, std::uint64_t cycles) {
    if (cycles == 0) {
      return;
    }
    VertexUse use;
    use.type = type;
    use.count = 1;
    use.cycles = callCycles + cycles;
    use.isSupervisor = true;
    use.edges = 2 * load.copyRuns;
    use.stateBytes = copyVertexStateBytes;
    use.codeBytes = copyVertexCodeBytes;
    run.vertices.push_back(std::move(use));
    callCycles = 0;
  };
  const auto fastRate = static_cast<std::uint64_t>(target_.memcpyBytesPerCycle);
  addCopy("poplar_rt::Memcpy64Bit", (load.bytes8 + fastRate - 1) / fastRate);
  addCopy("poplar_rt::StridedCopyDA32", load.bytes4 / wordCopyBytesPerCycle);
  addCopy("poplar_rt::ShortMemcpy", (load.bytes2 + 1) / 2 * halfWordCopyCycles);
  return run;
}

void CopyTraffic::appendRuns(const Loads &loads,
                             std::vector<TileRun> &runs) const {
  for (auto first = loads.begin(); first != loads.end();) {
    auto last = first;
    unsigned tiles = 0;
    while (last != loads.end() && last->first == first->first + tiles &&
           last->second == first->second) {
      ++last;
      ++tiles;
    }
    runs.push_back(makeRun(first->first, tiles, first->second));
    first = last;
  }
}

std::vector<Step> CopyTraffic::takeSteps() {
  appendRuns(global_, globalRuns_);
  appendRuns(inside_, insideRuns_);
  std::vector<Step> steps;
  const auto add = [&](StepKind kind, std::vector<TileRun> &runs) {
    if (runs.empty()) {
      return;
    }
    Step step;
    step.kind = kind;
    step.ownRuns = std::move(runs);
    step.pointToOwnRuns();
    steps.push_back(std::move(step));
  };
  add(StepKind::GlobalExchange, globalRuns_);
  if (!steps.empty()) {
    for (const auto &[ends, bytes] : flows_) {
      steps.back().flows.push_back({ends.first, ends.second, bytes});
    }
  }
  add(StepKind::Exchange, insideRuns_);
  return steps;
}

} // namespace poplar::model
