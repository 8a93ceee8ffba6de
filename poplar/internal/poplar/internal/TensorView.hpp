// A tensor is a shape over piecewise-affine pieces of variables. Views cost the
// same whatever the element count.
#pragma once

#include <support/DataType.hpp>
#include <support/Ids.hpp>
#include <support/Shape.hpp>

#include <cstdint>
#include <vector>

namespace poplar::internal {

using VariableId = support::Id<struct VariableTag>;

// Elements offset + sum(i[d] * strides[d]) of one variable, i running row-major
// over the extents. Stride 0 repeats, negative strides reverse.
struct Piece {
  VariableId variable;
  std::int64_t offset = 0;
  support::Shape extents;
  support::Strides strides;

  friend bool operator==(const Piece &, const Piece &) = default;
};

// The pieces read in order give the tensor's row-major elements; their extents
// need not follow the tensor's shape.
struct TensorView {
  support::DataType type = support::DataType::Float;
  support::Shape shape;
  std::vector<Piece> pieces;

  std::int64_t elements() const { return support::elementCount(shape); }
  friend bool operator==(const TensorView &, const TensorView &) = default;
};

// One affine map from the tensor's own indices to elements of one variable:
// what kernels take. Fails (returns false) when the view needs several pieces
// or its pieces cut across the shape's dimensions.
struct AffineView {
  VariableId variable;
  std::int64_t offset = 0;
  support::Shape shape;
  support::Strides strides;
};
bool toAffine(const TensorView &view, AffineView &result);

// Whether the view is not empty and consecutive elements of one variable.
bool isOneRun(const TensorView &view);

// Whether some element appears more than once.
bool containsAliases(const TensorView &view);

// Calls f(variable, firstElement, count) for the maximal runs of consecutive
// elements, in the tensor's order.
template <typename F> void forEachRun(const TensorView &view, F &&f);

} // namespace poplar::internal

#include <poplar/internal/TensorViewRuns.hpp>
