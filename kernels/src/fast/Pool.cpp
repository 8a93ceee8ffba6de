// "pool" and "poolGrad" of row-major floats. Windows that are whole planes have
// plans of their own. Others go a row of outputs at a time: first down the rows
// of the windows, then along the result; the gradient the other way round.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "PlanHelpers.hpp"
#include "PoolRowWalk.hpp"

#include <algorithm>
#include <limits>

namespace kernels {

namespace {

// What a mean multiplies by, for each output of every row; empty for other
// poolings.
std::vector<float> meanFactors(const RowWalk &walk) {
  std::vector<float> factors;
  if (walk.pool().op != PoolOp::Average) {
    return factors;
  }
  for (std::int64_t row = 0; row < walk.rows(); ++row) {
    for (std::int64_t o = 0; o < walk.inner().out; ++o) {
      const auto count =
          walk.outerElements(row) * walk.inner().elementsInside(o);
      factors.push_back(1.0f /
                        static_cast<float>(std::max<std::int64_t>(count, 1)));
    }
  }
  return factors;
}

// The same pooling with fewer dimensions: rows that windows take whole are
// elements of one long row.
FieldPool merged(FieldPool pool) {
  while (pool.dims.size() > 1) {
    const auto inner = pool.dims.back();
    if (inner.kernel != inner.in || inner.padLower != 0 || inner.out != 1) {
      break;
    }
    pool.dims.pop_back();
    auto &outer = pool.dims.back();
    outer.in *= inner.in;
    outer.kernel *= inner.in;
    outer.stride *= inner.in;
    outer.padLower *= inner.in;
  }
  return pool;
}

bool takesWholePlanes(const FieldPool &pool) {
  const auto &dim = pool.dims.front();
  return pool.dims.size() == 1 && dim.kernel == dim.in && dim.padLower == 0 &&
         dim.out == 1;
}

// A pass down the windows and one along the rows.
double workOf(const FieldPool &pool) {
  double rows = static_cast<double>(pool.planes());
  for (std::size_t d = 0; d + 1 < pool.dims.size(); ++d) {
    rows *= static_cast<double>(pool.dims[d].out * pool.dims[d].kernel);
  }
  const auto &inner = pool.dims.back();
  return rows * (5 + 0.1 * static_cast<double>(inner.in) +
                 0.1 * static_cast<double>(inner.out * inner.kernel));
}

// Shards are runs of planes.
class PlanesPlan final : public Plan {
public:
  PlanesPlan(const Signature &signature, const FieldPool &pool, bool isGradient)
      : op_(pool.op), isGradient_(isGradient), size_(pool.planeInputs()) {
    const auto planes = pool.planes();
    const double work = 0.1 * static_cast<double>(planes * (size_ + 16));
    const auto count = shardCount(planes, work);
    for (std::int64_t i = 0; i < count && planes > 0; ++i) {
      const auto range = shardRange(planes, count, i);
      shards_.push_back(range);
      const auto perOperand = [&](std::size_t operand) {
        const auto size = isGradient == (operand == 1) ? size_ : 1;
        return elementAccess(signature, operand, range.begin * size,
                             range.end * size);
      };
      tasks_.push_back({0,
                        work / static_cast<double>(count),
                        {perOperand(0), perOperand(1)}});
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const auto &loops = selectedLoops().poolRows;
    const auto begin = shards_[task].begin;
    const auto planes = shards_[task].end - begin;
    const float factor =
        op_ == PoolOp::Average ? 1.0f / static_cast<float>(size_) : 1.0f;
    const auto *from = dataOf<const float>(operands, 0);
    auto *to = dataOf<float>(operands, 1);
    if (isGradient_) {
      loops.spreadPlanes(from + begin, planes, size_, factor,
                         to + begin * size_);
    } else if (op_ == PoolOp::Max) {
      loops.planeMaxima(from + begin * size_, planes, size_, to + begin);
    } else {
      loops.planeSums(from + begin * size_, planes, size_, factor, to + begin);
    }
  }

private:
  PoolOp op_;
  bool isGradient_;
  std::int64_t size_; // of a plane
  std::vector<ShardRange> shards_;
};

// Shards are runs of rows.
class PoolPlan final : public Plan {
public:
  PoolPlan(const Signature &signature, const FieldPool &pool)
      : walk_(pool), factors_(meanFactors(walk_)) {
    const std::int64_t rows = pool.planes() * walk_.rows();
    const auto count = shardCount(rows, workOf(pool));
    const auto width = walk_.inner().out;
    for (std::int64_t i = 0; i < count && rows > 0; ++i) {
      const auto range = shardRange(rows, count, i);
      shards_.push_back(range);
      const auto inputs = pool.planeInputs();
      tasks_.push_back(
          {0,
           workOf(pool) / static_cast<double>(count),
           {elementAccess(signature, 0, range.begin / walk_.rows() * inputs,
                          ((range.end - 1) / walk_.rows() + 1) * inputs),
            elementAccess(signature, 1, range.begin * width,
                          range.end * width)}});
    }
    const auto row = walk_.innerRow();
    workspaceBytes_ =
        static_cast<std::size_t>(row.in + row.scratchFloats()) * sizeof(float);
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    const auto width = walk_.inner().out;
    auto *own = reinterpret_cast<float *>(memory.workspace);
    for (auto i = shards_[task].begin; i < shards_[task].end; ++i) {
      const auto *x = dataOf<const float>(operands, 0) +
                      i / walk_.rows() * walk_.pool().planeInputs();
      runRow(i % walk_.rows(), x, dataOf<float>(operands, 1) + i * width, own);
    }
  }

private:
  void runRow(std::int64_t row, const float *x, float *y,
              float *workspace) const {
    const auto &loops = selectedLoops();
    const bool isMax = walk_.pool().op == PoolOp::Max;
    const auto add = loops.reduce.columns[static_cast<std::size_t>(
        isMax ? ReduceOp::Max : ReduceOp::Add)];
    const auto inner = walk_.innerRow();
    std::fill_n(workspace, inner.in,
                isMax ? -std::numeric_limits<float>::infinity() : 0.0f);
    walk_.forEachRow(row, [&](std::int64_t offset) {
      add(workspace, x + offset, 1, inner.in);
    });
    (isMax ? loops.poolRows.maxima : loops.poolRows.sums)(inner, workspace, y,
                                                          workspace + inner.in);
    if (!factors_.empty()) {
      loops.poolRows.multiply(y, y, factors_.data() + row * inner.out,
                              inner.out);
    }
  }

