// Tensors that slices are taken of, put into and addressed by.
#include <popops/DynamicSlice.hpp>
#include <popops/internal/SliceMapping.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace popops {

using internal::EmbeddingPlan;
using internal::RowSpread;
using internal::SlicePlanAccess;
using kernels::cost::ceilDiv;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poputil::poplibs_error;
using Shape = std::vector<std::size_t>;

namespace {

void checkDims(std::string_view function, const Shape &shape, const Shape &dims,
               const Shape &sizes) {
  support::requireUser<poplibs_error>(
      dims.size() == sizes.size(),
      "[popops::{}] dims has {} entries and sizes {}; there must be one size "
      "for each dimension",
      function, dims.size(), sizes.size());
  for (std::size_t j = 0; j < dims.size(); ++j) {
    support::requireUser<poplibs_error>(
        dims[j] < shape.size(),
        "[popops::{}] dimension {} is not one of shape {{{}}}", function,
        dims[j], fmt::join(shape, ","));
    support::requireUser<poplibs_error>(
        std::count(dims.begin(), dims.end(), dims[j]) == 1,
        "[popops::{}] dimension {} is given twice", function, dims[j]);
    support::requireUser<poplibs_error>(
        sizes[j] <= shape[dims[j]],
        "[popops::{}] a slice of {} does not fit dimension {} of shape {{{}}}",
        function, sizes[j], dims[j], fmt::join(shape, ","));
  }
}

Shape joined(Shape first, const Shape &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Shape sliceShape(Shape shape, const Shape &dims, const Shape &sizes) {
  for (std::size_t j = 0; j < dims.size(); ++j) {
    shape[dims[j]] = sizes[j];
  }
  return shape;
}

// Mixes what a sliceable tensor is made from into its first tile.
std::size_t seedOf(const Shape &shape, const Shape &dims, const Shape &sizes) {
  return poputil::chooseMappingOffset(std::numeric_limits<std::size_t>::max(),
                                      joined(joined(shape, dims), sizes));
}

Tensor addMapped(Graph &graph, const poplar::Type &type, const Shape &shape,
                 const RowSpread &spread, std::size_t seed,
                 const DebugContext &debugContext) {
  const auto variable = graph.addVariable(type, shape, debugContext);
  internal::mapRows(graph, variable, spread, seed);
  return variable;
}

kernels::TensorType typeOf(const poplar::Type &type, const Shape &shape) {
  return {poplar::internal::toDataType(type), {shape.begin(), shape.end()}};
}

// Dimensions moved on by one, for the groups.
Shape behindGroups(Shape dims) {
  for (auto &dim : dims) {
    ++dim;
  }
  return dims;
}

// What each tile of a plan has of the rows.
RowSpread plannedSpread(const EmbeddingPlan &plan, std::uint64_t rows,
                        std::uint64_t rowElements, std::uint64_t blocks) {
  RowSpread spread;
  spread.rows = std::max<std::uint64_t>(rows, 1);
  spread.rowElements = std::max<std::uint64_t>(rowElements, 1);
  spread.grain = plan.elementsPerTile();
  spread.parts = plan.elementSplit;
  spread.rowsPerBlock = ceilDiv(spread.rows, std::min(blocks, spread.rows));
  return spread;
}

// Plans are for rows of a table.
void checkPlanned(std::string_view function, const EmbeddingPlan &plan,
                  const Shape &shape, const Shape &dims, const Shape &sizes) {
  support::requireUser<poplibs_error>(
      dims.size() == 1 && sizes.front() == 1 && shape.size() == 2,
      "[popops::{}] a plan is for single rows of a table of 2 dimensions; "
      "given shape {{{}}}, dims {{{}}} and sizes {{{}}}",
      function, fmt::join(shape, ","), fmt::join(dims, ","),
      fmt::join(sizes, ","));
  support::requireUser<poplibs_error>(
      shape[dims.front()] == plan.work.entries &&
          shape[1 - dims.front()] == plan.work.rowElements,
      "[popops::{}] the plan is for {} entries of {} elements; given shape "
      "{{{}}} sliced along dimension {}",
      function, plan.work.entries, plan.work.rowElements, fmt::join(shape, ","),
      dims.front());
}

Tensor createSliceable(std::string_view function, Graph &graph,
                       const poplar::Type &type, std::size_t groups,
                       const Shape &shape, const Shape &dims,
                       const Shape &sizes, const SlicePlan &plan,
                       const OptionFlags &options,
                       const DebugContext &debugContext) {
  internal::parseSliceOptions(options);
  checkDims(function, shape, dims, sizes);
  const auto whole = joined({groups}, shape);
  const auto *planned = SlicePlanAccess::get(plan);
  const auto name = DebugContext(debugContext, "sliceable");
  const auto seed = seedOf(shape, dims, sizes);
  if (planned == nullptr || dims.empty()) {
    const auto all = dims.empty() ? Shape{0} : behindGroups(dims);
    return addMapped(
        graph, type, whole,
        internal::spreadForSlices(graph, typeOf(type, whole), all, 0), seed,
        name);
  }
  checkPlanned(function, *planned, shape, dims, sizes);
  if (dims.front() != 0) { // rows are the second dimension: as a transpose
    return createSliceable(function, graph, type, groups, {shape[1], shape[0]},
                           {0}, {1}, plan, options, debugContext)
        .dimShuffle({0, 2, 1});
  }
  return addMapped(graph, type, whole,
                   plannedSpread(*planned, groups * planned->work.entries,
                                 planned->work.rowElements,
                                 planned->groupSplit * planned->entrySplit),
                   seed, name);
}

Tensor createSlices(std::string_view function, Graph &graph,
                    const poplar::Type &type, std::size_t groups,
                    const Shape &shape, const Shape &dims, const Shape &sizes,
                    std::size_t numIndices, const SlicePlan &plan,
                    const OptionFlags &options,
                    const DebugContext &debugContext) {
  internal::parseSliceOptions(options);
  checkDims(function, shape, dims, sizes);
  const auto whole =
      joined({groups, numIndices}, sliceShape(shape, dims, sizes));
  const auto name = DebugContext(debugContext, "slice");
  const auto seed = seedOf(shape, dims, sizes);
  if (const auto *planned = SlicePlanAccess::get(plan)) {
    checkPlanned(function, *planned, shape, dims, sizes);
    return addMapped(graph, type, whole,
                     plannedSpread(*planned, groups * numIndices,
                                   planned->work.rowElements,
                                   planned->groupSplit * planned->entrySplit *
                                       planned->lookupSplit),
                     seed, name);
  }
  return addMapped(
      graph, type, whole,
      internal::spreadForSlices(graph, typeOf(type, whole), {1}, 0), seed,
      name);
}

} // namespace

Tensor createSliceableTensor(Graph &graph, const poplar::Type &type,
                             const Shape &shape, const Shape &dims,
                             const Shape &sizes, std::size_t minGrainSize,
                             const DebugContext &debugContext) {
  checkDims("createSliceableTensor", shape, dims, sizes);
  const auto variable =
      graph.addVariable(type, shape, {debugContext, "sliceable"});
  if (dims.empty()) {
    poputil::mapTensorLinearly(graph, variable);
    return variable;
  }
  internal::mapRows(
      graph, variable,
      internal::spreadForSlices(graph, typeOf(type, shape), dims, minGrainSize),
      seedOf(shape, dims, sizes));
  return variable;
}

Tensor createSliceableTensor(Graph &graph, const poplar::Type &type,
                             const Shape &shape, const Shape &dims,
                             const Shape &sizes, const SlicePlan &plan,
                             const OptionFlags &options,
                             const DebugContext &debugContext) {
  return createSliceable("createSliceableTensor", graph, type, 1, shape, dims,
                         sizes, plan, options, debugContext)[0];
}

Tensor createGroupedSliceableTensor(Graph &graph, const poplar::Type &type,
                                    std::size_t groupSize, const Shape &shape,
                                    const Shape &dims, const Shape &sizes,
                                    const SlicePlan &plan,
                                    const OptionFlags &options,
                                    const DebugContext &debugContext) {
  return createSliceable("createGroupedSliceableTensor", graph, type, groupSize,
                         shape, dims, sizes, plan, options, debugContext);
}

Tensor createSliceTensor(Graph &graph, const Tensor &t, const Shape &dims,
                         const Shape &sizes, std::size_t numIndices,
                         const DebugContext &debugContext) {
  return createSlices("createSliceTensor", graph, t.elementType(), 1, t.shape(),
                      dims, sizes, numIndices, {}, {}, debugContext)[0];
}

Tensor createSliceTensor(Graph &graph, const poplar::Type &type,
                         const Shape &shape, const Shape &dims,
                         const Shape &sizes, std::size_t numIndices,
                         const SlicePlan &plan, const OptionFlags &options,
                         const DebugContext &debugContext) {
  return createSlices("createSliceTensor", graph, type, 1, shape, dims, sizes,
                      numIndices, plan, options, debugContext)[0];
}

Tensor createGroupedSliceTensor(Graph &graph, const poplar::Type &type,
                                std::size_t groupSize, const Shape &shape,
                                const Shape &dims, const Shape &sizes,
                                std::size_t numIndices, const SlicePlan &plan,
                                const OptionFlags &options,
                                const DebugContext &debugContext) {
  return createSlices("createGroupedSliceTensor", graph, type, groupSize, shape,
                      dims, sizes, numIndices, plan, options, debugContext);
}

Tensor createIndicesTensor(Graph &graph, const Shape &dims,
                           std::size_t numIndices, const SlicePlan &plan,
                           const OptionFlags &options,
                           const DebugContext &debugContext) {
  return createGroupedIndicesTensor(graph, 1, dims, numIndices, plan, options,
                                    debugContext)[0];
}

Tensor createGroupedIndicesTensor(Graph &graph, std::size_t groupSize,
                                  const Shape &dims, std::size_t numIndices,
                                  const SlicePlan &, const OptionFlags &options,
                                  const DebugContext &debugContext) {
  internal::parseSliceOptions(options);
  const auto indices = graph.addVariable(poplar::UNSIGNED_INT,
                                         {groupSize, numIndices, dims.size()},
                                         {debugContext, "indices"});
  poputil::mapTensorLinearly(graph, indices);
  return indices;
}

Tensor createSliceableTensorFromSlice(Graph &graph, const Tensor &s,
                                      const Shape &dims, const Shape &numSlices,
                                      const DebugContext &debugContext) {
  support::requireUser<poplibs_error>(
      dims.size() == numSlices.size(),
      "[popops::createSliceableTensorFromSlice] dims has {} entries and "
      "numSlices {}; there must be one number for each dimension",
      dims.size(), numSlices.size());
  auto shape = s.shape();
  Shape sizes;
  for (std::size_t j = 0; j < dims.size(); ++j) {
    support::requireUser<poplibs_error>(
        dims[j] < shape.size(),
        "[popops::createSliceableTensorFromSlice] dimension {} is not one of "
        "shape {}",
        dims[j], s.shapeToString());
    sizes.push_back(shape[dims[j]]);
    shape[dims[j]] *= numSlices[j];
  }
  return createSliceableTensor(graph, s.elementType(), shape, dims, sizes, 0,
                               debugContext);
}

Tensor createDynamicSliceOutput(Graph &graph, const Tensor &t, const Tensor &,
                                const Shape &dims, const Shape &sizes,
                                const DebugContext &debugContext,
                                const OptionFlags &options) {
  internal::parseSliceOptions(options);
  checkDims("createDynamicSliceOutput", t.shape(), dims, sizes);
  return internal::addSliceVariable(graph, t, dims, sizes,
                                    {debugContext, "slice"});
}

Graph::TileToTensorMapping getSliceMapping(Graph &graph, const Tensor &t,
                                           const Shape &dims,
                                           const Shape &sizes) {
  checkDims("getSliceMapping", t.shape(), dims, sizes);
  return graph.getTileMapping(internal::firstSlice(t, dims, sizes));
}

} // namespace popops
