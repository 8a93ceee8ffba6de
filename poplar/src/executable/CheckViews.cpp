#include "executable/CheckViews.hpp"

#include "executable/Limits.hpp"
#include "executable/RequireIntact.hpp"

#include <algorithm>
#include <cstdlib>

namespace poplar::executable {
namespace {

using internal::MappingPiece;
using internal::Piece;
using internal::TensorView;
using internal::Variable;
using internal::VariableId;

// The product, which must stay below the limit whatever the order.
std::int64_t countElements(const support::Shape &shape) {
  std::int64_t count = 1;
  bool isEmpty = false;
  for (std::int64_t extent : shape) {
    requireIntact(extent >= 0 && extent <= maxElements,
                  "a dimension has {} elements", extent);
    isEmpty = isEmpty || extent == 0;
    extent = std::max<std::int64_t>(extent, 1);
    requireIntact(count <= maxElements / extent,
                  "a tensor has more than {} elements", maxElements);
    count *= extent;
  }
  return isEmpty ? 0 : count;
}

// The first and the last element of a piece that is not empty.
std::pair<std::int64_t, std::int64_t> boundsOf(const Piece &piece) {
  // At most 39 dimensions have more than one element, so sums stay in range.
  std::int64_t first = 0, last = 0;
  for (std::size_t d = 0; d < piece.extents.size(); ++d) {
    const std::int64_t steps = piece.extents[d] - 1;
    if (steps == 0) {
      continue;
    }
    const std::int64_t longest = maxElements / steps;
    requireIntact(piece.strides[d] >= -longest && piece.strides[d] <= longest,
                  "a view has a stride of {}", piece.strides[d]);
    (piece.strides[d] < 0 ? first : last) += steps * piece.strides[d];
  }
  return {piece.offset + first, piece.offset + last};
}

void checkVariable(const Variable &variable, std::int64_t elements,
                   std::uint64_t tiles) {
  const auto &pieces = variable.mapping.pieces();
  requireIntact(pieces.empty() || pieces.back().end <= elements,
                "the tile mapping of '{}' has more than its {} elements",
                variable.debugPath, elements);
  for (const MappingPiece &piece : pieces) {
    requireIntact(std::uint64_t(piece.firstTile) + piece.parts <= tiles,
                  "'{}' is mapped to tile {} of {}", variable.debugPath,
                  std::uint64_t(piece.firstTile) + piece.parts - 1, tiles);
  }
  const std::size_t bytes =
      static_cast<std::size_t>(elements) * support::sizeOf(variable.type);
  const bool isValueNeeded = variable.isConstant && !variable.isReplicaIndex;
  requireIntact(variable.initialData.size() == bytes ||
                    (variable.initialData.empty() && !isValueNeeded),
                "'{}' has {} bytes of initial data for {} bytes",
                variable.debugPath, variable.initialData.size(), bytes);
}

} // namespace

void checkMapping(const std::vector<MappingPiece> &pieces) {
  std::int64_t mapped = 0;
  for (const MappingPiece &piece : pieces) {
    requireIntact(piece.begin >= mapped && piece.begin < piece.end &&
                      piece.end <= maxElements,
                  "a tile mapping has elements [{},{}) after {}", piece.begin,
                  piece.end, mapped);
    requireIntact(piece.parts > 0 && piece.parts <= maxTiles &&
                      piece.grain > 0 && piece.grain <= maxElements,
                  "a tile mapping has {} parts in grains of {}", piece.parts,
                  piece.grain);
    mapped = piece.end;
  }
}

CheckedVariables::CheckedVariables(const std::vector<Variable> &variables,
                                   std::uint64_t tiles) {
  for (const Variable &variable : variables) {
    const std::int64_t elements = countElements(variable.shape);
    checkVariable(variable, elements, tiles);
    sizes_.push_back({elements, support::sizeOf(variable.type)});
  }
}

const CheckedVariables::Size &
CheckedVariables::sizeOf(VariableId variable, support::DataType type) const {
  requireIntact(variable.index() < sizes_.size(),
                "there is no variable {} among {}", variable.value,
                sizes_.size());
  const Size &size = sizes_[variable.index()];
  requireIntact(size.elementBytes == support::sizeOf(type),
                "variable {} has elements of {} bytes; a view of it has {}",
                variable.value, size.elementBytes, support::toString(type));
  return size;
}

void CheckedVariables::checkView(const TensorView &view) const {
  const std::int64_t elements = countElements(view.shape);
  std::int64_t found = 0;
  for (const Piece &piece : view.pieces) {
    const Size &size = sizeOf(piece.variable, view.type);
    requireIntact(piece.extents.size() == piece.strides.size(),
                  "a view has {} extents and {} strides", piece.extents.size(),
                  piece.strides.size());
    const std::int64_t count = countElements(piece.extents);
    requireIntact(count <= elements - found,
                  "the pieces of a view have more than its {} elements",
                  elements);
    found += count;
    requireIntact(piece.offset >= 0 && piece.offset <= maxElements,
                  "a view starts at element {}", piece.offset);
    if (count > 0) {
      const auto [first, last] = boundsOf(piece);
      requireIntact(first >= 0 && last < size.elements,
                    "a view has elements {} to {} of variable {}, which has {}",
                    first, last, piece.variable.value, size.elements);
    }
  }
  requireIntact(found == elements,
                "the pieces of a view have {} of its {} elements", found,
                elements);
}

void CheckedVariables::checkRun(VariableId variable, std::int64_t begin,
                                std::int64_t count,
                                support::DataType type) const {
  const Size &size = sizeOf(variable, type);
  requireIntact(begin >= 0 && count >= 0 && begin <= size.elements &&
                    count <= size.elements - begin,
                "an edge has {} elements from {} on of variable {}, which has "
                "{}",
                count, begin, variable.value, size.elements);
}

} // namespace poplar::executable
