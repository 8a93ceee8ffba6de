#include <poplar/internal/TileMapping.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace poplar::internal {
namespace {

// Parts that are all of `grain` elements, the last one perhaps less.
bool isEvenlyCut(const MappingPiece &piece) {
  return piece.end - piece.begin > (piece.parts - 1) * piece.grain &&
         piece.end - piece.begin <= piece.parts * piece.grain;
}

// One part on one tile: its grain is free, so it is set to its size.
MappingPiece singlePart(std::int64_t begin, std::int64_t end, unsigned tile) {
  return {begin, end, tile, 1, end - begin};
}

// Lets `a` take in `b`, which starts where `a` ends, if one formula covers
// both.
bool extendMapping(MappingPiece &a, const MappingPiece &b) {
  if (a.end != b.begin) {
    return false;
  }
  if (a.parts == 1 && b.parts == 1 && a.firstTile == b.firstTile) {
    a = singlePart(a.begin, b.end, a.firstTile);
    return true;
  }
  bool isNextTile = a.firstTile + a.parts == b.firstTile;
  bool isFull = a.end - a.begin == a.parts * a.grain;
  bool isSameCut = isEvenlyCut(b) &&
                   (b.grain == a.grain || (b.parts == 1 && b.grain < a.grain));
  if (isNextTile && isFull && isSameCut) {
    a.end = b.end;
    a.parts += b.parts;
    return true;
  }
  return false;
}

void appendMapping(std::vector<MappingPiece> &pieces, MappingPiece piece) {
  if (piece.begin == piece.end) {
    return;
  }
  if (piece.parts == 1) {
    piece = singlePart(piece.begin, piece.end, piece.firstTile);
  }
  if (pieces.empty() || !extendMapping(pieces.back(), piece)) {
    pieces.push_back(piece);
  }
}

// Appends elements [begin, end) of `piece`.
void appendCut(std::vector<MappingPiece> &pieces, const MappingPiece &piece,
               std::int64_t begin, std::int64_t end) {
  if (begin >= end) {
    return;
  }
  if (begin == piece.begin && end == piece.end) {
    appendMapping(pieces, piece);
    return;
  }
  if (isEvenlyCut(piece)) {
    // What is left of the first part, then as many parts as there were.
    unsigned part = piece.partOf(begin);
    std::int64_t partEnd = std::min(piece.partRange(part).end, end);
    appendMapping(pieces, singlePart(begin, partEnd, piece.firstTile + part));
    auto parts =
        static_cast<unsigned>((end - partEnd + piece.grain - 1) / piece.grain);
    appendMapping(
        pieces, {partEnd, end, piece.firstTile + part + 1, parts, piece.grain});
    return;
  }
  for (unsigned part = piece.partOf(begin); part < piece.parts; ++part) {
    auto range = piece.partRange(part);
    if (range.begin >= end) {
      break;
    }
    appendMapping(pieces,
                  singlePart(std::max(range.begin, begin),
                             std::min(range.end, end), piece.firstTile + part));
  }
}

bool startsBefore(const MappingPiece &a, const MappingPiece &b) {
  return a.begin < b.begin;
}

} // namespace

MappingPiece::Range MappingPiece::partRange(unsigned part) const {
  std::int64_t grains = (end - begin + grain - 1) / grain;
  auto edge = [&](std::int64_t p) {
    return std::min(end, begin + p * grains / parts * grain);
  };
  return {edge(part), edge(std::int64_t(part) + 1)};
}

unsigned MappingPiece::partOf(std::int64_t element) const {
  std::int64_t grains = (end - begin + grain - 1) / grain;
  std::int64_t index = (element - begin) / grain;
  // The last part whose first grain, part * grains / parts, is not after index.
  return static_cast<unsigned>(((index + 1) * parts - 1) / grains);
}

