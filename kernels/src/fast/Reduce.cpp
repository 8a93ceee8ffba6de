// "reduce" over any strides. Dimensions are ordered by the input's memory and
// merged; the innermost one is either reduced (rows) or kept (columns). Shards
// cut the outermost kept dimension, or the columns, or, where few results are
// made of many elements, what is reduced: partial results then meet in a second
// stage, in the order of the shards.
#include "FastKernels.hpp"
#include "LaneKernels.hpp"
#include "PlanHelpers.hpp"

#include "loops/Loops.hpp"

#include <algorithm>
#include <limits>

namespace kernels {

namespace {

struct Dimension {
  std::int64_t extent;
  std::int64_t inStride;
  std::int64_t outStride; // of kept ones
  bool isReduced;
};

// Outermost first by the input's strides; neighbours of one role merged.
std::vector<Dimension> makeDimensions(const Signature &signature) {
  const auto &x = signature.inputs[0];
  const auto &dims = signature.attributes.getInts("dims");
  std::vector<Dimension> all;
  for (std::size_t d = 0, kept = 0; d < x.shape.size(); ++d) {
    const bool isReduced =
        std::find(dims.begin(), dims.end(), std::int64_t(d)) != dims.end();
    const std::int64_t outStride =
        isReduced ? 0 : signature.outputs[0].strides[kept++];
    if (x.shape[d] != 1) {
      all.push_back({x.shape[d], x.strides[d], outStride, isReduced});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
    return std::abs(a.inStride) > std::abs(b.inStride);
  });
  std::vector<Dimension> merged;
  for (const auto &next : all) {
    if (!merged.empty()) {
      auto &last = merged.back();
      if (last.isReduced == next.isReduced &&
          last.inStride == next.inStride * next.extent &&
          last.outStride == next.outStride * next.extent) {
        last = {last.extent * next.extent, next.inStride, next.outStride,
                next.isReduced};
        continue;
      }
    }
    merged.push_back(next);
  }
  return merged;
}

ReduceOp parseOp(std::string_view name) {
  constexpr std::string_view names[] = {
      "ADD", "SQUARE_ADD",  "MUL",        "MIN",
      "MAX", "LOGICAL_AND", "LOGICAL_OR", "LOG_ADD"};
  return static_cast<ReduceOp>(
      std::find(std::begin(names), std::end(names), name) - std::begin(names));
}

// The total of nothing.
template <typename Total> Total startOf(ReduceOp op) {
  using Limits = std::numeric_limits<Total>;
  const auto highest =
      Limits::has_infinity ? Limits::infinity() : Limits::max();
  const auto lowest =
      Limits::has_infinity ? Total(-Limits::infinity()) : Limits::lowest();
  switch (op) {
  case ReduceOp::Mul:
  case ReduceOp::LogicalAnd:
    return 1;
  case ReduceOp::Min:
    return highest;
  case ReduceOp::Max:
  case ReduceOp::LogAdd:
    return lowest;
  default:
    return 0;
  }
}

template <typename T> const ReduceLoopsOf<T> &loopsOf() {
  const auto &loops = selectedLoops().reduce;
  if constexpr (std::is_same_v<T, float>) {
    return loops;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return loops.ints;
  } else if constexpr (std::is_same_v<T, std::uint32_t>) {
    return loops.unsignedInts;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return loops.longs;
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return loops.unsignedLongs;
  } else {
    return loops.bools;
  }
}

// Calls visit(in offset, out offset) for every index of the dimensions.
template <typename Visit>
void walk(std::span<const Dimension> dimensions, std::int64_t in,
          std::int64_t out, const Visit &visit) {
  if (dimensions.empty()) {
    visit(in, out);
    return;
  }
  const auto &first = dimensions.front();
  for (std::int64_t i = 0; i < first.extent; ++i) {
    walk(dimensions.subspan(1), in + i * first.inStride,
         out + i * first.outStride, visit);
  }
}

// Halves as the plan sees them: totals are floats.
enum class HalfBits : std::uint16_t {};

// What one task reduces.
struct Shard {
  std::int64_t in = 0; // offsets of its first element
  std::int64_t out = 0;
  std::vector<Dimension> kept;
  std::vector<Dimension> reduced;
  Dimension inner;

