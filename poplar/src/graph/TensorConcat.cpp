// Several tensors made into one, and one into several.
#include <poplar/Tensor.hpp>

#include "Handles.hpp"
#include "PieceSelect.hpp"

#include <support/Error.hpp>

namespace poplar {

using internal::Access;
using internal::TensorData;
using internal::TensorView;
using internal::validData;
using support::requireUser;

namespace {

void checkJoinable(const TensorView &first, const TensorView &other,
                   std::size_t index, unsigned dimension) {
  requireUser<type_error>(
      other.type == first.type,
      "[poplar::concat] tensor {} has type {}; tensor 0 has {}", index,
      support::toString(other.type), support::toString(first.type));
  bool isJoinable = other.shape.size() == first.shape.size();
  for (std::size_t d = 0; isJoinable && d < first.shape.size(); ++d) {
    isJoinable = d == dimension || other.shape[d] == first.shape[d];
  }
  requireUser<poplar_error>(
      isJoinable,
      "[poplar::concat] tensor {} has shape {}, tensor 0 has {}; all "
      "dimensions but {} must match",
      index, support::toString(other.shape), support::toString(first.shape),
      dimension);
}

bool hasSameMetadata(const TensorData &a, const TensorData &b) {
  return a.metadata == b.metadata ||
         (a.metadata != nullptr && b.metadata != nullptr &&
          a.metadata->view == b.metadata->view);
}

Tensor joinOutermost(ArrayRef<Tensor> tensors) {
  TensorData joined = *Access::data(tensors[0]);
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    const TensorView &view = Access::data(tensors[i])->view;
    joined.view.shape[0] += view.shape[0];
    joined.view.pieces.insert(joined.view.pieces.end(), view.pieces.begin(),
                              view.pieces.end());
  }
  internal::joinPieces(joined.view.pieces);
  return Access::makeTensor(
      std::make_shared<const TensorData>(std::move(joined)));
}

} // namespace

Tensor concat(ArrayRef<Tensor> tensors, unsigned dimension) {
  requireUser<poplar_error>(!tensors.empty(),
                            "[poplar::concat] no tensors given");
  const TensorData &first = validData(tensors[0], "poplar::concat");
  requireUser<poplar_error>(
      dimension < first.view.shape.size(),
      "[poplar::concat] dimension {} given; tensor 0 has shape {}", dimension,
      support::toString(first.view.shape));
  // With the dimension outermost the elements just follow each other.
  std::vector<Tensor> rolled;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorData &data = validData(tensors[i], "poplar::concat");
    checkJoinable(first.view, data.view, i, dimension);
    requireUser<poplar_error>(
        data.graph == first.graph,
        "[poplar::concat] tensor {} belongs to another graph than tensor 0", i);
    requireUser<tensor_metadata_error>(
        hasSameMetadata(first, data),
        "[poplar::concat] tensor {} has other metadata than tensor 0", i);
    rolled.push_back(tensors[i].dimRoll(dimension, 0));
  }
  return joinOutermost(rolled).dimRoll(0, dimension);
}

Tensor concat(const Tensor &first, const Tensor &second, unsigned dimension) {
  return concat({first, second}, dimension);
}

Tensor append(const Tensor &first, const Tensor &second, unsigned dimension) {
  return concat(first, second.expand({dimension}), dimension);
}

Tensor append(const Tensor &first, const Tensor &second) {
  return append(first, second, 0);
}

std::vector<Tensor> Tensor::slices(ArrayRef<Interval> intervals,
                                   unsigned dimension) const {
  std::vector<Tensor> result;
  for (const Interval &interval : intervals) {
    result.push_back(slice(interval, dimension));
  }
  return result;
}

std::vector<Tensor>
Tensor::slices(const std::vector<std::vector<Interval>> &intervals,
               unsigned dimension) const {
  std::vector<Tensor> result;
  for (const auto &list : intervals) {
    auto parts = slices(ArrayRef<Interval>(list), dimension);
    result.push_back(parts.empty() ? slice(0, 0, dimension)
                                   : concat(parts, dimension));
  }
  return result;
}

std::vector<Tensor> Tensor::slices(ArrayRef<unsigned> indices,
                                   unsigned dimension) const {
  std::vector<Tensor> result;
  for (unsigned i : indices) {
    result.push_back(slice(i, i + std::size_t(1), dimension));
  }
  return result;
}

} // namespace poplar
