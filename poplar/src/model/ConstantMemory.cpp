// The constants' share of tile memory.
#include "model/ConstantMemory.hpp"

#include "model/VariableShares.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace poplar::model {

namespace {

using internal::MappingPiece;
using internal::Variable;
using internal::VariableId;

// The contiguous bytes of a constant on one tile.
struct Share {
  unsigned tile;
  std::string_view bytes;
  std::uint32_t alignment;

  friend bool operator<(const Share &a, const Share &b) {
    // The strictest alignment first: it serves the others.
    return std::tuple(a.tile, a.bytes, b.alignment) <
           std::tuple(b.tile, b.bytes, a.alignment);
  }
  friend bool operator==(const Share &a, const Share &b) {
    return a.tile == b.tile && a.bytes == b.bytes;
  }
};

void appendShares(const Variable &variable, std::uint32_t alignment,
                  std::vector<Share> &shares) {
  const auto *data =
      reinterpret_cast<const char *>(variable.initialData.data());
  const std::size_t size = support::sizeOf(variable.type);
  for (const MappingPiece &piece : variable.mapping.pieces()) {
    for (unsigned part = 0; part < piece.parts; ++part) {
      const MappingPiece::Range range = piece.partRange(part);
      if (range.begin < range.end) {
        const auto begin = static_cast<std::size_t>(range.begin);
        const auto count = static_cast<std::size_t>(range.end - range.begin);
        shares.push_back({piece.firstTile + part,
                          {data + begin * size, count * size},
                          alignment});
      }
    }
  }
}

} // namespace

void addConstants(const internal::GraphData &graph,
                  const std::vector<VariableId> &variables,
                  const std::vector<Placement> &placements, MemorySums &sums) {
  std::vector<Share> shares;
  for (const VariableId id : variables) {
    const Variable &variable = graph[id];
    const Placement placement = placements[id.index()];
    if (!variable.isConstant) {
      continue;
    }
    if (variable.initialData.empty()) { // the replica's number
      forEachShare(variable, placement, [&](auto... share) {
        sums.add(MemoryCategory::Constants, share...);
      });
    } else {
      appendShares(variable, placement.alignment, shares);
    }
  }
  std::sort(shares.begin(), shares.end());
  shares.erase(std::unique(shares.begin(), shares.end()), shares.end());
  for (const Share &share : shares) {
    sums.add(MemoryCategory::Constants, share.tile, 1,
             alignUp(share.bytes.size(), share.alignment));
  }
}

} // namespace poplar::model
