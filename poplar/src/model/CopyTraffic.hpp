// Collects the moves of one copy and turns them into runs of equal tiles.
#pragma once

#include "model/Step.hpp"
#include <poplar/internal/TargetData.hpp>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace poplar::model {

class CopyTraffic {
public:
  explicit CopyTraffic(const internal::TargetData &target) : target_(target) {}

  // One contiguous fragment from tile to tile. `sentBytes` is less than `bytes`
  // where a multicast has sent the data already.
  void move(unsigned from, unsigned to, std::uint64_t bytes,
            std::uint64_t sentBytes);

  // The same for `tiles` neighbours, all inside one IPU on either side.
  void moveMany(unsigned from, unsigned to, unsigned tiles,
                std::uint64_t bytes);

  // Parts of a copy whose pattern is too irregular to follow: bytes in many
  // fragments leave, or reach, each of `tiles` tiles.
  void scatter(unsigned firstTile, unsigned tiles, std::uint64_t bytes,
               std::uint64_t fragments, bool isReceiver, bool isGlobal);
  // Both tiles of the tile's bus receive the same.
  void shareBus(unsigned tile) { inside_[tile].isBusShared = true; }
  void addFlow(unsigned fromIpu, unsigned toIpu, std::uint64_t bytes);

  std::vector<Step> takeSteps();

private:
  // What a tile does in the copy. On-tile bytes by the alignment of their runs.
  struct TileLoad {
    std::uint64_t bytesIn = 0;
    std::uint64_t bytesOut = 0;
    std::uint32_t fragmentsIn = 0;
    std::uint32_t fragmentsOut = 0;
    std::uint64_t bytes8 = 0;
    std::uint64_t bytes4 = 0;
    std::uint64_t bytes2 = 0;
    std::uint32_t copyRuns = 0;
    bool isBusShared = false;

    friend bool operator==(const TileLoad &, const TileLoad &) = default;
  };
  using Loads = std::map<unsigned, TileLoad>; // by tile

  bool isOneIpu(unsigned a, unsigned b) const {
    return a / target_.tilesPerIPU == b / target_.tilesPerIPU;
  }
  static void addOnTile(TileLoad &load, std::uint64_t bytes);
  internal::TileRun makeRun(unsigned firstTile, unsigned tiles,
                            const TileLoad &load) const;
  void appendRuns(const Loads &loads,
                  std::vector<internal::TileRun> &runs) const;

  const internal::TargetData &target_;
  Loads inside_;
  Loads global_;
  std::vector<internal::TileRun> insideRuns_;
  std::vector<internal::TileRun> globalRuns_;
  std::map<std::pair<unsigned, unsigned>, std::uint64_t> flows_;
};

} // namespace poplar::model
