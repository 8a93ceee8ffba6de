// Which tile holds which element of a variable, kept as formulas: a mapping
// over 1,472 tiles is one piece, not 1,472 intervals.
#pragma once

#include <cstdint>
#include <vector>

namespace poplar::internal {

// Elements [begin, end) cut into `parts` shares on consecutive tiles from
// `firstTile`. In grains of `grain` elements, part p holds grains
// [p*G/parts, (p+1)*G/parts), G = ceil((end-begin)/grain): the rule of
// poputil::mapTensorLinearly. One part is one tile.
struct MappingPiece {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  unsigned firstTile = 0;
  unsigned parts = 1;
  std::int64_t grain = 1;

  // Elements [first, second) of part `part`, absolute.
  struct Range {
    std::int64_t begin;
    std::int64_t end;
  };
  Range partRange(unsigned part) const;
  // The part that holds an element of [begin, end).
  unsigned partOf(std::int64_t element) const;

  friend bool operator==(const MappingPiece &, const MappingPiece &) = default;
};

// Elements [begin, end) on one tile.
struct TileRange {
  unsigned tile = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  friend bool operator==(const TileRange &, const TileRange &) = default;
};

// Pieces in ascending, non-overlapping element order; gaps are unmapped.
class TileMapping {
public:
  const std::vector<MappingPiece> &pieces() const {
    settle();
    return pieces_;
  }
  // Maps the piece's elements, replacing what was there: the last call wins.
  void set(const MappingPiece &piece);
  // The same for pieces that do not overlap each other, in any order.
  void set(std::vector<MappingPiece> pieces);

  // Where the mapped elements of [begin, end) lie, in ascending order.
  std::vector<TileRange> ranges(std::int64_t begin, std::int64_t end) const;
  // The first unmapped element of [0, elements) or of [begin, end), or -1.
  std::int64_t firstUnmapped(std::int64_t elements) const;
  std::int64_t firstUnmapped(std::int64_t begin, std::int64_t end) const;

  // Programs that map element by element, out of order, would move all later
  // pieces every time: such changes wait here until somebody looks. Several
  // threads may look at a mapping that is settled.
  void settle() const;

private:
  void replace(std::vector<MappingPiece> pieces) const;

  mutable std::vector<MappingPiece> pieces_;
  mutable std::vector<MappingPiece> waiting_; // in the order of their calls
};

} // namespace poplar::internal
