// "matmul" of floats: the result is cut into blocks, each a product of its own
// (Product.hpp) that is whole in depth, or one for each matrix of a group.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "PackedMatmul.hpp"
#include "PlanHelpers.hpp"
#include "Product.hpp"

#include <algorithm>

namespace kernels {

namespace {

// A group of matrices, in two dimensions of groups: where its elements are.
struct Matrices {
  std::int64_t groups, innerGroups, rows, columns;
  std::int64_t outerStride, groupStride, rowStride, columnStride;

  std::int64_t offset(std::int64_t group, std::int64_t row,
                      std::int64_t column) const {
    return group / innerGroups * outerStride +
           group % innerGroups * groupStride + row * rowStride +
           column * columnStride;
  }
};

constexpr std::size_t maxRank = 4;

Matrices matricesOf(const OperandSpec &spec) {
  const std::size_t rank = spec.shape.size();
  const std::int64_t inner = rank > 2 ? spec.shape[rank - 3] : 1;
  const std::int64_t outer = rank > 3 ? spec.shape[rank - 4] : 1;
  return {outer * inner,
          inner,
          spec.shape[rank - 2],
          spec.shape[rank - 1],
          rank > 3 ? spec.strides[rank - 4] : 0,
          rank > 2 ? spec.strides[rank - 3] : 0,
          spec.strides[rank - 2],
          spec.strides[rank - 1]};
}

std::int64_t lengthOf(const ShardRange &range) {
  return range.end - range.begin;
}

// Parts are cut between vectors of sixteen elements.
constexpr std::int64_t unit = 16;

std::int64_t vectorsOf(std::int64_t length) {
  return (length + unit - 1) / unit;
}

// A block of the result, whole in depth.
struct Part {
  ShardRange groups, rows, columns;
};

// Two shards as soon as they win more than handing one over costs.
std::int64_t partCount(std::int64_t items, double work) {
  constexpr double leastForTwo = 2500; // nanoseconds
  constexpr double two = 5000;         // shardCount's own least
  return shardCount(items, work >= leastForTwo ? std::max(work, two) : work);
}

// Ranges of whole vectors, `count` of them.
std::vector<ShardRange> rangesOf(std::int64_t length, std::int64_t count) {
  const std::int64_t items = vectorsOf(length);
  std::vector<ShardRange> ranges;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [begin, end] = shardRange(items, count, i);
    ranges.push_back({begin * unit, std::min(end * unit, length)});
  }
  return ranges;
}

// Into parts of groups, or else of the dimension whose parts are each one range
// of bytes where there are enough of it, or else of the longer one. A part
// takes the whole other operand; where that is more than half of the
// second-level cache, parts are nearly squares, so that what one copies serves
// many rows.
// costOfPart(cutsRows, count) is that of one of so many parts.
template <typename Cost>
std::vector<Part> cut(const Matrices &y, std::int64_t depth, double work,
                      const Cost &costOfPart) {
  constexpr std::int64_t largeElements = 1 << 17;
  std::vector<Part> parts;
  if (y.groups > 1) {
    const auto count = partCount(y.groups, work);
    for (std::int64_t i = 0; i < count; ++i) {
      parts.push_back(
          {shardRange(y.groups, count, i), {0, y.rows}, {0, y.columns}});
    }
    return parts;
  }
  const bool hasRows = y.rowStride >= y.columnStride; // the outer ones
  const std::int64_t outer = hasRows ? y.rows : y.columns;
  const std::int64_t inner = hasRows ? y.columns : y.rows;
  const std::int64_t outerCount = partCount(outer / unit, work);
  const std::int64_t innerCount = partCount(inner / unit, work);
  // Parts that rearrange the same matrix again cost more than they win.
  constexpr double noticeable = 1.05;
  const bool cutsOuter = outerCount == innerCount
                             ? costOfPart(hasRows, outerCount) <=
                                   noticeable * costOfPart(!hasRows, innerCount)
                             : outer >= inner;
  const bool cutsRows = cutsOuter == hasRows;
  std::int64_t rowCount = partCount(vectorsOf(y.rows), cutsRows ? work : 0);
  std::int64_t columnCount =
      partCount(vectorsOf(y.columns), cutsRows ? 0 : work);
  std::int64_t &from = cutsRows ? rowCount : columnCount;
  std::int64_t &to = cutsRows ? columnCount : rowCount;
  const std::int64_t length = cutsRows ? y.rows : y.columns;
  const std::int64_t other = cutsRows ? y.columns : y.rows;
  while (from > 1 && depth * other > largeElements &&
         2 * (length / from) <= other / to) {
    from /= 2;
    to *= 2;
  }
  for (const auto &rows : rangesOf(y.rows, rowCount)) {
    for (const auto &columns : rangesOf(y.columns, columnCount)) {
      parts.push_back({{0, 1}, rows, columns});
    }
  }
  return parts;
}

class MatmulPlan final : public Plan {
public:
  explicit MatmulPlan(const Signature &signature)
      : a_(matricesOf(signature.inputs[0])),
        b_(matricesOf(signature.inputs[1])),
        y_(matricesOf(signature.outputs[0])),
        hasBias_(signature.attributes.getInt("bias") != 0),
        hasRelu_(signature.attributes.getString("activation") == "RELU"),
        biasStride_(hasBias_ ? signature.inputs[2].strides[0] : 0) {
    const double work = productOf(y_.rows, y_.columns).nanoseconds() *
                        static_cast<double>(y_.groups);
    const auto costOfPart = [&](bool cutsRows, std::int64_t count) {
      return productOf(cutsRows ? y_.rows / count : y_.rows,
                       cutsRows ? y_.columns : y_.columns / count)
          .nanoseconds();
    };
    for (const auto &part : cut(y_, a_.columns, work, costOfPart)) {
      addShard(part);
      addTask(signature, work);
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    const Shard &shard = shards_[task];
    const Part &part = shard.part;
    Product::Operands given{};
    if (hasBias_) {
      given.bias =
          dataOf<float>(operands, 2) + part.columns.begin * biasStride_;
      given.biasStride = biasStride_;
    }
    given.hasRelu = hasRelu_;
    for (auto group = part.groups.begin; group < part.groups.end; ++group) {
      given.a =
          dataOf<float>(operands, 0) + a_.offset(group, part.rows.begin, 0);
      given.b =
          dataOf<float>(operands, 1) + b_.offset(group, 0, part.columns.begin);
      given.y = dataOf<float>(operands, outputIndex()) +
                y_.offset(group, part.rows.begin, part.columns.begin);
      shard.product.run(given, memory.workspace);
    }
  }

private:
  struct Shard {
    Part part;
    Product product;
  };

  std::size_t outputIndex() const { return hasBias_ ? 3 : 2; }

  Product productOf(std::int64_t rows, std::int64_t columns) const {
    return Product({rows, columns, a_.columns, a_.rowStride, a_.columnStride,
                    b_.rowStride, b_.columnStride, y_.rowStride,
                    y_.columnStride});
  }

  void addShard(const Part &part) {
    shards_.push_back(
        {part, productOf(lengthOf(part.rows), lengthOf(part.columns))});
    workspaceBytes_ =
        std::max(workspaceBytes_, shards_.back().product.workspaceBytes());
  }

  // Negative strides would need offsets from the lowest element; plan() leaves
  // them to the reference.
  static Access rangeOf(const Signature &signature, std::size_t operand,
                        const Matrices &m, const Part &part) {
    // The last group need not be the farthest.
    std::int64_t lowest = m.offset(part.groups.begin, 0, 0), highest = lowest;
    for (auto group = part.groups.begin; group < part.groups.end; ++group) {
      lowest = std::min(lowest, m.offset(group, 0, 0));
      highest = std::max(highest, m.offset(group, 0, 0));
    }
    return elementAccess(
        signature, operand,
        lowest + m.offset(0, part.rows.begin, part.columns.begin),
        highest + m.offset(0, part.rows.end - 1, part.columns.end - 1) + 1);
  }

  // `work` is that of all parts. A part may look as if it were cached, but what
  // all of them read together is not.
  void addTask(const Signature &signature, double work) {
    const auto &[part, product] = shards_.back();
    const ShardRange depth{0, a_.columns};
    const double share =
        static_cast<double>(lengthOf(part.groups) * lengthOf(part.rows) *
                            lengthOf(part.columns)) /
        static_cast<double>(y_.groups * y_.rows * y_.columns);
    Task task;
    task.cost = 200 + std::max(share * work,
                               product.nanoseconds() *
                                   static_cast<double>(lengthOf(part.groups)));
    task.accesses = {
        rangeOf(signature, 0, a_, {part.groups, part.rows, depth}),
        rangeOf(signature, 1, b_, {part.groups, depth, part.columns}),
        rangeOf(signature, outputIndex(), y_, part)};
    if (hasBias_) {
      task.accesses.push_back(
          elementAccess(signature, 2, part.columns.begin * biasStride_,
                        (part.columns.end - 1) * biasStride_ + 1));
    }
    tasks_.push_back(std::move(task));
  }

  Matrices a_, b_, y_;
  bool hasBias_, hasRelu_;
  std::int64_t biasStride_;
  std::vector<Shard> shards_;
};

bool hasOnlyStridesFrom(const OperandSpec &spec, std::int64_t least) {
  return std::all_of(spec.strides.begin(), spec.strides.end(),
                     [&](std::int64_t stride) { return stride >= least; });
}

std::unique_ptr<Plan> plan(const Signature &signature) {
  if (!isAllFloat(signature) || signature.inputs[0].shape.size() > maxRank) {
    return nullptr;
  }
  for (std::size_t i = 0; i < signature.operandCount(); ++i) {
    const auto &spec = signature.operand(i);
    if (support::elementCount(spec.shape) == 0 ||
        !hasOnlyStridesFrom(spec, 0)) {
      return nullptr;
    }
  }
  return std::make_unique<MatmulPlan>(signature);
}

} // namespace

std::span<const KernelEntry> matmulKernels() {
  static const KernelEntry entries[] = {packedMatmul,
                                        {"plain", allPlain, plan},
                                        {"half", allPlain, planAsFloat<plan>}};
  return entries;
}

} // namespace kernels
