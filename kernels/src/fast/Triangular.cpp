// "cholesky", "triangularSolve" and "triangularMask" of row-major floats.
// Shards are matrices of the group and, for a solution, parts of the right-hand
// side.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "PlanHelpers.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace kernels {

namespace {

struct Group {
  std::int64_t count, rows, columns;

  std::int64_t size() const { return rows * columns; }
};

Group groupOf(const OperandSpec &spec) {
  const auto rank = spec.shape.size();
  return {support::elementCount(std::span(spec.shape).first(rank - 2)),
          spec.shape[rank - 2], spec.shape[rank - 1]};
}

// Sixteen sums side by side, added up in a fixed order: the compiler may use
// vectors without changing what is computed.
float dot(const float *a, const float *b, std::int64_t count) {
  constexpr std::int64_t lanes = 16;
  std::array<float, lanes> sums{};
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      sums[static_cast<std::size_t>(lane)] += a[i + lane] * b[i + lane];
    }
  }
  float sum = 0;
  for (const float part : sums) {
    sum += part;
  }
  for (; i < count; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

void subtractScaled(float *from, const float *values, float scale,
                    std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    from[i] -= scale * values[i];
  }
}

bool isTaken(const Signature &signature) {
  return isAllFloat(signature) && isAllRowMajor(signature) &&
         support::elementCount(signature.outputs[0].shape) > 0;
}

// Plans whose shards are whole matrices of one group, from operand 0 to 1.
class MatrixPlan : public Plan {
protected:
  MatrixPlan(const Signature &signature, double nanosecondsPerMatrix)
      : group_(groupOf(signature.inputs[0])),
        isLower_(signature.attributes.getInt("lower") != 0) {
    const double work =
        nanosecondsPerMatrix * static_cast<double>(group_.count);
    const auto count = shardCount(group_.count, work);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto range = shardRange(group_.count, count, i);
      ranges_.push_back(range);
      const auto begin = range.begin * group_.size();
      const auto end = range.end * group_.size();
      tasks_.push_back({0,
                        work / static_cast<double>(count),
                        {elementAccess(signature, 0, begin, end),
                         elementAccess(signature, 1, begin, end)}});
    }
  }

  Group group_;
  bool isLower_;
  std::vector<ShardRange> ranges_;
};

class CholeskyPlan final : public MatrixPlan {
public:
  explicit CholeskyPlan(const Signature &signature)
      : MatrixPlan(signature, costOf(groupOf(signature.inputs[0]))) {
    workspaceBytes_ = static_cast<std::size_t>(group_.size()) * sizeof(float);
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    auto *l = reinterpret_cast<float *>(memory.workspace);
    for (auto g = ranges_[task].begin; g < ranges_[task].end; ++g) {
      factorise(dataOf<const float>(operands, 0) + g * group_.size(), l);
      store(l, dataOf<float>(operands, 1) + g * group_.size());
    }
  }

private:
  static double costOf(const Group &group) {
    const auto n = static_cast<double>(group.rows);
    return 0.03 * n * n * n + n * n;
  }

  void factorise(const float *a, float *l) const {
    const std::int64_t n = group_.rows;
    for (std::int64_t i = 0; i < n; ++i) {
      float *row = l + i * n;
      for (std::int64_t j = 0; j <= i; ++j) {
        const float given = isLower_ ? a[i * n + j] : a[j * n + i];
        const float sum = given - dot(row, l + j * n, j);
        row[j] = i == j ? std::sqrt(sum) : sum / l[j * n + j];
      }
    }
  }

  void store(const float *l, float *result) const {
    const std::int64_t n = group_.rows;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const bool isZero = isLower_ ? j > i : i > j;
        result[i * n + j] = isZero ? 0 : isLower_ ? l[i * n + j] : l[j * n + i];
      }
    }
  }
};

class MaskPlan final : public MatrixPlan {
public:
  explicit MaskPlan(const Signature &signature)
      : MatrixPlan(signature, 0.2 * static_cast<double>(
                                        groupOf(signature.inputs[0]).size())),
        isUnit_(signature.attributes.getInt("unitDiagonal") != 0) {}

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const std::int64_t n = group_.rows;
    for (auto row = ranges_[task].begin * n; row < ranges_[task].end * n;
         ++row) {
      const auto *a = dataOf<const float>(operands, 0) + row * n;
      auto *result = dataOf<float>(operands, 1) + row * n;
      const std::int64_t i = row % n;
      const std::int64_t begin = isLower_ ? 0 : i;
      const std::int64_t end = isLower_ ? i + 1 : n;
      std::fill(result, result + begin, 0.0f);
      std::copy(a + begin, a + end, result + begin);
      std::fill(result + end, result + n, 0.0f);
      if (isUnit_) {
        result[i] = 1;
      }
    }
  }

private:
  bool isUnit_;
};