void TileMapping::set(const MappingPiece &piece) {
  if (waiting_.empty() &&
      (pieces_.empty() || piece.begin >= pieces_.back().end)) {
    appendMapping(pieces_, piece); // most programs map in element order
  } else {
    waiting_.push_back(piece);
  }
}

void TileMapping::set(std::vector<MappingPiece> pieces) {
  settle();
  replace(std::move(pieces));
}

// In batches of pieces that do not overlap each other: between those, the order
// of the calls matters.
void TileMapping::settle() const {
  if (waiting_.empty()) {
    return;
  }
  std::vector<MappingPiece> batch;
  std::map<std::int64_t, std::int64_t> taken; // of the batch: begin to end
  for (const MappingPiece &piece : std::exchange(waiting_, {})) {
    const auto next = taken.lower_bound(piece.begin);
    const bool isFree =
        (next == taken.end() || next->first >= piece.end) &&
        (next == taken.begin() || std::prev(next)->second <= piece.begin);
    if (!isFree) {
      replace(std::exchange(batch, {}));
      taken.clear();
    }
    taken.emplace(piece.begin, piece.end);
    batch.push_back(piece);
  }
  replace(std::move(batch));
}

void TileMapping::replace(std::vector<MappingPiece> pieces) const {
  std::erase_if(pieces, [](const MappingPiece &p) { return p.begin >= p.end; });
  std::sort(pieces.begin(), pieces.end(), startsBefore);
  if (pieces.empty()) {
    return;
  }
  // Only the old pieces that touch the new ones are rebuilt.
  auto first = std::partition_point(
      pieces_.begin(), pieces_.end(),
      [&](const MappingPiece &p) { return p.end < pieces.front().begin; });
  auto last =
      std::partition_point(first, pieces_.end(), [&](const MappingPiece &p) {
        return p.begin <= pieces.back().end;
      });
  std::vector<MappingPiece> rebuilt;
  auto next = pieces.begin();
  for (auto old = first; old != last; ++old) {
    std::int64_t kept = old->begin; // before this, `old` is done
    while (next != pieces.end() && next->begin < old->end) {
      appendCut(rebuilt, *old, kept, std::min(next->begin, old->end));
      kept = std::max(kept, next->end);
      if (next->end > old->end) {
        break; // it also replaces what follows
      }
      appendMapping(rebuilt, *next);
      ++next;
    }
    appendCut(rebuilt, *old, kept, old->end);
  }
  for (; next != pieces.end(); ++next) {
    appendMapping(rebuilt, *next);
  }
  auto at = pieces_.erase(first, last);
  pieces_.insert(at, rebuilt.begin(), rebuilt.end());
}

std::vector<TileRange> TileMapping::ranges(std::int64_t begin,
                                           std::int64_t end) const {
  settle();
  std::vector<TileRange> result;
  auto piece = std::partition_point(
      pieces_.begin(), pieces_.end(),
      [&](const MappingPiece &p) { return p.end <= begin; });
  for (; piece != pieces_.end() && piece->begin < end; ++piece) {
    unsigned part = piece->partOf(std::max(begin, piece->begin));
    for (; part < piece->parts; ++part) {
      auto range = piece->partRange(part);
      if (range.begin >= end) {
        break;
      }
      if (range.begin < range.end) {
        result.push_back({piece->firstTile + part, std::max(range.begin, begin),
                          std::min(range.end, end)});
      }
    }
  }
  return result;
}

std::int64_t TileMapping::firstUnmapped(std::int64_t elements) const {
  return firstUnmapped(0, elements);
}

std::int64_t TileMapping::firstUnmapped(std::int64_t begin,
                                        std::int64_t end) const {
  settle();
  auto piece = std::partition_point(
      pieces_.begin(), pieces_.end(),
      [&](const MappingPiece &p) { return p.end <= begin; });
  std::int64_t mapped = begin;
  for (; piece != pieces_.end() && piece->begin <= mapped; ++piece) {
    mapped = piece->end;
  }
  return mapped < end ? mapped : -1;
}

} // namespace poplar::internal
