#include <popops/Fill.hpp>

#include <popops/Zero.hpp>
#include <popops/internal/Kinds.hpp>

#include <poputil/Util.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <poputil/internal/Tiles.hpp>
#include <support/Error.hpp>

namespace popops {

using poplar::ComputeSet;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Interval;
using poplar::Tensor;
using poplar::program::Sequence;

namespace {

using Mapping = std::vector<std::vector<Interval>>;

std::vector<poputil::internal::TileShare> sharesOf(const Mapping &mapping,
                                                   const Graph &graph) {
  const auto tiles = graph.getTarget().getNumTiles();
  std::vector<poputil::internal::TileShare> shares;
  for (std::size_t tile = 0; tile < mapping.size(); ++tile) {
    const auto elements = poputil::intervalSequenceNumElements({mapping[tile]});
    if (elements == 0) {
      continue;
    }
    support::requireUser<poputil::poplibs_error>(
        tile < tiles, "[popops::fill] there is no tile {}; the graph has {}",
        tile, tiles);
    shares.push_back({{static_cast<unsigned>(tile), 1},
                      static_cast<std::int64_t>(elements)});
  }
  return shares;
}

} // namespace

void detail::fill(Graph &graph, const Tensor &t, Sequence &prog, double value,
                  const DebugContext &debugContext) {
  poputil::internal::requireCodelets(graph, "popops", "popops::Fill");
  internal::fill(graph, t, value, prog, {debugContext, "Fill"});
}

void detail::fill(Graph &graph, const Tensor &t, const Mapping &mapping,
                  ComputeSet cs, double value) {
  poputil::internal::requireCodelets(graph, "popops", "popops::Fill");
  const auto shares = sharesOf(mapping, graph);
  if (!shares.empty()) {
    const auto filled =
        concat(t.flatten().slices(poputil::flattenIntervals(mapping)));
    internal::fill(graph, filled, value, cs, shares);
  }
}

std::vector<std::vector<Interval>>
detail::onTile(const std::vector<Interval> &regions, unsigned tile) {
  std::vector<std::vector<Interval>> mapping(tile + 1);
  mapping[tile] = regions;
  return mapping;
}

void zero(Graph &graph, const Tensor &t, Sequence &prog,
          const DebugContext &debugContext) {
  poputil::internal::requireCodelets(graph, "popops", "popops::Fill");
  internal::fill(graph, t, 0, prog, {debugContext, "Zero"});
}

void zero(Graph &graph, const Tensor &t, const Mapping &mapping,
          ComputeSet cs) {
  detail::fill(graph, t, mapping, cs, 0);
}

void zero(Graph &graph, Tensor t, const std::vector<Interval> &tileRegions,
          unsigned tile, ComputeSet cs) {
  fill(graph, t, tileRegions, tile, cs, 0);
}

void zero(Graph &graph, const Tensor &t, unsigned tile, ComputeSet cs) {
  fill(graph, t, tile, cs, 0);
}

} // namespace popops
