// "cumulate" of row-major tensors seen as [outer][length][inner]: a shard takes
// some columns of (outer, inner) and runs along the length, many columns at a
// time. Floats add up in double, so that long sums keep their digits.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "PlanHelpers.hpp"

#include <algorithm>
#include <functional>

namespace kernels {

namespace {

class CumulatePlan final : public Plan {
public:
  explicit CumulatePlan(const Signature &signature)
      : isFloat_(signature.inputs[0].type == DataType::Float),
        isProduct_(signature.attributes.getString("op") == "MUL"),
        isExclusive_(signature.attributes.getInt("exclusive") != 0),
        isReverse_(signature.attributes.getInt("reverse") != 0) {
    const std::span<const std::int64_t> shape = signature.inputs[0].shape;
    const auto dim =
        static_cast<std::size_t>(signature.attributes.getInt("dim"));
    length_ = shape[dim];
    inner_ = support::elementCount(shape.subspan(dim + 1));
    const auto elements = support::elementCount(shape);
    if (elements == 0) {
      return;
    }
    // Lines of columns that one pass takes together.
    linesPerOuter_ = (inner_ + width - 1) / width;
    const auto lines = elements / (length_ * inner_) * linesPerOuter_;
    const double work = 1.5 * static_cast<double>(elements);
    const auto count = shardCount(lines, work);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto shard = shardRange(lines, count, i);
      // Whole outer entries: their columns lie between each other.
      const auto begin = shard.begin / linesPerOuter_ * length_ * inner_;
      const auto end =
          (shard.end + linesPerOuter_ - 1) / linesPerOuter_ * length_ * inner_;
      shards_.push_back(shard);
      tasks_.push_back({0,
                        work / static_cast<double>(count),
                        {elementAccess(signature, 0, begin, end),
                         elementAccess(signature, 1, begin, end)}});
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    for (auto line = shards_[task].begin; line < shards_[task].end; ++line) {
      const auto outer = line / linesPerOuter_;
      const auto column = (line - outer * linesPerOuter_) * width;
      const auto at = outer * length_ * inner_ + column;
      const auto columns = std::min(width, inner_ - column);
      if (isFloat_) {
        scan<float, double>(dataOf<const float>(operands, 0) + at,
                            dataOf<float>(operands, 1) + at, columns);
      } else {
        scan<std::uint32_t, std::uint32_t>(
            dataOf<const std::uint32_t>(operands, 0) + at,
            dataOf<std::uint32_t>(operands, 1) + at, columns);
      }
    }
  }

private:
  static constexpr std::int64_t width = 64;

  // Of one column, whose total stays in a register.
  template <typename T, typename Total, typename Combine>
  void scanColumn(const T *x, T *y, Total total, const Combine &combine) const {
    const std::int64_t step = isReverse_ ? -1 : 1;
    std::int64_t at = isReverse_ ? length_ - 1 : 0;
    for (std::int64_t i = 0; i < length_; ++i, at += step) {
      const Total before = total;
      total = combine(total, static_cast<Total>(x[at]));
      y[at] = static_cast<T>(isExclusive_ ? before : total);
    }
  }

  template <typename T, typename Total>
  void scan(const T *x, T *y, std::int64_t columns) const {
    if (inner_ == 1) {
      if (isProduct_) {
        scanColumn<T, Total>(x, y, 1, std::multiplies<Total>());
      } else {
        scanColumn<T, Total>(x, y, 0, std::plus<Total>());
      }
      return;
    }
    Total totals[width];
    std::fill_n(totals, columns, isProduct_ ? Total{1} : Total{0});
    for (std::int64_t i = 0; i < length_; ++i) {
      const auto at = (isReverse_ ? length_ - 1 - i : i) * inner_;
      for (std::int64_t c = 0; c < columns; ++c) {
        const Total before = totals[c];
        const auto value = static_cast<Total>(x[at + c]);
        totals[c] = isProduct_ ? before * value : before + value;
        y[at + c] = static_cast<T>(isExclusive_ ? before : totals[c]);
      }
    }
  }

  bool isFloat_, isProduct_, isExclusive_, isReverse_;
  std::int64_t length_ = 0;
  std::int64_t inner_ = 1;
  std::int64_t linesPerOuter_ = 1;
  std::vector<ShardRange> shards_;
};

std::unique_ptr<Plan> plan(const Signature &signature) {
  if (!isAllRowMajor(signature) || signature.inputs[0].type == DataType::Half) {
    return nullptr;
  }
  return std::make_unique<CumulatePlan>(signature);
}

constexpr KernelEntry entries[] = {{"columns", allPlain, plan},
                                   {"half", allPlain, planAsFloat<plan>}};

} // namespace

std::span<const KernelEntry> cumulateKernels() {
  return entries;
}

} // namespace kernels
