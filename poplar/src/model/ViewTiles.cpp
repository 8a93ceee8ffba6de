// Where the elements of a view live.
#include "model/ViewTiles.hpp"

#include <poplar/internal/TargetData.hpp>

#include <algorithm>
#include <map>

namespace poplar::model {

namespace {

using internal::MappingPiece;
using internal::Piece;

std::int64_t ceilDiv(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

// The elements a piece touches: how many distinct ones, in which range.
struct Footprint {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t elements = 1;
};

Footprint footprintOf(const Piece &piece) {
  Footprint result{piece.offset, piece.offset + 1, 1};
  for (std::size_t d = 0; d < piece.extents.size(); ++d) {
    if (piece.extents[d] == 0) {
      return {piece.offset, piece.offset, 0};
    }
    const std::int64_t reach = (piece.extents[d] - 1) * piece.strides[d];
    if (reach < 0) {
      result.begin += reach;
    } else {
      result.end += reach;
    }
    if (piece.strides[d] != 0) {
      result.elements *= piece.extents[d];
    }
  }
  result.elements = std::min(result.elements, result.end - result.begin);
  return result;
}

std::map<unsigned, std::int64_t>
elementsPerIpu(const std::vector<TileShare> &shares, unsigned tilesPerIpu) {
  std::map<unsigned, std::int64_t> result;
  for (const TileShare &share : shares) {
    unsigned tile = share.firstTile;
    const unsigned end = share.firstTile + share.tileCount;
    while (tile < end) {
      const unsigned ipu = tile / tilesPerIpu;
      const unsigned next = std::min(end, (ipu + 1) * tilesPerIpu);
      result[ipu] += share.elements * (next - tile);
      tile = next;
    }
  }
  return result;
}

} // namespace

std::vector<TileShare> sharesOf(const MappingPiece &piece, std::int64_t begin,
                                std::int64_t end) {
  begin = std::max(begin, piece.begin);
  end = std::min(end, piece.end);
  if (begin >= end) {
    return {};
  }
  const unsigned first = piece.partOf(begin);
  const std::int64_t parts = piece.partOf(end - 1) - first + 1;
  const std::int64_t elements = end - begin;
  const std::int64_t grains = ceilDiv(elements, piece.grain);
  const std::int64_t larger = grains % parts; // tiles with one grain more
  const std::int64_t missing = grains * piece.grain - elements;

  std::vector<TileShare> shares;
  unsigned tile = piece.firstTile + first;
  const auto add = [&](std::int64_t tiles, std::int64_t each) {
    if (tiles > 0 && each > 0) {
      shares.push_back({tile, static_cast<unsigned>(tiles), each});
    }
    tile += static_cast<unsigned>(tiles);
  };
  const std::int64_t each = grains / parts * piece.grain;
  add(larger, each + piece.grain);
  if (missing == 0) {
    add(parts - larger, each);
  } else if (each != 0) { // the last grain is not full
    add(parts - larger - 1, each);
    add(1, each - missing);
  } else {
    shares.back().tileCount -= 1;
    shares.push_back({tile - 1, 1, piece.grain - missing});
    if (shares.front().tileCount == 0) {
      shares.erase(shares.begin());
    }
  }
  return shares;
}

std::vector<TileShare> sharesOf(const internal::GraphData &graph,
                                const internal::TensorView &view) {
  std::vector<TileShare> shares;
  for (const Piece &piece : view.pieces) {
    const Footprint footprint = footprintOf(piece);
    const std::int64_t range = footprint.end - footprint.begin;
    if (footprint.elements == 0) {
      continue;
    }
    const internal::Variable &variable =
        graph.variables[piece.variable.index()];
    for (const MappingPiece &mapped : variable.mapping.pieces()) {
      for (TileShare share : sharesOf(mapped, footprint.begin, footprint.end)) {
        if (footprint.elements != range) {
          share.elements = ceilDiv(share.elements * footprint.elements, range);
        }
        shares.push_back(share);
      }
    }
  }
  return shares;
}

std::vector<IpuFlow> flowsBetween(const internal::GraphData &graph,
                                  const internal::TensorView &source,
                                  const internal::TensorView &destination) {
  const unsigned tilesPerIpu = graph.target->tilesPerIPU;
  const auto from = elementsPerIpu(sharesOf(graph, source), tilesPerIpu);
  const auto to = elementsPerIpu(sharesOf(graph, destination), tilesPerIpu);
  std::int64_t total = 0;
  for (const auto &[ipu, elements] : from) {
    total += elements;
  }
  std::vector<IpuFlow> flows;
  for (const auto &[sender, sent] : from) {
    for (const auto &[receiver, received] : to) {
      const double share =
          static_cast<double>(sent) / static_cast<double>(total);
      const std::uint64_t bytes =
          static_cast<std::uint64_t>(received) * support::sizeOf(source.type);
      flows.push_back(
          {sender, receiver,
           static_cast<std::uint64_t>(share * static_cast<double>(bytes))});
    }
  }
  return flows;
}

std::int64_t runCount(const internal::TensorView &view) {
  std::int64_t count = 0;
  for (const Piece &piece : view.pieces) {
    std::int64_t runs = support::elementCount(piece.extents);
    std::int64_t length = 1;
    for (std::size_t d = piece.extents.size(); d > 0 && runs > 1; --d) {
      if (piece.strides[d - 1] != length && piece.extents[d - 1] != 1) {
        break;
      }
      length *= piece.extents[d - 1];
      runs /= piece.extents[d - 1];
    }
    count += runs;
  }
  return count;
}

} // namespace poplar::model
