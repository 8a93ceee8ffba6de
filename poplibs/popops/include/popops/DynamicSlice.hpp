// Slices and updates of tensors at offsets that only the run knows: one at a
// time (dynamicSlice), many rows at a time (multiSlice), and the tensors whose
// mapping suits them.
#pragma once

#include <poplar/ArrayRef.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>
#include <memory>
#include <ostream>
#include <vector>

namespace popops {

namespace internal {
struct EmbeddingPlan;
struct SlicePlanAccess;
} // namespace internal

// How lookups are spread over tiles: made by embedding::plan. A default one
// means that there is no plan, and is taken everywhere.
class SlicePlan {
public:
  SlicePlan() = default;

  friend bool operator<(const SlicePlan &a, const SlicePlan &b);
  friend bool operator==(const SlicePlan &a, const SlicePlan &b);
  friend bool operator!=(const SlicePlan &a, const SlicePlan &b) {
    return !(a == b);
  }
  friend std::ostream &operator<<(std::ostream &stream, const SlicePlan &plan);

private:
  friend struct internal::SlicePlanAccess;
  std::shared_ptr<const internal::EmbeddingPlan> data_;
};
bool operator<(const SlicePlan &a, const SlicePlan &b);
bool operator==(const SlicePlan &a, const SlicePlan &b);
std::ostream &operator<<(std::ostream &stream, const SlicePlan &plan);

// A tensor of which slices of `sizes` along `dims` will be taken: each slice is
// spread evenly over tiles, in grains of at least `minGrainSize` elements.
poplar::Tensor createSliceableTensor(
    poplar::Graph &graph, const poplar::Type &type,
    const std::vector<std::size_t> &shape, const std::vector<std::size_t> &dims,
    const std::vector<std::size_t> &sizes, std::size_t minGrainSize = 0,
    const poplar::DebugContext &debugContext = {});
poplar::Tensor
createSliceableTensor(poplar::Graph &graph, const poplar::Type &type,
                      const std::vector<std::size_t> &shape,
                      const std::vector<std::size_t> &dims,
                      const std::vector<std::size_t> &sizes,
                      const SlicePlan &plan, const poplar::OptionFlags &options,
                      const poplar::DebugContext &debugContext = {});
// With a leading dimension of groups, which `shape` and `dims` leave out.
poplar::Tensor createGroupedSliceableTensor(
    poplar::Graph &graph, const poplar::Type &type, std::size_t groupSize,
    const std::vector<std::size_t> &shape, const std::vector<std::size_t> &dims,
    const std::vector<std::size_t> &sizes, const SlicePlan &plan,
    const poplar::OptionFlags &options,
    const poplar::DebugContext &debugContext = {});

// A tensor for `numIndices` slices: [numIndices, slice].
poplar::Tensor createSliceTensor(poplar::Graph &graph, const poplar::Tensor &t,
                                 const std::vector<std::size_t> &dims,
                                 const std::vector<std::size_t> &sizes,
                                 std::size_t numIndices,
                                 const poplar::DebugContext &debugContext = {});
poplar::Tensor createSliceTensor(poplar::Graph &graph, const poplar::Type &type,
                                 const std::vector<std::size_t> &shape,
                                 const std::vector<std::size_t> &dims,
                                 const std::vector<std::size_t> &sizes,
                                 std::size_t numIndices, const SlicePlan &plan,
                                 const poplar::OptionFlags &options,
                                 const poplar::DebugContext &debugContext = {});
poplar::Tensor createGroupedSliceTensor(
    poplar::Graph &graph, const poplar::Type &type, std::size_t groupSize,
    const std::vector<std::size_t> &shape, const std::vector<std::size_t> &dims,
    const std::vector<std::size_t> &sizes, std::size_t numIndices,
    const SlicePlan &plan, const poplar::OptionFlags &options,
    const poplar::DebugContext &debugContext = {});

// UNSIGNED_INT [numIndices, dims], or [groupSize, numIndices, dims].
poplar::Tensor
createIndicesTensor(poplar::Graph &graph, const std::vector<std::size_t> &dims,
                    std::size_t numIndices, const SlicePlan &plan,
                    const poplar::OptionFlags &options,
                    const poplar::DebugContext &debugContext = {});
poplar::Tensor
createGroupedIndicesTensor(poplar::Graph &graph, std::size_t groupSize,
                           const std::vector<std::size_t> &dims,
                           std::size_t numIndices, const SlicePlan &plan,
                           const poplar::OptionFlags &options,
                           const poplar::DebugContext &debugContext = {});

// A tensor of numSlices[i] slices like `s` along each of the dimensions.
poplar::Tensor
createSliceableTensorFromSlice(poplar::Graph &graph, const poplar::Tensor &s,
                               const std::vector<std::size_t> &dims,
                               const std::vector<std::size_t> &numSlices,
                               const poplar::DebugContext &debugContext = {});

poplar::Tensor createDynamicSliceOutput(
    poplar::Graph &graph, const poplar::Tensor &t, const poplar::Tensor &offset,
    const std::vector<std::size_t> &dims, const std::vector<std::size_t> &sizes,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});

