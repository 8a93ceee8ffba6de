// The data that the edges of user vertices move.
#include "model/EdgeTraffic.hpp"

#include "model/Constants.hpp"
#include "model/ViewTiles.hpp"

#include <algorithm>

namespace poplar::model {

namespace {

using internal::FieldSlot;
using internal::TensorView;
using internal::VariableId;

// Edges with more runs than this are priced as evenly spread.
constexpr std::int64_t maxFollowedRuns = 1 << 12;

std::uint64_t bufferBytes(std::uint64_t bytes) {
  return (bytes + allocationBytes - 1) / allocationBytes * allocationBytes;
}

} // namespace

EdgeTraffic::EdgeTraffic(const internal::GraphData &graph)
    : graph_(graph), before_(*graph.target), after_(*graph.target) {}

void EdgeTraffic::addVertex(internal::VertexId vertex, unsigned tile) {
  const internal::VertexTable &table = graph_.vertices;
  forEachEdge(table, vertex,
              [&](const internal::VertexField &field, const FieldSlot &slot) {
                const bool isRead =
                    field.direction != internal::EdgeDirection::Output;
                const bool isSpread =
                    slot.kind == FieldSlot::Kind::View &&
                    runCount(table.views[slot.index]) > maxFollowedRuns;
                if (isRead && isSpread) {
                  addSpread(table.views[slot.index], tile, true);
                } else if (isRead) {
                  addRanges(slot, inputs_);
                }
                if (field.isWritten() && isSpread) {
                  addSpread(table.views[slot.index], tile, false);
                } else if (field.isWritten()) {
                  addRanges(slot, outputs_);
                }
              });
}

void EdgeTraffic::addRanges(const FieldSlot &slot, std::vector<Range> &ranges) {
  forEachRun(graph_.vertices, slot,
             [&](VariableId variable, std::int64_t first, std::int64_t count) {
               if (count != 0) {
                 ranges.push_back({variable.value, first, first + count});
               }
             });
}

// Like the copies that are too irregular to follow: each other tile that holds
// a share exchanges it in a proportion of the runs.
void EdgeTraffic::addSpread(const TensorView &view, unsigned tile,
                            bool isInput) {
  const unsigned tilesPerIpu = graph_.target->tilesPerIPU;
  CopyTraffic &traffic = isInput ? before_ : after_;
  const auto runs = static_cast<std::uint64_t>(runCount(view));
  const auto total = static_cast<std::uint64_t>(view.elements());
  const auto exchange = [&](unsigned first, unsigned end,
                            std::uint64_t elements) {
    if (first >= end) {
      return;
    }
    const unsigned tiles = end - first;
    const std::uint64_t bytes = elements * support::sizeOf(view.type);
    const std::uint64_t fragments = (runs * elements + total - 1) / total;
    const unsigned ipu = first / tilesPerIpu;
    const bool isGlobal = ipu != tile / tilesPerIpu;
    traffic.scatter(first, tiles, bytes, fragments, !isInput, isGlobal);
    traffic.scatter(tile, 1, bytes * tiles, fragments * tiles, isInput,
                    isGlobal);
    if (isGlobal) {
      traffic.addFlow(isInput ? ipu : tile / tilesPerIpu,
                      isInput ? tile / tilesPerIpu : ipu, bytes * tiles);
    }
    spreadBytes_ += bytes * tiles;
  };
  for (const TileShare &share : sharesOf(graph_, view)) {
    const unsigned end = share.firstTile + share.tileCount;
    const auto elements = static_cast<std::uint64_t>(share.elements);
    exchange(share.firstTile, std::min(tile, end), elements);
    exchange(std::max(tile + 1, share.firstTile), end, elements);
  }
}

void EdgeTraffic::join(std::vector<Range> &ranges) {
  if (!std::is_sorted(ranges.begin(), ranges.end())) {
    std::sort(ranges.begin(), ranges.end());
  }
  std::size_t kept = 0;
  for (const Range &range : ranges) {
    Range *last = kept == 0 ? nullptr : &ranges[kept - 1];
    if (last != nullptr && last->variable == range.variable &&
        last->end >= range.begin) {
      last->end = std::max(last->end, range.end);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
}

std::uint64_t EdgeTraffic::bytesOf(const Range &range) const {
  return static_cast<std::uint64_t>(range.end - range.begin) *
         support::sizeOf(graph_.variables[range.variable].type);
}

template <typename F>
void EdgeTraffic::forEachRemote(const std::vector<Range> &ranges, unsigned tile,
                                F &&f) {
  for (const Range &range : ranges) {
    forEachTileRange(graph_.variables[range.variable].mapping, range.begin,
                     range.end,
                     [&](unsigned home, std::int64_t begin, std::int64_t end) {
                       if (home != tile) {
                         f(Range{range.variable, begin, end}, home);
                       }
                     });
  }
}

std::uint64_t EdgeTraffic::endTile(unsigned tile) {
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
  const std::size_t first = fragments_.size();
  join(inputs_);
  forEachRemote(inputs_, tile, [&](const Range &range, unsigned home) {
    fragments_.push_back({range, home, tile});
    received += bytesOf(range);
  });
  join(outputs_);
  forEachRemote(outputs_, tile, [&](const Range &range, unsigned home) {
    after_.move(tile, home, bytesOf(range), bytesOf(range));
    sent += bytesOf(range);
  });
  findSharedBus(tile, first);
  const std::uint64_t buffers =
      bufferBytes(received) + bufferBytes(sent) + bufferBytes(spreadBytes_);
  inputs_.clear();
  outputs_.clear();
  spreadBytes_ = 0;
  return buffers;
}

// The two tiles of a bus receive faster when they take the same.
void EdgeTraffic::findSharedBus(unsigned tile, std::size_t first) {
  const unsigned sharing = graph_.target->tilesPerSharedBus;
  const auto begin = fragments_.begin();
  const auto at = [&](std::size_t index) {
    return begin + static_cast<std::ptrdiff_t>(index);
  };
  const bool isPair = sharing == 2 && tile % 2 == 1 &&
                      previousTile_ + 1 == tile && first != fragments_.size();
  if (isPair &&
      std::equal(at(previousFirst_), at(first), at(first), fragments_.end(),
                 [](const Fragment &a, const Fragment &b) {
                   return a.range == b.range;
                 })) {
    before_.shareBus(previousTile_);
    before_.shareBus(tile);
  }
  previousTile_ = tile;
  previousFirst_ = first;
}

void EdgeTraffic::addResult(unsigned fromTile, unsigned toTile) {
  if (fromTile != toTile) {
    after_.move(fromTile, toTile, controlWordBytes, controlWordBytes);
  }
}

std::vector<Step> EdgeTraffic::takeStepsBefore() {
  const auto firstGlobal = std::partition(
      fragments_.begin(), fragments_.end(), [&](const Fragment &fragment) {
        const unsigned tilesPerIpu = graph_.target->tilesPerIPU;
        return fragment.home / tilesPerIpu == fragment.tile / tilesPerIpu;
      });
  send({fragments_.begin(), firstGlobal});
  send({firstGlobal, fragments_.end()});
  fragments_.clear();
  return before_.takeSteps();
}

void EdgeTraffic::send(std::span<Fragment> fragments) {
  std::sort(fragments.begin(), fragments.end(),
            [](const Fragment &a, const Fragment &b) {
              return std::tie(a.range, a.tile) < std::tie(b.range, b.tile);
            });
  // Elements are sent once, however many tiles listen.
  Range sent{};
  for (const Fragment &fragment : fragments) {
    Range rest = fragment.range;
    if (sent.variable == rest.variable) {
      rest.begin = std::min(std::max(rest.begin, sent.end), rest.end);
      sent.end = std::max(sent.end, rest.end);
    } else {
      sent = rest;
    }
    before_.move(fragment.home, fragment.tile, bytesOf(fragment.range),
                 bytesOf(rest));
  }
}

} // namespace poplar::model
