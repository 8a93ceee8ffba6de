// Lowers stream copies.
#include "model/StreamSteps.hpp"

#include "model/CopySteps.hpp"
#include "model/Extents.hpp"
#include "model/ViewTiles.hpp"
#include <poplar/internal/TargetData.hpp>

#include <algorithm>
#include <iterator>
#include <map>

namespace poplar::model {

namespace {

using internal::GraphData;
using internal::TensorView;
using internal::TileRun;

// The stretches of the stream on one IPU, neighbours on one tile joined.
using Stretches = std::vector<Extent>;

std::map<unsigned, Stretches> stretchesByIpu(const GraphData &graph,
                                             const TensorView &view) {
  std::map<unsigned, Stretches> result;
  for (Extent extent : extentsOf(graph, view)) {
    extent.isRepeat = false; // the stream has them all
    if (extent.tile == Extent::unmapped) {
      continue;
    }
    Stretches &stretches = result[extent.tile / graph.target->tilesPerIPU];
    if (!stretches.empty() && stretches.back().tile == extent.tile) {
      stretches.back().elements += extent.elements;
    } else {
      stretches.push_back(extent);
    }
  }
  return result;
}

std::vector<unsigned> tilesOf(const Stretches &stretches) {
  std::vector<unsigned> tiles;
  for (const Extent &extent : stretches) {
    tiles.push_back(extent.tile);
  }
  std::sort(tiles.begin(), tiles.end());
  tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
  return tiles;
}

// Even stretches, one on each tile.
Stretches bufferOf(const Stretches &stretches,
                   const std::vector<unsigned> &tiles) {
  std::int64_t elements = 0;
  for (const Extent &extent : stretches) {
    elements += extent.elements;
  }
  const auto count = static_cast<std::int64_t>(tiles.size());
  Stretches buffer;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t begin = elements * i / count;
    const std::int64_t end = elements * (i + 1) / count;
    if (begin != end) {
      buffer.push_back({tiles[static_cast<std::size_t>(i)], end - begin});
    }
  }
  return buffer;
}

void addBuffer(Step &step, const Stretches &buffer, std::size_t elementBytes) {
  for (const Extent &extent : buffer) {
    TileRun run;
    run.firstTile = extent.tile;
    run.tileCount = 1;
    run.temporaryBytes =
        static_cast<std::uint64_t>(extent.elements) * elementBytes;
    step.ownRuns.push_back(std::move(run));
  }
}

} // namespace

std::vector<Step> lowerStreamCopy(const GraphData &graph,
                                  const TensorView &view, StepKind direction) {
  std::vector<Step> steps;
  steps.push_back(lowerHostTransfer(graph, view, direction));
  Step &transfer = steps.front();
  if (runCount(view) > maxFollowedRuns) {
    return steps;
  }
  const std::size_t elementBytes = support::sizeOf(view.type);
  const bool isInput = transfer.isToTiles();
  CopyTraffic traffic(*graph.target);
  for (const auto &[ipu, stretches] : stretchesByIpu(graph, view)) {
    const auto tiles = tilesOf(stretches);
    if (tiles.size() == stretches.size()) {
      continue; // as the stream has it
    }
    const Stretches buffer = bufferOf(stretches, tiles);
    moveExtents(isInput ? buffer : stretches, isInput ? stretches : buffer,
                elementBytes, traffic);
    addBuffer(transfer, buffer, elementBytes);
  }
  transfer.runs.clear();
  transfer.pointToOwnRuns();
  std::vector<Step> exchange = traffic.takeSteps();
  for (Step &step : exchange) {
    step.isRearrangement = true;
  }
  steps.insert(isInput ? steps.end() : steps.begin(),
               std::make_move_iterator(exchange.begin()),
               std::make_move_iterator(exchange.end()));
  return steps;
}

} // namespace poplar::model
