#include "ReduceSpace.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace kernels {

std::optional<ReduceSpace> ReduceSpace::make(const Signature &signature) {
  const auto &x = signature.inputs[0];
  const auto &dims = signature.attributes.getInts("dims");
  std::vector<Dimension> sorted;
  for (std::size_t d = 0, kept = 0; d < x.shape.size(); ++d) {
    const bool isReduced =
        std::find(dims.begin(), dims.end(), std::int64_t(d)) != dims.end();
    const std::int64_t outStride =
        isReduced ? 0 : signature.outputs[0].strides[kept++];
    if (x.shape[d] != 1) {
      sorted.push_back({x.shape[d], x.strides[d], outStride, isReduced});
    }
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto &a, const auto &b) {
                     return std::abs(a.inStride) > std::abs(b.inStride);
                   });
  ReduceSpace space;
  for (const auto &next : sorted) {
    if (!space.add(next)) {
      return std::nullopt;
    }
  }
  if (space.rank == 0) { // one element: a reduction over one
    space.add({1, 1, 0, true});
  }
  space.placeTotals();
  return space;
}

bool ReduceSpace::add(const Dimension &next) {
  if (rank > 0) {
    auto &last = dimensions[rank - 1];
    if (last.isReduced == next.isReduced &&
        last.inStride == next.inStride * next.extent &&
        last.outStride == next.outStride * next.extent) {
      const auto extent = last.extent * next.extent;
      last = next;
      last.extent = extent;
      return true;
    }
  }
  if (rank == maxRank) {
    return false;
  }
  dimensions[rank++] = next;
  return true;
}

void ReduceSpace::placeTotals() {
  std::int64_t stride = 1;
  for (std::size_t d = rank; d-- > 0;) {
    if (!dimensions[d].isReduced) {
      dimensions[d].totalStride = stride;
      stride *= dimensions[d].extent;
    }
  }
}

std::optional<std::size_t> ReduceSpace::firstOf(bool isReduced) const {
  for (std::size_t d = 0; d < rank; ++d) {
    if (dimensions[d].isReduced == isReduced && dimensions[d].extent > 1) {
      return d;
    }
  }
  return std::nullopt;
}

void ReduceSpace::cut(std::size_t dimension, ShardRange range) {
  auto &item = dimensions[dimension];
  in += range.begin * item.inStride;
  out += range.begin * item.outStride;
  item.extent = range.end - range.begin;
  placeTotals();
}

ShardRange ReduceSpace::touched(bool isInput) const {
  std::int64_t low = isInput ? in : out;
  std::int64_t high = low;
  for (const auto &d : all()) {
    const auto last = (d.extent - 1) * (isInput ? d.inStride : d.outStride);
    low += std::min<std::int64_t>(last, 0);
    high += std::max<std::int64_t>(last, 0);
  }
  return {low, high + 1};
}

std::int64_t ReduceSpace::results() const {
  std::int64_t count = 1;
  for (const auto &dimension : all()) {
    count *= dimension.isReduced ? 1 : dimension.extent;
  }
  return count;
}

bool ReduceSpace::isDense() const {
  return std::all_of(all().begin(), all().end(), [](const auto &dimension) {
    return dimension.isReduced || dimension.outStride == dimension.totalStride;
  });
}

} // namespace kernels
