#include "PieceSelect.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>

namespace poplar::internal {
namespace {

using support::Shape;
using support::Strides;

struct Bounds {
  std::int64_t low; // both inclusive
  std::int64_t high;
};

Bounds boundsOf(std::int64_t offset, std::span<const std::int64_t> extents,
                std::span<const std::int64_t> strides) {
  Bounds bounds{offset, offset};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    std::int64_t reach = (extents[d] - 1) * strides[d];
    (reach < 0 ? bounds.low : bounds.high) += reach;
  }
  return bounds;
}

// `count` indices of the grid's outermost dimension from `begin`.
Grid outerSlice(const Grid &grid, std::int64_t begin, std::int64_t count) {
  Grid part = grid;
  part.offset += begin * grid.strides[0];
  part.extents[0] = count;
  return part;
}

// Rewrites a grid over positions of `piece` as one affine map of the piece's
// variable. A position is a number whose digits are the piece's indices; a grid
// dimension maps affinely when it moves one digit and never carries. On failure
// returns the weight of the digit where it does.
struct DirectRead {
  bool isPossible = false;
  Piece piece;
  std::int64_t blockSize = 0;
};

DirectRead readDirectly(const Piece &piece, const Grid &grid) {
  Shape extents;
  Strides positionStrides;
  for (std::size_t d = 0; d < grid.extents.size(); ++d) {
    extents.push_back(grid.extents[d]);
    positionStrides.push_back(grid.strides[d]);
  }
  std::vector<bool> isResolved(extents.size(), false);
  Strides strides(extents.size(), 0);
  std::int64_t position = grid.offset;
  std::int64_t element = piece.offset;
  std::int64_t weight = support::elementCount(piece.extents);
  for (std::size_t digit = 0; digit < piece.extents.size(); ++digit) {
    weight /= piece.extents[digit];
    Bounds rest{position, position};
    for (std::size_t d = 0; d < extents.size(); ++d) {
      if (isResolved[d]) {
        continue;
      }
      std::int64_t stride = positionStrides[d];
      std::int64_t step = std::abs(stride);
      if (step != 0 && step < weight && weight % step == 0 &&
          extents[d] > weight / step && extents[d] % (weight / step) == 0) {
        // Several whole blocks: an outer dimension over blocks, one inside.
        std::int64_t perBlock = weight / step;
        auto at = static_cast<std::ptrdiff_t>(d);
        extents.insert(extents.begin() + at, extents[d] / perBlock);
        extents[d + 1] = perBlock;
        positionStrides.insert(positionStrides.begin() + at, stride * perBlock);
        isResolved.insert(isResolved.begin() + at, false);
        strides.insert(strides.begin() + at, 0);
        stride *= perBlock;
      }
      if (stride % weight == 0) {
        strides[d] = stride / weight * piece.strides[digit];
        isResolved[d] = true;
      } else {
        std::int64_t reach = (extents[d] - 1) * stride;
        (reach < 0 ? rest.low : rest.high) += reach;
      }
    }
    if (rest.low / weight != rest.high / weight) {
      return {false, {}, weight};
    }
    element += position / weight * piece.strides[digit];
    position %= weight;
  }
  return {true, {piece.variable, element, extents, strides}, 0};
}

// Where to cut the grid's outermost dimension so that the parts come closer to
// lying in whole blocks.
std::int64_t cutPoint(const Grid &grid, std::int64_t blockSize) {
  std::int64_t extent = grid.extents[0];
  std::int64_t step = std::abs(grid.strides[0]);
  if (step != 0 && step < blockSize && blockSize % step == 0) {
    std::int64_t perBlock = blockSize / step;
    std::int64_t within = grid.offset % blockSize;
    std::int64_t first = grid.strides[0] > 0
                             ? (blockSize - within + step - 1) / step
                             : within / step + 1;
    if (first < perBlock && first < extent) {
      return first;
    }
    std::int64_t whole = extent - extent % perBlock;
    if (whole > 0 && whole < extent) {
      return whole;
    }
  }
  return extent / 2;
}

void selectFromPiece(const Piece &piece, Grid grid, std::vector<Piece> &out) {
  simplifyDimensions(grid.extents, grid.strides);
  DirectRead read = readDirectly(piece, grid);
  if (read.isPossible) {
    simplifyDimensions(read.piece.extents, read.piece.strides);
    out.push_back(std::move(read.piece));
    return;
  }
  std::int64_t cut = cutPoint(grid, read.blockSize);
  selectFromPiece(piece, outerSlice(grid, 0, cut), out);
  selectFromPiece(piece, outerSlice(grid, cut, grid.extents[0] - cut), out);
}

// Pieces with the position at which each starts.
class PieceIndex {
public:
  explicit PieceIndex(const std::vector<Piece> &pieces) : pieces_(pieces) {
    starts_.push_back(0);
    for (const Piece &piece : pieces) {
      starts_.push_back(starts_.back() + support::elementCount(piece.extents));
    }
  }

  void select(Grid grid, std::vector<Piece> &out) const {
    simplifyDimensions(grid.extents, grid.strides);
    Bounds bounds = boundsOf(grid.offset, grid.extents, grid.strides);
    std::size_t index = pieceAt(bounds.low);
    if (bounds.high < starts_[index + 1]) {
      grid.offset -= starts_[index];
      selectFromPiece(pieces_[index], grid, out);
      return;
    }
    selectAcross(grid, out);
  }

private:
  std::size_t pieceAt(std::int64_t position) const {
    auto next = std::upper_bound(starts_.begin(), starts_.end(), position);
    return static_cast<std::size_t>(next - starts_.begin()) - 1;
  }

