#include <poputil/Util.hpp>

#include <poplar/MetadataCreation.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>
#include <support/Half.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace poputil {

using poplar::DebugContext;
using poplar::Graph;
using poplar::Interval;
using poplar::Tensor;

void mergeAdjacentRegions(std::vector<Interval> &regions) {
  std::sort(regions.begin(), regions.end());
  std::vector<Interval> merged;
  for (const auto &region : regions) {
    if (region.size() == 0) {
      continue;
    }
    if (!merged.empty() && merged.back().end() == region.begin()) {
      merged.back() = {merged.back().begin(), region.end()};
    } else {
      merged.push_back(region);
    }
  }
  regions = std::move(merged);
}

void mergeAdjacentRegions(std::vector<std::vector<Interval>> &mapping) {
  for (auto &regions : mapping) {
    mergeAdjacentRegions(regions);
  }
}

std::vector<Interval>
flattenIntervals(const std::vector<std::vector<Interval>> &intervals) {
  std::vector<Interval> flat;
  for (const auto &list : intervals) {
    flat.insert(flat.end(), list.begin(), list.end());
  }
  return flat;
}

std::size_t intervalSequenceNumElements(
    const std::vector<std::vector<Interval>> &intervals) {
  std::size_t elements = 0;
  for (const auto &list : intervals) {
    for (const auto &interval : list) {
      elements += interval.size();
    }
  }
  return elements;
}

Tensor duplicate(Graph &graph, const Tensor &in, poplar::program::Sequence &p,
                 const poplar::DebugContext &debugContext,
                 poplar::TensorCloneMethod method) {
  const auto copy = graph.clone(in, debugContext, method);
  p.add(poplar::program::Copy(in, copy, false, debugContext));
  return copy;
}

Tensor cloneN(Graph &graph, const Tensor &t, unsigned N,
              const poplar::DebugContext &debugContext,
              poplar::TensorCloneMethod method) {
  return graph.cloneN(t, N, debugContext, method);
}

std::vector<int> balancedPartition(int rangeUpperBound, int splitCount) {
  support::requireUser<poplibs_error>(
      splitCount > 0 && rangeUpperBound >= 0,
      "[poputil::balancedPartition] a range of {} cannot be cut into {} parts",
      rangeUpperBound, splitCount);
  std::vector<int> sizes(static_cast<std::size_t>(splitCount),
                         rangeUpperBound / splitCount);
  std::for_each_n(sizes.begin(), rangeUpperBound % splitCount,
                  [](int &size) { ++size; });
  return sizes;
}

Tensor createConstantMetadataTensor(Graph &graph,
                                    poplar::QuarterMetadata::Format format,
                                    int scale,
                                    const DebugContext &debugContext) {
  return poplar::createConstantMetadataTensor(graph, format, scale,
                                              debugContext);
}

Tensor createVariableMetadataTensor(Graph &graph,
                                    poplar::QuarterMetadata::Format format,
                                    int scale,
                                    const DebugContext &debugContext) {
  return poplar::createVariableMetadataTensor(graph, format, scale,
                                              debugContext);
}

double castToDeviceHalfValue(const poplar::Target &, double input) {
  return support::roundToHalf(static_cast<float>(input));
}

bool checkAccuracyWhenCast(const poplar::Target &target, double input,
                           poplar::Type inputType, poplar::Type outputType,
                           double tolerance) {
  if (inputType != poplar::FLOAT || outputType != poplar::HALF) {
    return true; // nothing is lost
  }
  const double cast = castToDeviceHalfValue(target, input);
  return std::isfinite(cast) &&
         std::abs(cast - input) <= tolerance * std::abs(input);
}

Tensor factorDims(const Tensor &t, const std::vector<std::size_t> &factors,
                  unsigned startDim) {
  const auto count = static_cast<unsigned>(factors.size());
  support::requireUser<poplibs_error>(
      startDim + count <= t.rank(),
      "[poputil::factorDims] {} factors from dimension {} on; the tensor has "
      "rank {}",
      count, startDim, t.rank());
  std::vector<std::size_t> split;
  std::vector<unsigned> order(startDim);
  std::iota(order.begin(), order.end(), 0U);
  for (unsigned i = 0; i < count; ++i) {
    const auto extent = t.dim(startDim + i);
    support::requireUser<poplibs_error>(
        factors[i] != 0 && extent % factors[i] == 0,
        "[poputil::factorDims] {} is no factor of dimension {}, which has {} "
        "elements",
        factors[i], startDim + i, extent);
    split.push_back(extent / factors[i]);
    split.push_back(factors[i]);
    order.push_back(startDim + 2 * i);
  }
  for (unsigned i = 0; i < count; ++i) {
    order.push_back(startDim + 2 * i + 1);
  }
  for (unsigned d = startDim + count; d < t.rank(); ++d) {
    order.push_back(d + count);
  }
  return t.reshapePartial(startDim, startDim + count, split).dimShuffle(order);
}

Tensor unfactorDims(const Tensor &t, unsigned numDims, unsigned startDim) {
  support::requireUser<poplibs_error>(
      startDim + 2 * numDims <= t.rank(),
      "[poputil::unfactorDims] {} factored dimensions from dimension {} on; "
      "the tensor has rank {}",
      numDims, startDim, t.rank());
  std::vector<unsigned> order(t.rank());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<std::size_t> joined;
  for (unsigned i = 0; i < numDims; ++i) {
    order[startDim + 2 * i] = startDim + i;
    order[startDim + 2 * i + 1] = startDim + numDims + i;
    joined.push_back(t.dim(startDim + i) * t.dim(startDim + numDims + i));
  }
  return t.dimShuffle(order).reshapePartial(startDim, startDim + 2 * numDims,
                                            joined);
}

std::vector<Interval>
calculateUnshufflingIntervals(const std::vector<Interval> &intervals) {
  std::vector<std::size_t> places(intervals.size());
  for (std::size_t i = 1; i < intervals.size(); ++i) {
    places[i] = places[i - 1] + intervals[i - 1].size();
  }
  std::vector<std::size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return intervals[a] < intervals[b];
  });
  std::vector<Interval> result;
  for (const auto i : order) {
    result.emplace_back(places[i], places[i] + intervals[i].size());
  }
  return result;
}

} // namespace poputil