  // Keeps items [begin, end) of a dimension, which must be one of its own.
  void cut(Dimension &dimension, ShardRange range) {
    in += range.begin * dimension.inStride;
    out += range.begin * dimension.outStride;
    dimension.extent = range.end - range.begin;
  }
  // The elements of the input, or of the output, that it touches.
  ShardRange touched(bool isInput) const {
    std::int64_t low = isInput ? in : out;
    std::int64_t high = low;
    const auto extend = [&](const Dimension &d) {
      const auto last = (d.extent - 1) * (isInput ? d.inStride : d.outStride);
      low += std::min<std::int64_t>(last, 0);
      high += std::max<std::int64_t>(last, 0);
    };
    extend(inner);
    std::for_each(kept.begin(), kept.end(), extend);
    std::for_each(reduced.begin(), reduced.end(), extend);
    return {low, high + 1};
  }
  std::int64_t results() const {
    std::int64_t count = inner.isReduced ? 1 : inner.extent;
    for (const auto &dimension : kept) {
      count *= dimension.extent;
    }
    return count;
  }
};

template <typename Stored> class ReducePlan final : public Plan {
public:
  static constexpr bool isHalf = std::is_same_v<Stored, HalfBits>;
  using Total = std::conditional_t<isHalf, float, Stored>;

  explicit ReducePlan(const Signature &signature)
      : op_(parseOp(signature.attributes.getString("op"))),
        scale_(static_cast<float>(signature.attributes.getFloat("scale"))),
        writesHalf_(signature.outputs[0].type == DataType::Half) {
    auto dimensions = makeDimensions(signature);
    if (dimensions.empty()) { // one element: a reduction over one
      dimensions.push_back({1, 1, 0, true});
    }
    whole_.inner = dimensions.back();
    dimensions.pop_back();
    for (const auto &dimension : dimensions) {
      (dimension.isReduced ? whole_.reduced : whole_.kept).push_back(dimension);
    }
    if (support::elementCount(signature.outputs[0].shape) != 0) {
      addShards(signature);
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           std::byte *scratch) const override {
    const auto *x = dataOf<const Stored>(operands, 0);
    auto *partials = reinterpret_cast<Total *>(scratch);
    if (task == shards_.size()) {
      joinPartials(partials, operands[1]);
    } else if (hasPartials_) {
      auto *next = partials + task * static_cast<std::size_t>(results_);
      reduce(shards_[task], x,
             [&](const Total *totals, std::int64_t count, std::int64_t,
                 std::int64_t) { next = std::copy_n(totals, count, next); });
    } else {
      reduce(shards_[task], x,
             [&](const Total *totals, std::int64_t count, std::int64_t out,
                 std::int64_t stride) {
               store(totals, count, operands[1], out, stride);
             });
    }
  }

private:
  // Columns are taken so many at a time: totals and elements stay in the cache.
  static constexpr std::int64_t block = 1024;
  // Partial results in the scratch memory of a call; more are not worth it.
  static constexpr std::int64_t maxPartials = 4096;

  void addShards(const Signature &signature) {
    constexpr double nanosecondsPerElement = 0.08;
    const double work = nanosecondsPerElement *
                        static_cast<double>(std::max(
                            support::elementCount(signature.inputs[0].shape),
                            support::elementCount(signature.outputs[0].shape)));
    results_ = whole_.results();
    const auto keptItems = extentOf(keptCut(whole_));
    const auto reducedItems = extentOf(reducedCut(whole_));
    hasPartials_ = results_ <= maxPartials &&
                   shardCount(keptItems, work) < shardCount(reducedItems, work);
    const auto items = hasPartials_ ? reducedItems : keptItems;
    const auto count = shardCount(items, work);
    for (std::int64_t i = 0; i < count; ++i) {
      Shard shard = whole_;
      auto *dimension = hasPartials_ ? reducedCut(shard) : keptCut(shard);
      if (dimension != nullptr) {
        shard.cut(*dimension, shardRange(items, count, i));
      }
      tasks_.push_back(
          {0, work / static_cast<double>(count), accesses(signature, shard)});
      shards_.push_back(std::move(shard));
    }
    if (hasPartials_) {
      tasks_.push_back({1,
                        1.0 * static_cast<double>(count * results_),
                        {wholeAccess(signature, 1)}});
      scratchBytes_ = lineAligned(static_cast<std::size_t>(count * results_) *
                                  sizeof(Total));
    }
  }

  std::vector<Access> accesses(const Signature &signature,
                               const Shard &shard) const {
    if (support::elementCount(signature.inputs[0].shape) == 0) {
      return {wholeAccess(signature, 1)};
    }
    const auto access = [&](std::size_t operand) {
      const auto range = shard.touched(operand == 0);
      const auto lowest = whole_.touched(operand == 0).begin;
      return elementAccess(signature, operand, range.begin - lowest,
                           range.end - lowest);
    };
    std::vector<Access> result{access(0)};
    if (!hasPartials_) {
      result.push_back(access(1));
    }
    return result;
  }

  // The dimension that is cut, or none.
  static Dimension *keptCut(Shard &shard) {
    if (!shard.kept.empty()) {
      return &shard.kept.front();
    }
    return shard.inner.isReduced || shard.inner.extent <= 64 ? nullptr
                                                             : &shard.inner;
  }
  static Dimension *reducedCut(Shard &shard) {
    if (!shard.reduced.empty()) {
      return &shard.reduced.front();
    }
    return shard.inner.isReduced ? &shard.inner : nullptr;
  }
  static std::int64_t extentOf(const Dimension *dimension) {
    return dimension == nullptr ? 1 : dimension->extent;
  }

  // Calls put(totals, count, out offset, out stride) for all results, in order.
  template <typename Put>
  void reduce(const Shard &shard, const Stored *x, const Put &put) const {
    walk(shard.kept, shard.in, shard.out,
         [&](std::int64_t in, std::int64_t out) {
           if (shard.inner.isReduced) {
             const Total total = row(shard, x + in);
             put(&total, 1, out, 1);
             return;
           }
           for (std::int64_t at = 0; at < shard.inner.extent; at += block) {
             const auto count = std::min(block, shard.inner.extent - at);
             Total totals[block];
             columns(shard, x + in + at * shard.inner.inStride, totals, count);
             put(totals, count, out + at * shard.inner.outStride,
                 shard.inner.outStride);
           }
         });
  }

  Total row(const Shard &shard, const Stored *x) const {
    const auto function = loopsOf<Total>().row[static_cast<std::size_t>(op_)];
    Total total = startOf<Total>(op_);
    const auto &inner = shard.inner;
    walk(shard.reduced, 0, 0, [&](std::int64_t in, std::int64_t) {
      if constexpr (isHalf) {
        for (std::int64_t at = 0; at < inner.extent; at += block) {
          const auto count = std::min(block, inner.extent - at);
          float floats[block];
          load(floats, x + in + at * inner.inStride, inner.inStride, count);
          total = function(total, floats, 1, count);
        }
      } else {
        total = function(total, x + in, inner.inStride, inner.extent);
      }
    });
    return total;
  }

  void columns(const Shard &shard, const Stored *x, Total *totals,
               std::int64_t count) const {
    const auto function =
        loopsOf<Total>().columns[static_cast<std::size_t>(op_)];
    std::fill_n(totals, count, startOf<Total>(op_));
    const auto stride = shard.inner.inStride;
    walk(shard.reduced, 0, 0, [&](std::int64_t in, std::int64_t) {
      if constexpr (isHalf) {
        float floats[block];
        load(floats, x + in, stride, count);
        function(totals, floats, 1, count);
      } else {
        function(totals, x + in, stride, count);
      }
    });
  }

  static void load(float *to, const Stored *from, std::int64_t stride,
                   std::int64_t count) {
    selectedLoops().elementwise.loadHalf(
        to, reinterpret_cast<const std::uint16_t *>(from), stride, count);
  }

  void store(const Total *totals, std::int64_t count, std::byte *y,
             std::int64_t out, std::int64_t stride) const {
    if constexpr (std::is_same_v<Total, float>) {
      const auto &loops = selectedLoops().elementwise;
      float scaled[block];
      for (std::int64_t i = 0; i < count; ++i) {
        scaled[i] = totals[i] * scale_;
      }
      if (writesHalf_) {
        loops.storeHalf(reinterpret_cast<std::uint16_t *>(y) + out, scaled,
                        stride, count);
      } else {
        loops.storeFloat(reinterpret_cast<float *>(y) + out, scaled, stride,
                         count);
      }
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        reinterpret_cast<Total *>(y)[out + i * stride] = totals[i];
      }
    }
  }

  // Adds up the shards' results in the first one's, then stores them.
  void joinPartials(Total *partials, std::byte *y) const {
    const auto join = op_ == ReduceOp::SquareAdd ? ReduceOp::Add : op_;
    const auto function =
        loopsOf<Total>().columns[static_cast<std::size_t>(join)];
    for (std::size_t i = 1; i < shards_.size(); ++i) {
      function(partials, partials + i * static_cast<std::size_t>(results_), 1,
               results_);
    }
    const auto &inner = whole_.inner;
    walk(whole_.kept, 0, 0, [&](std::int64_t, std::int64_t out) {
      const auto row = inner.isReduced ? 1 : inner.extent;
      for (std::int64_t at = 0; at < row; at += block) {
        const auto count = std::min(block, row - at);
        store(partials, count, y, out + at * inner.outStride, inner.outStride);
        partials += count;
      }
    });
  }

  ReduceOp op_;
  float scale_;
  bool writesHalf_;
  Shard whole_;
  std::vector<Shard> shards_;
  std::int64_t results_ = 0;
  bool hasPartials_ = false;
};

std::unique_ptr<Plan> plan(const Signature &signature) {
  switch (signature.inputs[0].type) {
  case DataType::Float:
    return std::make_unique<ReducePlan<float>>(signature);
  case DataType::Half:
    return std::make_unique<ReducePlan<HalfBits>>(signature);
  case DataType::Int:
    return std::make_unique<ReducePlan<std::int32_t>>(signature);
  case DataType::UnsignedInt:
    return std::make_unique<ReducePlan<std::uint32_t>>(signature);
  case DataType::LongLong:
    return std::make_unique<ReducePlan<std::int64_t>>(signature);
  case DataType::UnsignedLongLong:
    return std::make_unique<ReducePlan<std::uint64_t>>(signature);
  case DataType::Bool:
    return std::make_unique<ReducePlan<std::uint8_t>>(signature);
  default:
    return nullptr;
  }
}

} // namespace

std::span<const KernelEntry> reduceKernels() {
  static const KernelEntry entries[] = {laneReduce,
                                        {"strided", allPlain, plan}};
  return entries;
}

} // namespace kernels