// The tile mapping of a slice of `t` along these dimensions.
poplar::Graph::TileToTensorMapping
getSliceMapping(poplar::Graph &graph, const poplar::Tensor &t,
                const std::vector<std::size_t> &dims,
                const std::vector<std::size_t> &sizes);

// One slice: `offset` has an UNSIGNED_INT for each of `dims`. A slice that runs
// past the end goes on at the front; an offset outside the dimension leaves the
// result undefined (zeros, here) or, with the option remapOutOfBoundIndices,
// counts as 0.
poplar::Tensor dynamicSlice(poplar::Graph &graph, const poplar::Tensor &t,
                            const poplar::Tensor &offset,
                            const std::vector<std::size_t> &dims,
                            const std::vector<std::size_t> &sizes,
                            poplar::program::Sequence &prog,
                            const poplar::DebugContext &debugContext = {},
                            const poplar::OptionFlags &options = {});
void dynamicSliceWithOutput(poplar::Graph &graph, const poplar::Tensor &output,
                            const poplar::Tensor &t,
                            const poplar::Tensor &offset,
                            const std::vector<std::size_t> &dims,
                            const std::vector<std::size_t> &sizes,
                            poplar::program::Sequence &prog,
                            const poplar::DebugContext &debugContext = {},
                            const poplar::OptionFlags &options = {});
// Writes `s` over the slice of `t`.
void dynamicUpdate(poplar::Graph &graph, const poplar::Tensor &t,
                   const poplar::Tensor &s, const poplar::Tensor &offset,
                   const std::vector<std::size_t> &dims,
                   const std::vector<std::size_t> &sizes,
                   poplar::program::Sequence &prog,
                   const poplar::DebugContext &debugContext = {},
                   const poplar::OptionFlags &options = {});

// Many slices: `offsets` is [n, dims] and the result [n, slice]. Rows whose
// index is out of range are undefined (zeros, here).
poplar::Tensor multiSlice(poplar::Graph &graph, const poplar::Tensor &t,
                          const poplar::Tensor &offsets,
                          const std::vector<std::size_t> &dims,
                          const std::vector<std::size_t> &sizes,
                          poplar::program::Sequence &prog,
                          const SlicePlan &plan,
                          const poplar::OptionFlags &options,
                          const poplar::DebugContext &debugContext = {});
poplar::Tensor groupedMultiSlice(poplar::Graph &graph, const poplar::Tensor &t,
                                 const poplar::Tensor &offsets,
                                 const std::vector<std::size_t> &dims,
                                 const std::vector<std::size_t> &sizes,
                                 poplar::program::Sequence &prog,
                                 const SlicePlan &plan,
                                 const poplar::OptionFlags &options,
                                 const poplar::DebugContext &debugContext = {});
// Entries of dimension `dim` known now; the result has as many there.
poplar::Tensor multiSlice(poplar::Graph &graph, const poplar::Tensor &t,
                          poplar::ArrayRef<unsigned> offsets, std::size_t dim,
                          poplar::program::Sequence &prog,
                          const poplar::DebugContext &debugContext = {},
                          const poplar::OptionFlags &options = {});

