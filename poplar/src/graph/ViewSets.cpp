#include "ViewSets.hpp"

#include "PieceSelect.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace poplar::internal {
namespace {

// The smallest run that holds all elements of a sorted piece.
ElementRun boundingRun(const Piece &sorted) {
  std::int64_t last = sorted.offset;
  for (std::size_t d = 0; d < sorted.extents.size(); ++d) {
    last += (sorted.extents[d] - 1) * sorted.strides[d];
  }
  return {sorted.variable, sorted.offset, last + 1};
}

bool isBefore(const ElementRun &a, const ElementRun &b) {
  return std::tie(a.variable, a.begin) < std::tie(b.variable, b.begin);
}

bool hasOverlap(std::vector<ElementRun> runs) {
  std::sort(runs.begin(), runs.end(), isBefore);
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].variable == runs[i - 1].variable &&
        runs[i].begin < runs[i - 1].end) {
      return true;
    }
  }
  return false;
}

// Surely no element twice: each stride of the sorted piece steps over all that
// the smaller ones reach. (A piece may fail this and still be free of aliases.)
bool isNested(const Piece &sorted) {
  std::int64_t reach = 0;
  for (std::size_t d = sorted.extents.size(); d-- > 0;) {
    if (sorted.strides[d] <= reach) {
      return false;
    }
    reach += (sorted.extents[d] - 1) * sorted.strides[d];
  }
  return true;
}

bool repeatsByStride(const Piece &piece) {
  for (std::size_t d = 0; d < piece.extents.size(); ++d) {
    if (piece.strides[d] == 0 && piece.extents[d] > 1) {
      return true;
    }
  }
  return false;
}

bool isSurelyDisjoint(const std::vector<Piece> &a,
                      const std::vector<Piece> &b) {
  for (const Piece &left : a) {
    ElementRun l = boundingRun(sortedPiece(left));
    for (const Piece &right : b) {
      ElementRun r = boundingRun(sortedPiece(right));
      if (l.variable == r.variable && l.begin < r.end && r.begin < l.end) {
        return false;
      }
    }
  }
  return true;
}

} // namespace

Piece sortedPiece(const Piece &piece) {
  Piece result{piece.variable, piece.offset, {}, {}};
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < piece.extents.size(); ++d) {
    if (piece.strides[d] != 0 && piece.extents[d] > 1) {
      order.push_back(d);
      if (piece.strides[d] < 0) {
        result.offset += (piece.extents[d] - 1) * piece.strides[d];
      }
    }
  }
  std::stable_sort(
      order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::abs(piece.strides[a]) > std::abs(piece.strides[b]);
      });
  for (std::size_t d : order) {
    result.extents.push_back(piece.extents[d]);
    result.strides.push_back(std::abs(piece.strides[d]));
  }
  simplifyDimensions(result.extents, result.strides);
  return result;
}

std::vector<ElementRun> elementRuns(const std::vector<Piece> &pieces) {
  TensorView view;
  for (const Piece &piece : pieces) {
    view.pieces.push_back(sortedPiece(piece));
  }
  std::vector<ElementRun> runs;
  forEachRun(view,
             [&](VariableId variable, std::int64_t begin, std::int64_t count) {
               runs.push_back({variable, begin, begin + count});
             });
  return runs;
}

bool containsAliases(const TensorView &view) {
  std::vector<ElementRun> bounds;
  bool isSimple = true;
  for (const Piece &piece : view.pieces) {
    if (repeatsByStride(piece)) {
      return true;
    }
    Piece sorted = sortedPiece(piece);
    isSimple = isSimple && isNested(sorted);
    bounds.push_back(boundingRun(sorted));
  }
  if (isSimple && !hasOverlap(std::move(bounds))) {
    return false;
  }
  return hasOverlap(elementRuns(view.pieces));
}

bool intersect(const std::vector<Piece> &a, const std::vector<Piece> &b) {
  if (isSurelyDisjoint(a, b)) {
    return false;
  }
  auto left = elementRuns(a);
  auto right = elementRuns(b);
  std::sort(left.begin(), left.end(), isBefore);
  std::sort(right.begin(), right.end(), isBefore);
  // A view may hold elements twice, so runs of one side may overlap; the
  // furthest end so far stands for all of them.
  std::size_t j = 0;
  ElementRun widest;
  for (const ElementRun &run : left) {
    for (; j < right.size() &&
           (right[j].variable < run.variable ||
            (right[j].variable == run.variable && right[j].begin < run.end));
         ++j) {
      if (right[j].variable != widest.variable || right[j].end > widest.end) {
        widest = right[j];
      }
    }
    if (widest.variable == run.variable && widest.end > run.begin) {
      return true;
    }
  }
  return false;
}

} // namespace poplar::internal