class SolvePlan final : public Plan {
public:
  explicit SolvePlan(const Signature &signature)
      : side_(signature.inputs[0].shape.back()),
        b_(groupOf(signature.inputs[1])),
        isLeft_(signature.attributes.getInt("left") != 0),
        isLower_(signature.attributes.getInt("lower") != 0),
        isUnit_(signature.attributes.getInt("unitDiagonal") != 0) {
    const auto n = static_cast<double>(side_);
    // Columns in whole vectors, rows one by one.
    const std::int64_t length = isLeft_ ? b_.columns : b_.rows;
    const std::int64_t unit = isLeft_ ? 16 : 1;
    const std::int64_t items = (length + unit - 1) / unit;
    const double work = 0.05 * n * n * static_cast<double>(length);
    const auto cuts = shardCount(items, work);
    for (std::int64_t group = 0; group < b_.count; ++group) {
      for (std::int64_t i = 0; i < cuts; ++i) {
        const auto range = shardRange(items, cuts, i);
        shards_.push_back(
            {group, {range.begin * unit, std::min(range.end * unit, length)}});
        addTask(signature, shards_.back(), work / static_cast<double>(cuts));
      }
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const auto &[group, range] = shards_[task];
    const auto *a = dataOf<const float>(operands, 0) + group * side_ * side_;
    const auto *b = dataOf<const float>(operands, 1) + group * b_.size();
    auto *x = dataOf<float>(operands, 2) + group * b_.size();
    if (isLeft_) {
      solveColumns(a, b + range.begin, x + range.begin,
                   range.end - range.begin);
    } else {
      for (auto row = range.begin; row < range.end; ++row) {
        solveRow(a, b + row * side_, x + row * side_);
      }
    }
  }

private:
  struct Shard {
    std::int64_t group;
    ShardRange range; // columns or rows of b
  };

  void addTask(const Signature &signature, const Shard &shard, double cost) {
    const auto &[group, range] = shard;
    const auto matrix = side_ * side_;
    Task task{
        0,
        cost,
        {elementAccess(signature, 0, group * matrix, (group + 1) * matrix)}};
    // The rows of a part of the columns are apart.
    const auto forEachRun = [&](std::size_t operand) {
      const auto base = group * b_.size();
      if (!isLeft_ || range.end - range.begin == b_.columns) {
        task.accesses.push_back(elementAccess(signature, operand,
                                              base + range.begin * side_,
                                              base + range.end * side_));
        return;
      }
      for (std::int64_t row = 0; row < side_; ++row) {
        const auto at = base + row * b_.columns;
        task.accesses.push_back(elementAccess(
            signature, operand, at + range.begin, at + range.end));
      }
    };
    forEachRun(1);
    forEachRun(2);
    tasks_.push_back(std::move(task));
  }

  void solveColumns(const float *a, const float *b, float *x,
                    std::int64_t count) const {
    const std::int64_t stride = b_.columns;
    for (std::int64_t step = 0; step < side_; ++step) {
      const auto i = isLower_ ? step : side_ - 1 - step;
      float *row = x + i * stride;
      std::copy_n(b + i * stride, count, row);
      for (std::int64_t before = 0; before < step; ++before) {
        const auto j = isLower_ ? before : side_ - 1 - before;
        subtractScaled(row, x + j * stride, a[i * side_ + j], count);
      }
      const float divisor = isUnit_ ? 1 : a[i * side_ + i];
      for (std::int64_t c = 0; c < count; ++c) {
        row[c] /= divisor;
      }
    }
  }

  // Each unknown leaves its share of the equations behind it.
  void solveRow(const float *a, const float *b, float *x) const {
    std::copy_n(b, side_, x);
    for (std::int64_t step = 0; step < side_; ++step) {
      const auto i = isLower_ ? side_ - 1 - step : step;
      x[i] /= isUnit_ ? 1 : a[i * side_ + i];
      const auto begin = isLower_ ? 0 : i + 1;
      const auto end = isLower_ ? i : side_;
      subtractScaled(x + begin, a + i * side_ + begin, x[i], end - begin);
    }
  }

  std::int64_t side_;
  Group b_;
  bool isLeft_, isLower_, isUnit_;
  std::vector<Shard> shards_;
};

template <typename PlanType>
std::unique_ptr<Plan> plan(const Signature &signature) {
  return isTaken(signature) ? std::make_unique<PlanType>(signature) : nullptr;
}

template <typename PlanType>
constexpr KernelEntry entries[] = {
    {"rows", allPlain, plan<PlanType>},
    {"half", allPlain, planAsFloat<plan<PlanType>>}};

} // namespace

std::span<const KernelEntry> choleskyKernels() {
  return entries<CholeskyPlan>;
}
std::span<const KernelEntry> triangularMaskKernels() {
  return entries<MaskPlan>;
}
std::span<const KernelEntry> triangularSolveKernels() {
  return entries<SolvePlan>;
}

} // namespace kernels