// The updates of many slices, in their order; those out of range are left out.
#define POPOPS_MULTI_UPDATE(name)                                              \
  void name(                                                                   \
      poplar::Graph &graph, const poplar::Tensor &t, const poplar::Tensor &s,  \
      const poplar::Tensor &offsets, const std::vector<std::size_t> &dims,     \
      const std::vector<std::size_t> &sizes, poplar::program::Sequence &prog,  \
      const SlicePlan &plan, const poplar::OptionFlags &options,               \
      const poplar::DebugContext &debugContext = {})
POPOPS_MULTI_UPDATE(multiUpdate);
POPOPS_MULTI_UPDATE(groupedMultiUpdate);
POPOPS_MULTI_UPDATE(multiUpdateMax);
POPOPS_MULTI_UPDATE(groupedMultiUpdateMax);
POPOPS_MULTI_UPDATE(multiUpdateMul);
POPOPS_MULTI_UPDATE(groupedMultiUpdateMul);
#undef POPOPS_MULTI_UPDATE

// t += scale * s; `scale` is one element of t's type, or FLOAT for HALF.
void multiUpdateAdd(poplar::Graph &graph, const poplar::Tensor &t,
                    const poplar::Tensor &s, const poplar::Tensor &offsets,
                    const poplar::Tensor &scale,
                    const std::vector<std::size_t> &dims,
                    const std::vector<std::size_t> &sizes,
                    poplar::program::Sequence &prog, const SlicePlan &plan,
                    const poplar::OptionFlags &options,
                    const poplar::DebugContext &debugContext = {});
void groupedMultiUpdateAdd(
    poplar::Graph &graph, const poplar::Tensor &t, const poplar::Tensor &s,
    const poplar::Tensor &offsets, const poplar::Tensor &scale,
    const std::vector<std::size_t> &dims, const std::vector<std::size_t> &sizes,
    poplar::program::Sequence &prog, const SlicePlan &plan,
    const poplar::OptionFlags &options,
    const poplar::DebugContext &debugContext = {});
// Entries of dimension `dim` known now; `s` has as many there.
void multiUpdateAdd(poplar::Graph &graph, const poplar::Tensor &t,
                    const poplar::Tensor &s, poplar::ArrayRef<unsigned> offsets,
                    const poplar::Tensor &scale, std::size_t dim,
                    poplar::program::Sequence &prog,
                    const poplar::DebugContext &debugContext = {},
                    const poplar::OptionFlags &options = {});

namespace embedding {

// A plan for lookups of rows of `outputSize` elements in a table of
// `numEntries`; `numLookups` says how many indices there will be at a time.
SlicePlan plan(const poplar::Graph &graph, const poplar::Type &dataType,
               std::size_t numEntries, std::size_t outputSize,
               const std::vector<std::size_t> &numLookups,
               const poplar::OptionFlags &options);
SlicePlan plan(const poplar::Graph &graph, const poplar::Type &dataType,
               std::size_t groupSize, std::size_t numEntries,
               std::size_t outputSize,
               const std::vector<std::size_t> &numLookups,
               const poplar::OptionFlags &options);

struct SlicePlanningParameters {
  SlicePlanningParameters(const poplar::Graph &graph,
                          const poplar::Type &dataType, std::size_t groupSize,
                          std::size_t numEntries, std::size_t outputSize,
                          const std::vector<std::size_t> &numLookups,
                          const poplar::OptionFlags &optionFlags)
      : graph(graph), dataType(dataType), groupSize(groupSize),
        numEntries(numEntries), outputSize(outputSize), numLookups(numLookups),
        optionFlags(optionFlags) {}

  const poplar::Graph &graph;
  poplar::Type dataType;
  std::size_t groupSize = 1;
  std::size_t numEntries;
  std::size_t outputSize;
  std::vector<std::size_t> numLookups;
  poplar::OptionFlags optionFlags;
};

std::vector<SlicePlan>
planMultiple(const std::vector<SlicePlanningParameters> &parameters);

} // namespace embedding

} // namespace popops
