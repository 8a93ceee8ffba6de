// "reduce" over any strides. The innermost dimension is either reduced (rows)
// or kept (columns). Shards cut the outermost dimension where that is
// worthwhile: if it is a reduced one, partial results meet in a second stage,
// in the order of the shards.
#include "FastKernels.hpp"
#include "LaneKernels.hpp"
#include "PlanHelpers.hpp"
#include "ReduceSpace.hpp"

#include "loops/Loops.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace kernels {

namespace {

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

// Halves as the plan sees them: totals are floats.
enum class HalfBits : std::uint16_t {};

template <typename Stored> class ReducePlan final : public Plan {
public:
  static constexpr bool isHalf = std::is_same_v<Stored, HalfBits>;
  using Total = std::conditional_t<isHalf, float, Stored>;

  ReducePlan(const Signature &signature, const ReduceSpace &space)
      : op_(parseOp(signature.attributes.getString("op"))),
        scale_(static_cast<float>(signature.attributes.getFloat("scale"))),
        writesHalf_(signature.outputs[0].type == DataType::Half), whole_(space),
        results_(space.results()) {
    if (results_ != 0) {
      addShards(signature);
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    const auto *x = dataOf<const Stored>(operands, 0);
    auto *partials = reinterpret_cast<Total *>(memory.scratch);
    if (task >= shards_.size()) {
      joinPartials(joins_[task - shards_.size()], partials, operands[1]);
    } else if (hasPartials_) {
      auto *totals = partials + static_cast<std::int64_t>(task) * partialStep_;
      std::fill_n(totals, results_, startOf<Total>(op_));
      accumulate(shards_[task], x, totals);
    } else {
      reduce(shards_[task], x, operands[1]);
    }
  }

private:
  // Totals are held so many at a time, in the cache.
  static constexpr std::int64_t block = 1024;
  // Elements that must be reduced for each partial result.
  static constexpr std::int64_t elementsPerPartial = 8;

  // Cutting what lies outermost leaves each task one run of memory, even if
  // that takes partial results.
  void addShards(const Signature &signature) {
    constexpr double nanosecondsPerElement = 0.06;
    const auto elements = support::elementCount(signature.inputs[0].shape);
    const double work = nanosecondsPerElement *
                        static_cast<double>(std::max(elements, results_));
    const auto kept = keptCut();
    const auto reduced = whole_.firstOf(true);
    const auto countOf = [&](std::optional<std::size_t> dimension) {
      return dimension ? shardCount(whole_.dimensions[*dimension].extent, work)
                       : 1;
    };
    const auto keptCount = countOf(kept);
    const auto worthwhile = static_cast<std::uint64_t>(
        std::max<std::int64_t>(elements / results_ / elementsPerPartial, 1));
    const auto partialCount =
        std::min(countOf(reduced),
                 static_cast<std::int64_t>(std::bit_floor(worthwhile)));
    hasPartials_ = partialCount > keptCount ||
                   (partialCount > 1 && reduced == std::size_t{0} &&
                    4 * partialCount >= keptCount);
    const auto dimension = hasPartials_ ? reduced : kept;
    const auto count = hasPartials_ ? partialCount : keptCount;
    for (std::int64_t i = 0; i < count; ++i) {
      ReduceSpace shard = whole_;
      if (dimension) {
        const auto extent = whole_.dimensions[*dimension].extent;
        shard.cut(*dimension, shardRange(extent, count, i));
      }
      tasks_.push_back(
          {0, work / static_cast<double>(count), accesses(signature, shard)});
      shards_.push_back(shard);
    }
    if (hasPartials_) {
      addJoins(signature);
    }
  }

  // Columns are cut only where there are many.
  std::optional<std::size_t> keptCut() const {
    const auto kept = whole_.firstOf(false);
    const bool isColumns = kept && *kept == whole_.rank - 1 && *kept > 0;
    return isColumns && whole_.inner().extent <= 64 ? std::nullopt : kept;
  }

  void addJoins(const Signature &signature) {
    const auto shards = static_cast<std::int64_t>(shards_.size());
    const auto bytes = static_cast<std::size_t>(results_) * sizeof(Total);
    partialStep_ =
        static_cast<std::int64_t>(lineAligned(bytes) / sizeof(Total));
    scratchBytes_ = static_cast<std::size_t>(shards) * lineAligned(bytes);
    const double work = 0.1 * static_cast<double>(shards * results_);
    const auto count =
        whole_.isDense() ? shardCount(results_ / block, work) : 1;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto range = shardRange(results_, count, i);
      joins_.push_back(range);
      tasks_.push_back(
          {1,
           work / static_cast<double>(count),
           {count == 1 ? wholeAccess(signature, 1)
                       : elementAccess(signature, 1, range.begin, range.end)}});
    }
  }

  std::vector<Access> accesses(const Signature &signature,
                               const ReduceSpace &shard) const {
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

  // By parts of at most a block of results: what is kept is cut from the
  // outside on, down to single items before the next dimension's turn.
  void reduce(const ReduceSpace &space, const Stored *x, std::byte *y) const {
    const auto results = space.results();
    if (results <= block) {
      Total totals[block];
      std::fill_n(totals, results, startOf<Total>(op_));
      accumulate(space, x, totals);
      store(space, totals, y);
      return;
    }
    const auto dimension = *space.firstOf(false);
    const auto extent = space.dimensions[dimension].extent;
    const auto most = std::max<std::int64_t>(block / (results / extent), 1);
    for (std::int64_t begin = 0; begin < extent; begin += most) {
      ReduceSpace part = space;
      part.cut(dimension, {begin, std::min(begin + most, extent)});
      reduce(part, x, y);
    }
  }

  // Adds a space to its totals, in the order of its memory. The two innermost
  // dimensions go to one loop where they differ in their role.
  void accumulate(const ReduceSpace &space, const Stored *x,
                  Total *totals) const {
    const auto &inner = space.inner();
    ReduceSpace::Dimension rows{1, 0, 0, !inner.isReduced};
    auto outer = space.all().first(space.rank - 1);
    if (!outer.empty() && outer.back().isReduced != inner.isReduced) {
      rows = outer.back();
      outer = outer.first(outer.size() - 1);
    }
    walk(outer, space.in, 0, 0,
         [&](std::int64_t in, std::int64_t, std::int64_t total) {
           if constexpr (isHalf) {
             addHalves(inner, rows, x + in, totals + total);
           } else {
             const auto &loops = loopsOf<Total>();
             const auto *functions =
                 inner.isReduced ? loops.rows : loops.columnRows;
             functions[index()](totals + total, x + in, rows.extent,
                                rows.inStride, inner.inStride, inner.extent);
           }
         });
  }

  void addHalves(const ReduceSpace::Dimension &inner,
                 const ReduceSpace::Dimension &rows, const Stored *x,
                 float *totals) const {
    const auto &loops = selectedLoops();
    for (std::int64_t row = 0; row < rows.extent; ++row) {
      for (std::int64_t at = 0; at < inner.extent; at += block) {
        const auto count = std::min(block, inner.extent - at);
        const auto *from = x + row * rows.inStride + at * inner.inStride;
        float floats[block];
        loops.elementwise.loadHalf(
            floats, reinterpret_cast<const std::uint16_t *>(from),
            inner.inStride, count);
        if (inner.isReduced) {
          totals[row] =
              loops.reduce.row[index()](totals[row], floats, 1, count);
        } else {
          loops.reduce.columns[index()](totals + at, floats, 1, count);
        }
      }
    }
  }

  std::size_t index() const { return static_cast<std::size_t>(op_); }

  // The results of a space, along its innermost kept dimension.
  void store(const ReduceSpace &space, const Total *totals,
             std::byte *y) const {
    std::array<ReduceSpace::Dimension, ReduceSpace::maxRank> kept;
    std::size_t count = 0;
    for (const auto &dimension : space.all()) {
      if (!dimension.isReduced) {
        kept[count++] = dimension;
      }
    }
    const ReduceSpace::Dimension single{1, 0, 1, false};
    const auto &inner = count == 0 ? single : kept[count - 1];
    walk(std::span(kept.data(), count == 0 ? 0 : count - 1), 0, space.out, 0,
         [&](std::int64_t, std::int64_t out, std::int64_t total) {
           storeRun(totals + total, inner.extent, y, out, inner.outStride);
         });
  }

  void storeRun(const Total *totals, std::int64_t count, std::byte *y,
                std::int64_t out, std::int64_t stride) const {
    if constexpr (std::is_same_v<Total, float>) {
      const auto &loops = selectedLoops().elementwise;
      for (std::int64_t at = 0; at < count; at += block) {
        const auto part = std::min(block, count - at);
        float scaled[block];
        for (std::int64_t i = 0; i < part; ++i) {
          scaled[i] = totals[at + i] * scale_;
        }
        const auto first = out + at * stride;
        if (writesHalf_) {
          loops.storeHalf(reinterpret_cast<std::uint16_t *>(y) + first, scaled,
                          stride, part);
        } else {
          loops.storeFloat(reinterpret_cast<float *>(y) + first, scaled, stride,
                           part);
        }
      }
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        reinterpret_cast<Total *>(y)[out + i * stride] = totals[i];
      }
    }
  }

  // Adds up the shards' results in the first one's, then stores them.
  void joinPartials(ShardRange range, Total *partials, std::byte *y) const {
    const auto join = op_ == ReduceOp::SquareAdd ? ReduceOp::Add : op_;
    const auto count = range.end - range.begin;
    loopsOf<Total>().columnRows[static_cast<std::size_t>(join)](
        partials + range.begin, partials + partialStep_ + range.begin,
        static_cast<std::int64_t>(shards_.size()) - 1, partialStep_, 1, count);
    if (count == results_) {
      store(whole_, partials, y);
    } else {
      storeRun(partials + range.begin, count, y, range.begin, 1);
    }
  }

  ReduceOp op_;
  float scale_;
  bool writesHalf_;
  ReduceSpace whole_;
  std::int64_t results_;
  std::vector<ReduceSpace> shards_;
  bool hasPartials_ = false;
  std::int64_t partialStep_ = 0;  // totals between those of two shards
  std::vector<ShardRange> joins_; // results
};

template <typename Stored>
std::unique_ptr<Plan> planOf(const Signature &signature) {
  const auto space = ReduceSpace::make(signature);
  return space ? std::make_unique<ReducePlan<Stored>>(signature, *space)
               : nullptr;
}

std::unique_ptr<Plan> plan(const Signature &signature) {
  switch (signature.inputs[0].type) {
  case DataType::Float:
    return planOf<float>(signature);
  case DataType::Half:
    return planOf<HalfBits>(signature);
  case DataType::Int:
    return planOf<std::int32_t>(signature);
  case DataType::UnsignedInt:
    return planOf<std::uint32_t>(signature);
  case DataType::LongLong:
    return planOf<std::int64_t>(signature);
  case DataType::UnsignedLongLong:
    return planOf<std::uint64_t>(signature);
  case DataType::Bool:
    return planOf<std::uint8_t>(signature);
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