  RowWalk walk_;
  std::vector<float> factors_;
  std::vector<ShardRange> shards_;
};

// Shards are runs of planes, since windows overlap within one. Each task has
// memory for two rows: the gradient to hand out, and the equals of a maximum
// or the gradient handed out along the row.
class PoolGradPlan final : public Plan {
public:
  PoolGradPlan(const Signature &signature, const FieldPool &pool)
      : walk_(pool), factors_(meanFactors(walk_)),
        isMax_(pool.op == PoolOp::Max),
        isScaled_(isMax_ && signature.attributes.getInt("scaled") != 0) {
    const auto planes = pool.planes();
    const auto count = shardCount(planes, 2 * workOf(pool));
    for (std::int64_t i = 0; i < count && planes > 0; ++i) {
      const auto range = shardRange(planes, count, i);
      shards_.push_back(range);
      Task task{0, 2 * workOf(pool) / static_cast<double>(count), {}};
      for (std::size_t operand = 0; operand < signature.operandCount();
           ++operand) {
        const auto elements =
            support::elementCount(signature.operand(operand).shape) / planes;
        task.accesses.push_back(elementAccess(
            signature, operand, range.begin * elements, range.end * elements));
      }
      tasks_.push_back(std::move(task));
    }
    const auto row = walk_.innerRow();
    rowBytes_ = lineAligned(
        static_cast<std::size_t>(std::max(row.in, row.out)) * sizeof(float));
    workspaceBytes_ =
        2 * rowBytes_ +
        static_cast<std::size_t>(row.scratchFloats()) * sizeof(float);
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    const auto inputs = walk_.pool().planeInputs();
    const auto outputs = walk_.pool().planeOutputs();
    for (auto plane = shards_[task].begin; plane < shards_[task].end; ++plane) {
      auto *dx = dataOf<float>(operands, isMax_ ? 3 : 1) + plane * inputs;
      std::fill_n(dx, inputs, 0.0f);
      Plane data{dataOf<const float>(operands, 0) + plane * outputs, nullptr,
                 nullptr, dx};
      if (isMax_) {
        data.x = dataOf<const float>(operands, 1) + plane * inputs;
        data.y = dataOf<const float>(operands, 2) + plane * outputs;
      }
      for (std::int64_t row = 0; row < walk_.rows(); ++row) {
        runRow(row, data, memory.workspace);
      }
    }
  }

private:
  struct Plane {
    const float *dy;
    const float *x; // of a maximum
    const float *y;
    float *dx;
  };

