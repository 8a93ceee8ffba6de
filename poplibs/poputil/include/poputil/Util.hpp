// Small helpers of programs that place work on tiles: lists of intervals, their
// division into equal parts, clones, and views with factored dimensions.
#pragma once

#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Interval.hpp>
#include <poplar/Program.hpp>
#include <poplar/Quarter.hpp>
#include <poplar/Target.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/TensorCloneMethod.hpp>
#include <poplar/Type.hpp>
#include <poputil/VarStructure.hpp>

#include <climits>
#include <cstddef>
#include <vector>

namespace poputil {

// Sorts the regions, joins those that touch and drops empty ones; the second
// form does so in each list.
void mergeAdjacentRegions(std::vector<poplar::Interval> &regions);
void mergeAdjacentRegions(std::vector<std::vector<poplar::Interval>> &mapping);

// All intervals in one list, in their order.
std::vector<poplar::Interval>
flattenIntervals(const std::vector<std::vector<poplar::Interval>> &intervals);

std::size_t intervalSequenceNumElements(
    const std::vector<std::vector<poplar::Interval>> &intervals);

// Divides the elements, in their order, into at most maxPartitions parts of
// equal numbers of whole grains, each of at least minElementsPerPartition and
// at most maxElementsPerPartition elements. No region of a part is longer than
// maxElementsPerRegion.
std::vector<std::vector<poplar::Interval>>
splitRegions(const std::vector<poplar::Interval> &regions, unsigned grainSize,
             unsigned maxPartitions, unsigned minElementsPerPartition = 0,
             unsigned maxElementsPerPartition = UINT_MAX,
             unsigned maxElementsPerRegion = UINT_MAX);
// The same for sequences of intervals: each part lists (pieces of) sequences.
std::vector<std::vector<std::vector<poplar::Interval>>>
splitRegions(const std::vector<std::vector<poplar::Interval>> &regions,
             unsigned grainSize, unsigned maxPartitions,
             unsigned minElementsPerPartition = 0,
             unsigned maxElementsPerPartition = UINT_MAX,
             unsigned maxElementsPerRegion = UINT_MAX);

// One part at most for each worker of a tile.
std::vector<std::vector<poplar::Interval>> splitRegionsBetweenWorkers(
    const poplar::Target &target, const std::vector<poplar::Interval> &regions,
    unsigned grainSize, unsigned minElementsPerPartition = 0,
    unsigned maxElementsPerPartition = UINT_MAX,
    unsigned maxElementsPerRegion = UINT_MAX);
std::vector<std::vector<std::vector<poplar::Interval>>>
splitRegionsBetweenWorkers(
    const poplar::Target &target,
    const std::vector<std::vector<poplar::Interval>> &regions,
    unsigned grainSize, unsigned minElementsPerPartition = 0,
    unsigned maxElementsPerPartition = UINT_MAX,
    unsigned maxElementsPerRegion = UINT_MAX);

// The indices of an element of a row-major array, and back.
template <typename T>
std::vector<T> unflattenIndex(const std::vector<T> &shape, std::size_t index) {
  std::vector<T> indices(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    indices[d] = static_cast<T>(index % static_cast<std::size_t>(shape[d]));
    index /= static_cast<std::size_t>(shape[d]);
  }
  return indices;
}
template <typename T>
std::size_t flattenIndex(const std::vector<T> &shape,
                         const std::vector<T> &indices) {
  std::size_t index = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    index = index * static_cast<std::size_t>(shape[d]) +
            static_cast<std::size_t>(indices[d]);
  }
  return index;
}

// A clone with the same values.
poplar::Tensor
duplicate(poplar::Graph &graph, const poplar::Tensor &in,
          poplar::program::Sequence &p,
          const poplar::DebugContext &debugContext = {},
          poplar::TensorCloneMethod method =
              poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES);

// N clones along a new outermost dimension.
poplar::Tensor
cloneN(poplar::Graph &graph, const poplar::Tensor &t, unsigned N,
       const poplar::DebugContext &debugContext = {},
       poplar::TensorCloneMethod method =
           poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES);

// The sizes of `splitCount` parts of a range, which differ by one at most, the
// larger ones first.
std::vector<int> balancedPartition(int rangeUpperBound, int splitCount);

// A number as it comes back from being stored as HALF.
double castToDeviceHalfValue(const poplar::Target &target, double input);
// Whether `input`, a number of inputType, changes by no more than `tolerance`
// of itself when it is stored as outputType.
bool checkAccuracyWhenCast(const poplar::Target &target, double input,
                           poplar::Type inputType, poplar::Type outputType,
                           double tolerance);

// As poplar's functions of these names (poplar/MetadataCreation.hpp).
poplar::Tensor
createConstantMetadataTensor(poplar::Graph &graph,
                             poplar::QuarterMetadata::Format format, int scale,
                             const poplar::DebugContext &debugContext = {});
poplar::Tensor
createVariableMetadataTensor(poplar::Graph &graph,
                             poplar::QuarterMetadata::Format format, int scale,
                             const poplar::DebugContext &debugContext = {});

// From dimension startDim on, splits one dimension for each factor: {a, b}
// with factors {f, g} becomes {a/f, b/g, f, g}.
poplar::Tensor factorDims(const poplar::Tensor &t,
                          const std::vector<std::size_t> &factors,
                          unsigned startDim = 0);
// Takes back what factorDims() did with numDims factors.
poplar::Tensor unfactorDims(const poplar::Tensor &t, unsigned numDims,
                            unsigned startDim = 0);

// Where the elements of [0, n) are in the concatenation of these intervals,
// which cover it: slicing that with the result restores the order.
std::vector<poplar::Interval>
calculateUnshufflingIntervals(const std::vector<poplar::Interval> &intervals);

} // namespace poputil
