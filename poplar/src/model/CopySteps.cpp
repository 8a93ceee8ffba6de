// Lowers copies and host transfers to steps. Three ways, by how regular the
// copy is: whole mapping pieces, fragments between tiles, even spread.
#include "model/CopySteps.hpp"

#include "model/CopyTraffic.hpp"
#include "model/Extents.hpp"
#include "model/ViewTiles.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

namespace poplar::model {

namespace {

using internal::GraphData;
using internal::MappingPiece;
using internal::TensorView;
using internal::VariableId;

std::uint64_t toBytes(std::int64_t elements, const TensorView &view) {
  return static_cast<std::uint64_t>(elements) * support::sizeOf(view.type);
}

// A view that is one run of consecutive elements.
struct Interval {
  const internal::Variable *variable;
  std::int64_t begin;
  std::int64_t end;
};

std::optional<Interval> toInterval(const GraphData &graph,
                                   const TensorView &view) {
  if (runCount(view) != 1) {
    return std::nullopt;
  }
  Interval result{};
  internal::forEachRun(
      view, [&](VariableId variable, std::int64_t first, std::int64_t count) {
        result = {&graph.variables[variable.index()], first, first + count};
      });
  return result;
}

std::vector<MappingPiece> piecesWithin(const Interval &interval) {
  std::vector<MappingPiece> pieces;
  for (const MappingPiece &piece : interval.variable->mapping.pieces()) {
    if (piece.begin < interval.end && piece.end > interval.begin) {
      pieces.push_back(piece);
    }
  }
  return pieces;
}

bool isInOneIpu(const MappingPiece &piece, unsigned tilesPerIpu) {
  return piece.firstTile / tilesPerIpu ==
         (piece.firstTile + piece.parts - 1) / tilesPerIpu;
}

// The common copy: both sides are cut into the same parts, so part p of the
// source goes to part p of the destination. False when it is not that.
bool addMatchingPieces(const GraphData &graph, const internal::CopyNode &copy,
                       CopyTraffic &traffic) {
  const auto source = toInterval(graph, copy.source);
  const auto destination = toInterval(graph, copy.destination);
  if (!source || !destination) {
    return false;
  }
  const auto from = piecesWithin(*source);
  const auto to = piecesWithin(*destination);
  const auto matches = [&](const MappingPiece &a, const MappingPiece &b) {
    const unsigned tilesPerIpu = graph.target->tilesPerIPU;
    return a.begin - source->begin == b.begin - destination->begin &&
           a.end - source->begin == b.end - destination->begin &&
           a.parts == b.parts && a.grain == b.grain &&
           isInOneIpu(a, tilesPerIpu) && isInOneIpu(b, tilesPerIpu);
  };
  if (!std::equal(from.begin(), from.end(), to.begin(), to.end(), matches)) {
    return false;
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (const TileShare &share :
         sharesOf(from[i], source->begin, source->end)) {
      traffic.moveMany(share.firstTile,
                       share.firstTile - from[i].firstTile + to[i].firstTile,
                       share.tileCount, toBytes(share.elements, copy.source));
    }
  }
  return true;
}

void addFragments(const GraphData &graph, const internal::CopyNode &copy,
                  CopyTraffic &traffic) {
  moveExtents(extentsOf(graph, copy.source), extentsOf(graph, copy.destination),
              support::sizeOf(copy.source.type), traffic);
}

// Each piece of the view once: tiles send what they hold once.
TensorView withoutRepeats(const TensorView &view) {
  TensorView result{view.type, view.shape, {}};
  std::set<
      std::tuple<VariableId, std::int64_t, support::Shape, support::Strides>>
      seen;
  for (const internal::Piece &piece : view.pieces) {
    if (seen.emplace(piece.variable, piece.offset, piece.extents, piece.strides)
            .second) {
      result.pieces.push_back(piece);
    }
  }
  return result;
}

// An irregular copy: every byte moves to another tile, in fragments as short as
// the runs of the more broken side.
void addEvenSpread(const GraphData &graph, const internal::CopyNode &copy,
                   CopyTraffic &traffic) {
  const auto from = sharesOf(graph, withoutRepeats(copy.source));
  const auto to = sharesOf(graph, copy.destination);
  if (from.empty() || to.empty()) {
    return;
  }
  const auto flows = flowsBetween(graph, copy.source, copy.destination);
  const bool isGlobal =
      std::any_of(flows.begin(), flows.end(),
                  [](const IpuFlow &flow) { return flow.from != flow.to; });
  const std::int64_t total = std::max<std::int64_t>(copy.source.elements(), 1);
  const std::int64_t runs =
      std::max(runCount(copy.source), runCount(copy.destination));
  const auto scatter = [&](const TileShare &share, bool isReceiver) {
    const auto fragments =
        static_cast<std::uint64_t>((runs * share.elements + total - 1) / total);
    traffic.scatter(share.firstTile, share.tileCount,
                    toBytes(share.elements, copy.source), fragments, isReceiver,
                    isGlobal);
  };
  for (const TileShare &share : from) {
    scatter(share, false);
  }
  for (const TileShare &share : to) {
    scatter(share, true);
  }
  for (const IpuFlow &flow : flows) {
    if (flow.from != flow.to) {
      traffic.addFlow(flow.from, flow.to, flow.bytes);
    }
  }
}

} // namespace

std::vector<Step> lowerCopy(const GraphData &graph,
                            const internal::CopyNode &copy) {
  CopyTraffic traffic(*graph.target);
  if (copy.source.elements() == 0) {
    return {};
  }
  if (!addMatchingPieces(graph, copy, traffic)) {
    const std::int64_t runs =
        std::max(runCount(copy.source), runCount(copy.destination));
    if (runs <= maxFollowedRuns) {
      addFragments(graph, copy, traffic);
    } else {
      addEvenSpread(graph, copy, traffic);
    }
  }
  return traffic.takeSteps();
}

Step lowerHostTransfer(const GraphData &graph, const TensorView &view,
                       StepKind direction) {
  Step step;
  step.kind = direction;
  for (const TileShare &share : sharesOf(graph, view)) {
    internal::TileRun run;
    run.firstTile = share.firstTile;
    run.tileCount = share.tileCount;
    const std::uint64_t bytes = toBytes(share.elements, view);
    (step.isToTiles() ? run.bytesIn : run.bytesOut) = bytes;
    step.ownRuns.push_back(std::move(run));
  }
  step.pointToOwnRuns();
  return step;
}

} // namespace poplar::model
