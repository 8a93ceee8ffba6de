// Views as sets of elements: which runs of which variables, whether any element
// occurs twice. The order of the elements does not matter here.
#pragma once

#include <poplar/internal/TensorView.hpp>

#include <vector>

namespace poplar::internal {

// Elements [begin, end) of a variable.
struct ElementRun {
  VariableId variable;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  friend bool operator==(const ElementRun &, const ElementRun &) = default;
};

// The same elements in ascending order of a variable as far as one piece goes,
// repetition left out: a transposed view of a whole variable is one run.
Piece sortedPiece(const Piece &piece);

// Runs that cover the pieces' elements, in no particular order.
std::vector<ElementRun> elementRuns(const std::vector<Piece> &pieces);

bool intersect(const std::vector<Piece> &a, const std::vector<Piece> &b);

} // namespace poplar::internal
