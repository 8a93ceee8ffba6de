// Where the elements of a view live: tiles and byte counts from the mapping's
// formulas.
#pragma once

#include "model/Step.hpp"
#include <poplar/internal/GraphData.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace poplar::model {

// `tileCount` consecutive tiles that hold `elements` elements each.
struct TileShare {
  unsigned firstTile = 0;
  unsigned tileCount = 0;
  std::int64_t elements = 0;
};

// The shares of elements [begin, end) of one piece. Exact in the total and in
// the largest share; where shares differ by a grain, the larger ones come
// first.
std::vector<TileShare> sharesOf(const internal::MappingPiece &piece,
                                std::int64_t begin, std::int64_t end);

// The shares of the distinct elements of a view, piece after piece. A piece
// that skips elements is taken to be spread evenly over the range it spans.
std::vector<TileShare> sharesOf(const internal::GraphData &graph,
                                const internal::TensorView &view);

// The bytes that go from IPU to IPU, an IPU to itself included, when `source`
// is copied to `destination`: each of the latter's takes its share from all of
// the former's.
std::vector<IpuFlow> flowsBetween(const internal::GraphData &graph,
                                  const internal::TensorView &source,
                                  const internal::TensorView &destination);

// Calls f(tile, begin, end) for the mapped elements of [begin, end), ascending.
template <typename F>
void forEachTileRange(const internal::TileMapping &mapping, std::int64_t begin,
                      std::int64_t end, F &&f) {
  const auto &pieces = mapping.pieces();
  auto piece = std::partition_point(
      pieces.begin(), pieces.end(),
      [&](const internal::MappingPiece &p) { return p.end <= begin; });
  for (; piece != pieces.end() && piece->begin < end; ++piece) {
    std::int64_t at = std::max(begin, piece->begin);
    const std::int64_t last = std::min(end, piece->end);
    for (unsigned part = piece->partOf(at); at < last; ++part) {
      const std::int64_t until = std::min(last, piece->partRange(part).end);
      if (at < until) {
        f(piece->firstTile + part, at, until);
        at = until;
      }
    }
  }
}

// Runs of consecutive elements that forEachRun() would report.
std::int64_t runCount(const internal::TensorView &view);

} // namespace poplar::model
