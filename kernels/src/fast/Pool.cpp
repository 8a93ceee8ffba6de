// "pool" and "poolGrad" of row-major floats, a row of outputs at a time: the
// loops run along the innermost dimension for one element of the windows.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "PlanHelpers.hpp"

#include "kinds/FieldPool.hpp"
#include "loops/Loops.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace kernels {

namespace {

constexpr std::size_t maxRank = 8;
using Index = std::array<std::int64_t, maxRank>;

// Walks over the rows of a plane, and over the window elements of a row.
class RowWalk {
public:
  explicit RowWalk(const FieldPool &pool) : pool_(pool) {
    for (std::size_t d = 0; d + 1 < pool.dims.size(); ++d) {
      rows_ *= pool.dims[d].out;
      kernelRows_ *= pool.dims[d].kernel;
    }
  }

  const FieldPool &pool() const { return pool_; }
  const FieldPool::Dimension &inner() const { return pool_.dims.back(); }
  std::int64_t rows() const { return rows_; }

  // Calls visit(input offset of the row's first element, first output, count)
  // for every window element that lies inside for some outputs of row `row`;
  // the offset counts from the plane's first element.
  template <typename Visit>
  void forEachElement(std::int64_t row, const Visit &visit) const {
    Index output{};
    unravel(row, &FieldPool::Dimension::out, output);
    for (std::int64_t k = 0; k < kernelRows_; ++k) {
      Index window{};
      unravel(k, &FieldPool::Dimension::kernel, window);
      std::int64_t offset = 0;
      bool isInside = true;
      for (std::size_t d = 0; d + 1 < pool_.dims.size(); ++d) {
        const auto &dim = pool_.dims[d];
        const auto at = dim.inputOf(output[d], window[d]);
        isInside = isInside && dim.isInside(at);
        offset = offset * dim.in + at;
      }
      if (!isInside) {
        continue;
      }
      for (std::int64_t q = 0; q < inner().kernel; ++q) {
        const auto range = inner().outputsInside(q);
        if (range.begin < range.end) {
          visit(offset * inner().in + inner().inputOf(range.begin, q),
                range.begin, range.end - range.begin);
        }
      }
    }
  }

  // Elements inside the windows of a row, all dimensions but the innermost.
  std::int64_t outerElements(std::int64_t row) const {
    Index output{};
    unravel(row, &FieldPool::Dimension::out, output);
    std::int64_t count = 1;
    for (std::size_t d = 0; d + 1 < pool_.dims.size(); ++d) {
      count *= pool_.dims[d].elementsInside(output[d]);
    }
    return count;
  }

private:
  void unravel(std::int64_t number, std::int64_t FieldPool::Dimension::*extent,
               Index &index) const {
    for (std::size_t d = pool_.dims.size() - 1; d-- > 0;) {
      index[d] = number % (pool_.dims[d].*extent);
      number /= pool_.dims[d].*extent;
    }
  }

  FieldPool pool_;
  std::int64_t rows_ = 1;       // of outputs, in a plane
  std::int64_t kernelRows_ = 1; // of a window
};

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

double workOf(const FieldPool &pool) {
  double window = 1;
  for (const auto &dim : pool.dims) {
    window *= static_cast<double>(dim.kernel);
  }
  return 0.1 * window *
         static_cast<double>(pool.planes() * pool.planeOutputs());
}

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
  }

  void run(std::uint32_t task, std::byte *const *operands,
           std::byte *) const override {
    const bool isMax = walk_.pool().op == PoolOp::Max;
    const auto add = selectedLoops().reduce.columns[static_cast<std::size_t>(
        isMax ? ReduceOp::Max : ReduceOp::Add)];
    const auto width = walk_.inner().out;
    for (auto i = shards_[task].begin; i < shards_[task].end; ++i) {
      const auto row = i % walk_.rows();
      const auto *x = dataOf<const float>(operands, 0) +
                      i / walk_.rows() * walk_.pool().planeInputs();
      auto *y = dataOf<float>(operands, 1) + i * width;
      std::fill_n(y, width,
                  isMax ? -std::numeric_limits<float>::infinity() : 0.0f);
      walk_.forEachElement(
          row, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
            add(y + to, x + from, walk_.inner().stride, count);
          });
      if (!factors_.empty()) {
        selectedLoops().poolRows.multiply(y, y, factors_.data() + row * width,
                                          width);
      }
    }
  }

private:
  RowWalk walk_;
  std::vector<float> factors_;
  std::vector<ShardRange> shards_;
};

// Shards are runs of planes, since windows overlap within one. Each task has
// two rows of scratch: the gradient to hand out and the equals of a maximum.
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
    rowBytes_ = lineAligned(static_cast<std::size_t>(walk_.inner().out) *
                            sizeof(float));
    scratchBytes_ = 2 * rowBytes_ * tasks_.size();
  }

  void run(std::uint32_t task, std::byte *const *operands,
           std::byte *scratch) const override {
    const auto inputs = walk_.pool().planeInputs();
    const auto outputs = walk_.pool().planeOutputs();
    scratch += 2 * rowBytes_ * task;
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
        runRow(row, data, scratch);
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

  void runRow(std::int64_t row, const Plane &plane, std::byte *scratch) const {
    const auto &loops = selectedLoops().poolRows;
    const auto width = walk_.inner().out;
    const auto stride = walk_.inner().stride;
    const auto begin = row * width;
    auto *share = reinterpret_cast<float *>(scratch);
    const float *gradient = plane.dy + begin;
    if (!factors_.empty()) {
      loops.multiply(share, gradient, factors_.data() + begin, width);
      gradient = share;
    } else if (isScaled_) {
      auto *counts = reinterpret_cast<float *>(scratch + rowBytes_);
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
    walk_.forEachElement(
        row, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
          if (isMax_) {
            loops.addWhereEqual(plane.dx + from, plane.x + from, stride,
                                plane.y + begin + to, gradient + to, count);
          } else {
            loops.addTo(plane.dx + from, stride, gradient + to, count);
          }
        });
  }

  RowWalk walk_;
  std::vector<float> factors_;
  bool isMax_, isScaled_;
  std::vector<ShardRange> shards_;
  std::size_t rowBytes_ = 0;
};

template <typename PlanType>
std::unique_ptr<Plan> makePlan(const Signature &signature, const Shape &x) {
  if (!isAllFloat(signature) || !isAllRowMajor(signature) ||
      x.size() - 2 > maxRank) {
    return nullptr;
  }
  return std::make_unique<PlanType>(signature,
                                    fieldPool("pool", signature.attributes, x));
}

std::unique_ptr<Plan> planForward(const Signature &signature) {
  return makePlan<PoolPlan>(signature, signature.inputs[0].shape);
}

std::unique_ptr<Plan> planGrad(const Signature &signature) {
  return makePlan<PoolGradPlan>(signature, signature.outputs[0].shape);
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