  void runRow(std::int64_t row, const Plane &plane,
              std::byte *workspace) const {
    const auto &loops = selectedLoops().poolRows;
    const auto width = walk_.inner().out;
    const auto stride = walk_.inner().stride;
    const auto begin = row * width;
    auto *share = reinterpret_cast<float *>(workspace);
    const float *gradient = plane.dy + begin;
    if (!factors_.empty()) {
      loops.multiply(share, gradient, factors_.data() + begin, width);
      gradient = share;
    } else if (isScaled_) {
      auto *counts = reinterpret_cast<float *>(workspace + rowBytes_);
      std::fill_n(counts, width, 0.0f);
      walk_.forEachElement(
          row, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
            loops.countEqual(counts + to, plane.x + from, stride,
                             plane.y + begin + to, count);
          });
      // A window without any equal hands nothing out, whatever the quotient.
      loops.divide(share, gradient, counts, width);
      gradient = share;
    }
    if (isMax_) {
      walk_.forEachElement(
          row, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
            loops.addWhereEqual(plane.dx + from, plane.x + from, stride,
                                plane.y + begin + to, gradient + to, count);
          });
      return;
    }
    auto *spread = reinterpret_cast<float *>(workspace + rowBytes_);
    loops.spread(walk_.innerRow(), gradient, spread,
                 reinterpret_cast<float *>(workspace + 2 * rowBytes_));
    const auto add =
        selectedLoops().reduce.columns[static_cast<std::size_t>(ReduceOp::Add)];
    walk_.forEachRow(row, [&](std::int64_t offset) {
      add(plane.dx + offset, spread, 1, walk_.inner().in);
    });
  }

  RowWalk walk_;
  std::vector<float> factors_;
  bool isMax_, isScaled_;
  std::vector<ShardRange> shards_;
  std::size_t rowBytes_ = 0;
};

// The pooling of rows of x, or nothing if they are not for these plans.
std::optional<FieldPool> poolOf(const Signature &signature, const Shape &x) {
  if (!isAllFloat(signature) || !isAllRowMajor(signature) ||
      x.size() - 2 > RowWalk::maxRank) {
    return std::nullopt;
  }
  return merged(fieldPool("pool", signature.attributes, x));
}

std::unique_ptr<Plan> planForward(const Signature &signature) {
  const auto pool = poolOf(signature, signature.inputs[0].shape);
  if (!pool) {
    return nullptr;
  }
  if (takesWholePlanes(*pool)) {
    return std::make_unique<PlanesPlan>(signature, *pool, false);
  }
  return std::make_unique<PoolPlan>(signature, *pool);
}

std::unique_ptr<Plan> planGrad(const Signature &signature) {
  const auto pool = poolOf(signature, signature.outputs[0].shape);
  if (!pool) {
    return nullptr;
  }
  if (takesWholePlanes(*pool) && pool->op != PoolOp::Max) {
    return std::make_unique<PlanesPlan>(signature, *pool, true);
  }
  return std::make_unique<PoolGradPlan>(signature, *pool);
}

constexpr KernelEntry forwardEntries[] = {
    {"rows", allPlain, planForward},
    {"half", allPlain, planAsFloat<planForward>}};
constexpr KernelEntry gradEntries[] = {
    {"rows", allPlain, planGrad}, {"half", allPlain, planAsFloat<planGrad>}};

} // namespace

std::span<const KernelEntry> poolKernels() {
  return forwardEntries;
}
std::span<const KernelEntry> poolGradKernels() {
  return gradEntries;
}

} // namespace kernels
