#include <popops/internal/IndexVectors.hpp>

#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace popops::internal {

using poplar::Tensor;
using poputil::poplibs_error;
using support::requireUser;

namespace {

// For each dimension of a tensor of this rank the one of [batch..., window...]
// that stands there.
std::vector<unsigned> placement(std::string_view function, std::size_t rank,
                                std::size_t batchRank,
                                const std::vector<std::size_t> &windowDims) {
  requireUser<poplibs_error>(
      rank == batchRank + windowDims.size() &&
          std::is_sorted(windowDims.begin(), windowDims.end()) &&
          std::adjacent_find(windowDims.begin(), windowDims.end()) ==
              windowDims.end() &&
          (windowDims.empty() || windowDims.back() < rank),
      "[popops::{}] the dimensions of the windows are {{{}}}; a tensor of {} "
      "dimensions, {} of them from the indices, needs the others in ascending "
      "order",
      function, fmt::join(windowDims, ","), rank, batchRank);
  std::vector<unsigned> order(rank);
  auto nextBatch = 0u;
  auto nextWindow = static_cast<unsigned>(batchRank);
  for (std::size_t d = 0; d < rank; ++d) {
    order[d] = std::binary_search(windowDims.begin(), windowDims.end(), d)
                   ? nextWindow++
                   : nextBatch++;
  }
  return order;
}

} // namespace

IndexVectors indexVectors(std::string_view function, const Tensor &indices,
                          std::size_t indexVectorDim, std::size_t entries) {
  requireUser<poplibs_error>(
      indexVectorDim <= indices.rank(),
      "[popops::{}] indexVectorDim is {}; the indices have shape {}", function,
      indexVectorDim, indices.shapeToString());
  const auto vectors =
      indexVectorDim == indices.rank()
          ? indices.expand({indices.rank()})
          : indices.dimRoll(static_cast<unsigned>(indexVectorDim),
                            indices.rank() - 1);
  requireUser<poplibs_error>(
      vectors.dim(vectors.rank() - 1) == entries,
      "[popops::{}] dimension {} of the indices, {}, has another extent than "
      "the {} dimensions that they address",
      function, indexVectorDim, indices.shapeToString(), entries);
  requireUser<poplibs_error>(
      indices.elementType() == poplar::UNSIGNED_INT ||
          indices.elementType() == poplar::INT,
      "[popops::{}] the indices have type {}; they must be UNSIGNED_INT or INT",
      function, std::string(indices.elementType().toString()));
  auto batch = vectors.shape();
  batch.pop_back();
  return {vectors.flatten(0, vectors.rank() - 1), batch};
}

Tensor placeWindowDims(std::string_view function, const Tensor &windows,
                       const std::vector<std::size_t> &batch,
                       const std::vector<std::size_t> &windowDims) {
  const auto all = windows.reshapePartial(0, 1, batch);
  return all.dimShuffle(
      placement(function, all.rank(), batch.size(), windowDims));
}

Tensor windowsFirst(std::string_view function, const Tensor &updates,
                    const std::vector<std::size_t> &batch,
                    const std::vector<std::size_t> &windowDims) {
  const auto order =
      placement(function, updates.rank(), batch.size(), windowDims);
  std::vector<unsigned> inverse(order.size());
  for (unsigned d = 0; d < order.size(); ++d) {
    inverse[order[d]] = d;
  }
  const auto all = updates.dimShuffle(inverse);
  const auto shape = all.shape();
  requireUser<poplibs_error>(
      std::equal(batch.begin(), batch.end(), shape.begin()),
      "[popops::{}] the updates have shape {}; outside their windows it must "
      "be that of the indices, {{{}}}",
      function, updates.shapeToString(), fmt::join(batch, ","));
  return all.rank() == windowDims.size()
             ? all.expand({0})
             : all.flatten(0, static_cast<unsigned>(batch.size()));
}

} // namespace popops::internal