  // Walks the outermost dimension in the longest steps that stay in one piece.
  void selectAcross(const Grid &grid, std::vector<Piece> &out) const {
    std::int64_t stride = grid.strides[0];
    Bounds inner = boundsOf(grid.offset, std::span(grid.extents).subspan(1),
                            std::span(grid.strides).subspan(1));
    for (std::int64_t i = 0; i < grid.extents[0];) {
      Bounds now{inner.low + i * stride, inner.high + i * stride};
      std::size_t index = pieceAt(now.low);
      std::int64_t count = 1;
      if (now.high < starts_[index + 1] && stride != 0) {
        std::int64_t room = stride > 0 ? starts_[index + 1] - 1 - now.high
                                       : now.low - starts_[index];
        count = std::min(grid.extents[0] - i, room / std::abs(stride) + 1);
      }
      select(outerSlice(grid, i, count), out);
      i += count;
    }
  }

  const std::vector<Piece> &pieces_;
  std::vector<std::int64_t> starts_;
};

// True when `b` goes on where `a` ends, along a's or b's outermost dimension;
// then `a` takes it in.
bool extendPiece(Piece &a, const Piece &b) {
  auto hasInner = [](const Piece &outer, const Piece &inner) {
    return outer.extents.size() == inner.extents.size() + 1 &&
           std::equal(inner.extents.begin(), inner.extents.end(),
                      outer.extents.begin() + 1) &&
           std::equal(inner.strides.begin(), inner.strides.end(),
                      outer.strides.begin() + 1);
  };
  if (a.variable != b.variable) {
    return false;
  }
  std::int64_t distance = b.offset - a.offset;
  if (a.extents.size() == b.extents.size() && !a.extents.empty() &&
      a.strides == b.strides && distance == a.extents[0] * a.strides[0] &&
      std::equal(a.extents.begin() + 1, a.extents.end(),
                 b.extents.begin() + 1)) {
    a.extents[0] += b.extents[0];
    return true;
  }
  if (hasInner(a, b) && distance == a.extents[0] * a.strides[0]) {
    ++a.extents[0];
    return true;
  }
  if (hasInner(b, a) && distance == b.strides[0]) {
    std::int64_t offset = a.offset;
    a = b;
    a.offset = offset;
    ++a.extents[0];
    return true;
  }
  return false;
}

void extendNeighbours(std::vector<Piece> &pieces) {
  std::vector<Piece> result;
  for (Piece &piece : pieces) {
    if (result.empty() || !extendPiece(result.back(), piece)) {
      result.push_back(std::move(piece));
    } else {
      simplifyDimensions(result.back().extents, result.back().strides);
    }
  }
  pieces = std::move(result);
}

// Joins runs of equally shaped pieces at equal distances under a new outermost
// dimension.
void stackNeighbours(std::vector<Piece> &pieces) {
  auto isSameShape = [](const Piece &a, const Piece &b) {
    return a.variable == b.variable && a.extents == b.extents &&
           a.strides == b.strides;
  };
  std::vector<Piece> result;
  for (std::size_t i = 0; i < pieces.size();) {
    std::size_t end = i + 1;
    if (end < pieces.size() && isSameShape(pieces[i], pieces[end])) {
      std::int64_t distance = pieces[end].offset - pieces[i].offset;
      while (end < pieces.size() && isSameShape(pieces[i], pieces[end]) &&
             pieces[end].offset - pieces[end - 1].offset == distance) {
        ++end;
      }
      Piece stack = pieces[i];
      stack.extents.insert(stack.extents.begin(),
                           static_cast<std::int64_t>(end - i));
      stack.strides.insert(stack.strides.begin(), distance);
      simplifyDimensions(stack.extents, stack.strides);
      result.push_back(std::move(stack));
    } else {
      result.push_back(pieces[i]);
    }
    i = end;
  }
  pieces = std::move(result);
}

} // namespace

void simplifyDimensions(Shape &extents, Strides &strides) {
  std::size_t kept = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 1) {
      continue;
    }
    if (kept > 0 && strides[kept - 1] == strides[d] * extents[d]) {
      extents[kept - 1] *= extents[d];
      strides[kept - 1] = strides[d];
    } else {
      extents[kept] = extents[d];
      strides[kept] = strides[d];
      ++kept;
    }
  }
  extents.resize(kept);
  strides.resize(kept);
}

void joinPieces(std::vector<Piece> &pieces) {
  for (Piece &piece : pieces) {
    simplifyDimensions(piece.extents, piece.strides);
  }
  std::size_t before = 0;
  do {
    before = pieces.size();
    // Existing runs grow first: a new dimension must not tear them apart.
    extendNeighbours(pieces);
    stackNeighbours(pieces);
  } while (pieces.size() < before);
}

std::vector<Piece> selectPieces(const std::vector<Piece> &pieces,
                                const Grid &grid) {
  std::vector<Piece> result;
  if (support::elementCount(grid.extents) > 0) {
    PieceIndex(pieces).select(grid, result);
    joinPieces(result);
  }
  return result;
}

} // namespace poplar::internal
