#include <popops/Gather.hpp>

#include <popops/DynamicSlice.hpp>
#include <popops/internal/IndexVectors.hpp>
#include <popops/internal/IndexingKinds.hpp>

#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace popops {

using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;
using Shape = std::vector<std::size_t>;

namespace {

void checkSlices(const Shape &inputShape, const Shape &sliceSizes,
                 const std::vector<unsigned> &startIndexMap) {
  requireUser<poplibs_error>(
      sliceSizes.size() == inputShape.size(),
      "[popops::gather] sliceSizes has {} entries; the input has {} dimensions",
      sliceSizes.size(), inputShape.size());
  for (std::size_t d = 0; d < sliceSizes.size(); ++d) {
    requireUser<poplibs_error>(
        sliceSizes[d] <= inputShape[d],
        "[popops::gather] a slice of {} does not fit dimension {} of shape "
        "{{{}}}",
        sliceSizes[d], d, fmt::join(inputShape, ","));
  }
  for (const auto dim : startIndexMap) {
    requireUser<poplibs_error>(
        dim < inputShape.size(),
        "[popops::gather] startIndexMap names dimension {}; the input has {}",
        dim, inputShape.size());
  }
}

// The dimensions that starts are given for, and the extents of slices there.
struct Sliced {
  Shape dims;
  Shape sizes;
};
Sliced slicedDims(const Shape &sliceSizes,
                  const std::vector<unsigned> &startIndexMap) {
  Sliced sliced;
  for (const auto dim : startIndexMap) {
    sliced.dims.push_back(dim);
    sliced.sizes.push_back(sliceSizes[dim]);
  }
  return sliced;
}

} // namespace

Tensor createGatherInput(Graph &graph, const poplar::Type &type,
                         const Shape &operandShape, unsigned axis, GatherParams,
                         const DebugContext &debugContext) {
  return createSliceableTensor(graph, type, operandShape, {axis}, {1}, 0,
                               {debugContext, "gatherInput"});
}

Tensor gather(Graph &graph, const Tensor &input, const Tensor &indices,
              unsigned axis, Sequence &prog, GatherParams,
              const DebugContext &debugContext, const OptionFlags &options) {
  requireUser<poplibs_error>(
      axis < input.rank(),
      "[popops::gather] axis {} is not a dimension of shape {}", axis,
      input.shapeToString());
  // Rows first: [indices, 1, rest], then the indices go where the axis was.
  const auto rows =
      multiSlice(graph, input.dimRoll(axis), indices.flatten().expand({1}), {0},
                 {1}, prog, {}, options, {debugContext, "gather"})
          .squeeze({1});
  return rows.dimRoll(0, axis).reshapePartial(axis, axis + 1, indices.shape());
}

Tensor createGatherInput(Graph &graph, const poplar::Type &type,
                         const Shape &inputShape, const Shape &sliceSizes,
                         std::vector<unsigned> startIndexMap,
                         const DebugContext &debugContext) {
  checkSlices(inputShape, sliceSizes, startIndexMap);
  const auto [dims, sizes] = slicedDims(sliceSizes, startIndexMap);
  return createSliceableTensor(graph, type, inputShape, dims, sizes, 0,
                               {debugContext, "gatherInput"});
}

Tensor gather(Graph &graph, const Tensor &input, const Tensor &indices,
              std::size_t indexVectorDim, const Shape &offsetDims,
              const Shape &sliceSizes, const Shape &collapsedSliceDims,
              const std::vector<unsigned> &startIndexMap, Sequence &prog,
              const DebugContext &debugContext, const OptionFlags &options) {
  internal::parseSliceOptions(options);
  poputil::internal::requireCodelets(graph, "popops", "popops::MultiSlice");
  checkSlices(input.shape(), sliceSizes, startIndexMap);
  requireUser<poplibs_error>(!startIndexMap.empty(),
                             "[popops::gather] startIndexMap is empty; name a "
                             "dimension of the input");
  const auto vectors = internal::indexVectors("gather", indices, indexVectorDim,
                                              startIndexMap.size());
  // Dimensions without a start begin at 0.
  auto base = input;
  for (unsigned d = 0; d < input.rank(); ++d) {
    if (std::find(startIndexMap.begin(), startIndexMap.end(), d) ==
        startIndexMap.end()) {
      base = base.slice(0, sliceSizes[d], d);
    }
  }
  const auto [dims, sizes] = slicedDims(sliceSizes, startIndexMap);
  const kernels::Attributes attributes{
      {"dims", kernels::Attributes::Ints(dims.begin(), dims.end())},
      {"sizes", kernels::Attributes::Ints(sizes.begin(), sizes.end())},
      {"outOfRange", "clamp"},
      {"missing", "zero"}};
  auto slices = internal::emitSlices(graph, attributes, base.expand({0}),
                                     vectors.starts.expand({0}), {}, nullptr,
                                     prog, {debugContext, "gather"})[0];
  Shape collapsed;
  for (const auto dim : collapsedSliceDims) {
    requireUser<poplibs_error>(
        dim < sliceSizes.size() && sliceSizes[dim] == 1,
        "[popops::gather] dimension {} of the slices, {{{}}}, cannot be "
        "collapsed; only one of extent 1 can",
        dim, fmt::join(sliceSizes, ","));
    collapsed.push_back(dim + 1);
  }
  slices = slices.squeeze(collapsed);
  return internal::placeWindowDims("gather", slices, vectors.batch, offsetDims);
}

} // namespace popops
