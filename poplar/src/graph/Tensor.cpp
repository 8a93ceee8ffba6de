// Views: each checks its arguments, then reads a grid of the tensor's positions
// through its pieces.
#include <poplar/Tensor.hpp>

#include "Handles.hpp"
#include "Messages.hpp"
#include "PieceSelect.hpp"

#include <support/Error.hpp>

#include <algorithm>
#include <numeric>

namespace poplar {

using internal::Access;
using internal::Grid;
using internal::ShapeText;
using internal::TensorData;
using internal::TensorView;
using internal::validData;
using support::requireUser;
using support::Shape;

namespace {

// All positions of a tensor of this shape, one grid dimension each.
Grid wholeGrid(const Shape &shape) {
  return {0, shape, support::rowMajorStrides(shape)};
}

Shape toShape(ArrayRef<std::size_t> shape) {
  return Shape(shape.begin(), shape.end());
}

Tensor withView(const TensorData &source, TensorView view) {
  const auto metadata =
      view.type == support::DataType::Quarter ? source.metadata : nullptr;
  return Access::makeTensor(std::make_shared<const TensorData>(
      TensorData{std::move(view), source.graph, metadata}));
}

// The elements at the grid's positions, as a tensor of `shape`.
Tensor select(const TensorData &source, const Grid &grid, Shape shape) {
  return withView(source, {source.view.type, std::move(shape),
                           selectPieces(source.view.pieces, grid)});
}

Tensor withShape(const TensorData &source, Shape shape) {
  return withView(source,
                  {source.view.type, std::move(shape), source.view.pieces});
}

// `count` indices of a dimension from `begin`, as a tensor of `shape`. Slices
// of the outermost dimension of whole variables are made by the million: they
// stay one run, which needs no search.
Tensor sliceOf(const TensorData &source, unsigned dimension, std::int64_t begin,
               std::int64_t count, Shape shape) {
  const TensorView &view = source.view;
  std::int64_t stride = 1;
  for (std::size_t d = dimension + std::size_t(1); d < view.shape.size(); ++d) {
    stride *= view.shape[d];
  }
  const std::int64_t size = count * stride;
  if (internal::isOneRun(view) && size > 0 &&
      stride * view.shape[dimension] == view.elements()) {
    const internal::Piece &piece = view.pieces[0];
    internal::Piece part{piece.variable, piece.offset + begin * stride, {}, {}};
    if (size > 1) {
      part.extents = {size};
      part.strides = {1};
    }
    return withView(source, {view.type, std::move(shape), {std::move(part)}});
  }
  Grid grid = wholeGrid(view.shape);
  grid.offset = begin * stride;
  grid.extents[dimension] = count;
  return select(source, grid, std::move(shape));
}

void checkDimension(const TensorView &view, std::size_t dimension,
                    const char *operation) {
  requireUser<poplar_error>(
      dimension < view.shape.size(),
      "[poplar::Tensor::{}] dimension {} given; the tensor has shape {}",
      operation, dimension, ShapeText{view.shape});
}

template <typename Iterator>
void insertAt(Iterator &container, std::size_t index, std::int64_t value) {
  container.insert(container.begin() + static_cast<std::ptrdiff_t>(index),
                   value);
}

} // namespace

namespace internal {

const TensorData &validData(const Tensor &tensor, const char *operation) {
  const auto &data = Access::data(tensor);
  requireUser<poplar_error>(
      data != nullptr,
      "[{}] the tensor is invalid: it was default-constructed and refers to "
      "no variable",
      operation);
  return *data;
}

const TensorData &ownData(const GraphData &graph, const Tensor &tensor,
                          const char *operation) {
  const TensorData &data = validData(tensor, operation);
  requireUser<poplar_error>(data.graph.get() == &graph,
                            "[{}] the tensor '{}' belongs to another graph",
                            operation, PathText{data});
  return data;
}

} // namespace internal

Tensor Tensor::operator[](std::size_t index) const {
  const TensorData &data = validData(*this, "poplar::Tensor::operator[]");
  checkDimension(data.view, 0, "operator[]");
  requireUser<poplar_error>(
      index < static_cast<std::size_t>(data.view.shape[0]),
      "[poplar::Tensor::operator[]] index {} given; the tensor has shape {}",
      index, ShapeText{data.view.shape});
  const Shape &shape = data.view.shape;
  return sliceOf(data, 0, static_cast<std::int64_t>(index), 1,
                 Shape(shape.begin() + 1, shape.end()));
}

Tensor Tensor::index(ArrayRef<std::size_t> indices) const {
  Tensor result = *this;
  for (std::size_t i : indices) {
    result = result[i];
  }
  return result;
}

Tensor Tensor::slice(std::size_t begin, std::size_t end,
                     unsigned dimension) const {
  const TensorData &data = validData(*this, "poplar::Tensor::slice");
  checkDimension(data.view, dimension, "slice");
  requireUser<poplar_error>(
      begin <= end && end <= dim(dimension),
      "[poplar::Tensor::slice] range [{},{}) given for dimension {} of a "
      "tensor of shape {}",
      begin, end, dimension, ShapeText{data.view.shape});
  const auto count = static_cast<std::int64_t>(end - begin);
  Shape shape = data.view.shape;
  shape[dimension] = count;
  return sliceOf(data, dimension, static_cast<std::int64_t>(begin), count,
                 std::move(shape));
}

Tensor Tensor::slice(std::size_t begin, std::size_t end) const {
  return slice(begin, end, 0);
}

Tensor Tensor::slice(const Interval &region, unsigned dimension) const {
  return slice(region.begin(), region.end(), dimension);
}

Tensor Tensor::slice(ArrayRef<std::size_t> begin,
                     ArrayRef<std::size_t> end) const {
  requireUser<poplar_error>(
      begin.size() == end.size(),
      "[poplar::Tensor::slice] {} begins and {} ends given; one of each per "
      "dimension is needed",
      begin.size(), end.size());
  Tensor result = *this;
  for (std::size_t d = 0; d < begin.size(); ++d) {
    result = result.slice(begin[d], end[d], static_cast<unsigned>(d));
  }
  return result;
}

Tensor Tensor::flatten() const {
  const TensorData &data = validData(*this, "poplar::Tensor::flatten");
  return withShape(data, {data.view.elements()});
}

Tensor Tensor::flatten(unsigned dimBegin, unsigned dimEnd) const {
  const TensorView &view = validData(*this, "poplar::Tensor::flatten").view;
  requireUser<poplar_error>(
      dimBegin <= dimEnd && dimEnd <= rank(),
      "[poplar::Tensor::flatten] dimensions [{},{}) given; the tensor has "
      "shape {}",
      dimBegin, dimEnd, ShapeText{view.shape});
  std::int64_t merged = std::accumulate(view.shape.begin() + dimBegin,
                                        view.shape.begin() + dimEnd,
                                        std::int64_t(1), std::multiplies<>());
  return reshapePartial(dimBegin, dimEnd, {static_cast<std::size_t>(merged)});
}

Tensor Tensor::reshape(ArrayRef<std::size_t> shape) const {
  const TensorData &data = validData(*this, "poplar::Tensor::reshape");
  Shape newShape = toShape(shape);
  requireUser<poplar_error>(
      support::elementCount(newShape) == data.view.elements(),
      "[poplar::Tensor::reshape] shape {} given, of {} elements; the tensor "
      "has shape {}, of {} elements",
      ShapeText{newShape}, support::elementCount(newShape),
      ShapeText{data.view.shape}, data.view.elements());
  return withShape(data, std::move(newShape));
}

Tensor Tensor::reshapePartial(unsigned beginIndex, unsigned endIndex,
                              ArrayRef<std::size_t> newDims) const {
  requireUser<poplar_error>(
      beginIndex <= endIndex && endIndex <= rank(),
      "[poplar::Tensor::reshapePartial] dimensions [{},{}) given; the tensor "
      "has shape {}",
      beginIndex, endIndex, shapeToString());
  auto newShape = shape();
  auto at = newShape.erase(newShape.begin() + beginIndex,
                           newShape.begin() + endIndex);
  newShape.insert(at, newDims.begin(), newDims.end());
  return reshape(newShape);
}

Tensor Tensor::dimShuffle(ArrayRef<unsigned> permutation) const {
  const TensorData &data = validData(*this, "poplar::Tensor::dimShuffle");
  const Grid whole = wholeGrid(data.view.shape);
  std::vector<bool> isUsed(rank(), false);
  Grid grid;
  for (unsigned d : permutation) {
    checkDimension(data.view, d, "dimShuffle");
    requireUser<poplar_error>(
        !isUsed[d],
        "[poplar::Tensor::dimShuffle] dimension {} given twice; every "
        "dimension of shape {} is needed once",
        d, ShapeText{data.view.shape});
    isUsed[d] = true;
    grid.extents.push_back(whole.extents[d]);
    grid.strides.push_back(whole.strides[d]);
  }
  requireUser<poplar_error>(
      permutation.size() == rank(),
      "[poplar::Tensor::dimShuffle] {} dimensions given; the tensor has "
      "shape {}",
      permutation.size(), ShapeText{data.view.shape});
  return select(data, grid, grid.extents);
}

Tensor Tensor::dimShufflePartial(ArrayRef<unsigned> source,
                                 ArrayRef<unsigned> destination) const {
  const TensorView &view =
      validData(*this, "poplar::Tensor::dimShufflePartial").view;
  requireUser<poplar_error>(
      source.size() == destination.size(),
      "[poplar::Tensor::dimShufflePartial] {} sources and {} destinations "
      "given; as many of each are needed",
      source.size(), destination.size());
  const unsigned none = rank();
  std::vector<unsigned> permutation(rank(), none);
  std::vector<bool> isMoved(rank(), false);
  for (std::size_t i = 0; i < source.size(); ++i) {
    checkDimension(view, source[i], "dimShufflePartial");
    checkDimension(view, destination[i], "dimShufflePartial");
    requireUser<poplar_error>(
        !isMoved[source[i]] && permutation[destination[i]] == none,
        "[poplar::Tensor::dimShufflePartial] dimension {} to {} given, but "
        "one of them is already taken",
        source[i], destination[i]);
    permutation[destination[i]] = source[i];
    isMoved[source[i]] = true;
  }
  unsigned next = 0;
  for (unsigned &from : permutation) {
    if (from == none) {
      while (isMoved[next]) {
        ++next;
      }
      from = next++;
    }
  }
  return dimShuffle(permutation);
}

Tensor Tensor::dimRoll(unsigned dimIdx, unsigned newIdx) const {
  return dimShufflePartial({dimIdx}, {newIdx});
}

Tensor Tensor::transpose() const {
  std::vector<unsigned> permutation(rank());
  std::iota(permutation.rbegin(), permutation.rend(), 0U);
  return dimShuffle(permutation);
}

Tensor Tensor::expand(ArrayRef<std::size_t> indices) const {
  const TensorData &data = validData(*this, "poplar::Tensor::expand");
  auto sorted = indices.cloneAsVector();
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  Shape shape = data.view.shape;
  for (std::size_t d : sorted) {
    requireUser<poplar_error>(
        d <= data.view.shape.size(),
        "[poplar::Tensor::expand] dimension {} given; the tensor has shape {}",
        d, ShapeText{data.view.shape});
    insertAt(shape, d, 1);
  }
  return withShape(data, std::move(shape));
}

Tensor Tensor::squeeze(ArrayRef<std::size_t> indices) const {
  const TensorData &data = validData(*this, "poplar::Tensor::squeeze");
  std::vector<bool> isRemoved(rank(), false);
  for (std::size_t d : indices) {
    checkDimension(data.view, d, "squeeze");
    requireUser<poplar_error>(
        data.view.shape[d] == 1 && !isRemoved[d],
        "[poplar::Tensor::squeeze] dimension {} of shape {} given; it must "
        "have size 1 and be named once",
        d, ShapeText{data.view.shape});
    isRemoved[d] = true;
  }
  Shape shape;
  for (std::size_t d = 0; d < isRemoved.size(); ++d) {
    if (!isRemoved[d]) {
      shape.push_back(data.view.shape[d]);
    }
  }
  return withShape(data, std::move(shape));
}

Tensor Tensor::reverse(unsigned dimension) const {
  const TensorData &data = validData(*this, "poplar::Tensor::reverse");
  checkDimension(data.view, dimension, "reverse");
  Grid grid = wholeGrid(data.view.shape);
  grid.offset = (grid.extents[dimension] - 1) * grid.strides[dimension];
  grid.strides[dimension] = -grid.strides[dimension];
  return select(data, grid, grid.extents);
}

Tensor Tensor::subSample(unsigned stride, unsigned dimension) const {
  const TensorData &data = validData(*this, "poplar::Tensor::subSample");
  checkDimension(data.view, dimension, "subSample");
  requireUser<poplar_error>(
      stride > 0,
      "[poplar::Tensor::subSample] stride 0 given; at least 1 is needed");
  Grid grid = wholeGrid(data.view.shape);
  grid.extents[dimension] = (grid.extents[dimension] + stride - 1) / stride;
  grid.strides[dimension] *= stride;
  return select(data, grid, grid.extents);
}

Tensor Tensor::broadcast(unsigned N, unsigned dimension) const {
  const TensorData &data = validData(*this, "poplar::Tensor::broadcast");
  checkDimension(data.view, dimension, "broadcast");
  Grid grid = wholeGrid(data.view.shape);
  Shape shape = grid.extents;
  shape[dimension] *= N;
  insertAt(grid.extents, dimension, N);
  insertAt(grid.strides, dimension, 0);
  return select(data, grid, std::move(shape));
}

Tensor Tensor::upsample(unsigned scale, unsigned dimension,
                        UpsampleMethod) const {
  const TensorData &data = validData(*this, "poplar::Tensor::upsample");
  checkDimension(data.view, dimension, "upsample");
  Grid grid = wholeGrid(data.view.shape);
  Shape shape = grid.extents;
  shape[dimension] *= scale;
  insertAt(grid.extents, dimension + 1, scale);
  insertAt(grid.strides, dimension + 1, 0);
  return select(data, grid, std::move(shape));
}

Tensor Tensor::reinterpret(const Type &type) const {
  const TensorData &data = validData(*this, "poplar::Tensor::reinterpret");
  auto dataType = internal::toDataType(type);
  requireUser<type_error>(
      support::sizeOf(dataType) == support::sizeOf(data.view.type),
      "[poplar::Tensor::reinterpret] {} given for a tensor of {}; both must "
      "have the same size",
      support::toString(dataType), support::toString(data.view.type));
  return withView(data, {dataType, data.view.shape, data.view.pieces});
}

} // namespace poplar
