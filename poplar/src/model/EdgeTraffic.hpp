// The data that the edges of a compute set's user vertices bring to their tiles
// and take from there: every element once per tile, however many vertices of
// the tile share it.
#pragma once

#include "model/CopyTraffic.hpp"
#include <poplar/internal/GraphData.hpp>

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

namespace poplar::model {

class EdgeTraffic {
public:
  // The graph must outlive it.
  explicit EdgeTraffic(const internal::GraphData &graph);

  // The edges of one vertex of the tile that endTile() will close.
  void addVertex(internal::VertexId vertex, unsigned tile);
  // Tiles come in ascending order. Returns the bytes of the buffers that hold
  // what is at home on other tiles.
  std::uint64_t endTile(unsigned tile);
  // A word from the tile when its vertices are done.
  void addResult(unsigned fromTile, unsigned toTile);

  std::vector<Step> takeStepsBefore();
  std::vector<Step> takeStepsAfter() { return after_.takeSteps(); }

private:
  // Elements of one variable.
  struct Range {
    std::uint32_t variable;
    std::int64_t begin;
    std::int64_t end;

    friend bool operator==(const Range &, const Range &) = default;
    friend bool operator<(const Range &a, const Range &b) {
      return std::tie(a.variable, a.begin, a.end) <
             std::tie(b.variable, b.begin, b.end);
    }
  };
  // A range that lies on one tile and is needed on another.
  struct Fragment {
    Range range;
    std::uint32_t home;
    std::uint32_t tile;
  };

  void addRanges(const internal::FieldSlot &slot, std::vector<Range> &ranges);
  void addSpread(const internal::TensorView &view, unsigned tile, bool isInput);
  // Joins what overlaps or touches.
  static void join(std::vector<Range> &ranges);
  // Calls f(part, home) for the parts of the ranges on other tiles.
  template <typename F>
  void forEachRemote(const std::vector<Range> &ranges, unsigned tile, F &&f);
  // Of one exchange: inside the IPUs, or between them.
  void send(std::span<Fragment> fragments);
  void findSharedBus(unsigned tile, std::size_t first);
  std::uint64_t bytesOf(const Range &range) const;

  const internal::GraphData &graph_;
  CopyTraffic before_;
  CopyTraffic after_;
  std::vector<Range> inputs_;  // of the current tile
  std::vector<Range> outputs_; // of the current tile
  std::uint64_t spreadBytes_ = 0;
  std::vector<Fragment> fragments_; // of all tiles
  std::size_t previousFirst_ = 0;   // fragment of the tile before
  unsigned previousTile_ = 0;
};

} // namespace poplar::model
