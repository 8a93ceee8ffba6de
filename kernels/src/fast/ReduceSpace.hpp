// The index space of a reduction, in the order of the input's memory, and parts
// of it: what the tasks of "reduce" work on.
#pragma once

#include <kernels/KernelEntry.hpp>

#include <array>
#include <optional>
#include <span>

namespace kernels {

struct ReduceSpace {
  struct Dimension {
    std::int64_t extent;
    std::int64_t inStride;
    std::int64_t outStride; // of kept ones
    bool isReduced;
    std::int64_t totalStride = 0; // of kept ones, see results()
  };
  // After merging; a copy of a space must not allocate.
  static constexpr std::size_t maxRank = 12;

  // Outermost first, neighbours of one role merged, and at least one. Nothing
  // where there are too many.
  static std::optional<ReduceSpace> make(const Signature &signature);

  std::span<const Dimension> all() const { return {dimensions.data(), rank}; }
  const Dimension &inner() const { return dimensions[rank - 1]; }

  // The outermost dimension of a role that can be cut: of several items.
  std::optional<std::size_t> firstOf(bool isReduced) const;
  // Keeps items [begin, end) of a dimension.
  void cut(std::size_t dimension, ShardRange range);
  // The elements of the input, or of the output, that it touches.
  ShardRange touched(bool isInput) const;
  // Totals lie one after another, the innermost kept dimension's as neighbours.
  std::int64_t results() const;
  // Whether results lie in the output as the totals do.
  bool isDense() const;

  std::array<Dimension, maxRank> dimensions;
  std::size_t rank = 0;
  std::int64_t in = 0; // offsets of the first elements
  std::int64_t out = 0;

private:
  bool add(const Dimension &next);
  void placeTotals();
};

// Calls visit(in offset, out offset, offset among the totals) for every index
// of some of a space's dimensions.
template <typename Visit>
void walk(std::span<const ReduceSpace::Dimension> dimensions, std::int64_t in,
          std::int64_t out, std::int64_t total, const Visit &visit) {
  if (dimensions.empty()) {
    visit(in, out, total);
    return;
  }
  const auto &first = dimensions.front();
  for (std::int64_t i = 0; i < first.extent; ++i) {
    walk(dimensions.subspan(1), in + i * first.inStride,
         out + i * first.outStride, total + i * first.totalStride, visit);
  }
}

} // namespace kernels
