// The shares of a variable on tiles, in bytes as allocated.
#pragma once

#include "model/Placement.hpp"
#include <poplar/internal/GraphData.hpp>

#include <cstdint>

namespace poplar::model {

inline std::uint64_t alignUp(std::uint64_t bytes, std::uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Calls f(firstTile, tileCount, bytes) for the runs of tiles with equal shares,
// piece after piece of the mapping: a piece is contiguous on its tiles.
template <typename F>
void forEachShare(const internal::Variable &variable, Placement placement,
                  F &&f) {
  for (const internal::MappingPiece &piece : variable.mapping.pieces()) {
    const std::int64_t elements = piece.end - piece.begin;
    const std::int64_t grains = (elements + piece.grain - 1) / piece.grain;
    const auto parts = static_cast<std::int64_t>(piece.parts);
    const std::int64_t fewer = grains / parts; // or one more
    const std::int64_t remainder = grains % parts;
    const auto bytesOf = [&](std::int64_t count) {
      return alignUp(static_cast<std::uint64_t>(count) *
                         support::sizeOf(variable.type),
                     placement.alignment);
    };
    const std::uint64_t small = bytesOf(fewer * piece.grain);
    const std::uint64_t large = bytesOf((fewer + 1) * piece.grain);
    unsigned first = piece.firstTile;
    unsigned tile = first;
    std::uint64_t bytes = 0;
    const auto add = [&](std::uint64_t share, std::int64_t tiles) {
      if (share != bytes) {
        if (bytes != 0) {
          f(first, tile - first, bytes);
        }
        first = tile;
        bytes = share;
      }
      tile += static_cast<unsigned>(tiles);
    };
    // Part p begins with grain p * grains / parts: those with one more are
    // where the remainders carry. The last grain may not be full.
    if (remainder == 0) {
      add(small, parts - 1);
    } else {
      std::int64_t carry = 0;
      for (std::int64_t part = 1; part < parts; ++part) {
        carry += remainder;
        const bool isLarge = carry >= parts;
        carry -= isLarge ? parts : 0;
        add(isLarge ? large : small, 1);
      }
    }
    const auto last = piece.partRange(piece.parts - 1);
    add(bytesOf(last.end - last.begin), 1);
    add(0, 0); // shows the last run
  }
}

// Bytes on one tile.
std::uint64_t bytesOnTile(const internal::Variable &variable,
                          Placement placement, unsigned tile);

} // namespace poplar::model
