// "reduce" of floats over any strides. Dimensions are ordered by the input's
// memory and merged; the innermost one is either reduced (rows) or kept
// (columns).
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
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
  constexpr std::string_view names[] = {"ADD", "SQUARE_ADD", "MUL", "MIN",
                                        "MAX"};
  return static_cast<ReduceOp>(
      std::find(std::begin(names), std::end(names), name) - std::begin(names));
}

float startOf(ReduceOp op) {
  switch (op) {
  case ReduceOp::Mul:
    return 1;
  case ReduceOp::Min:
    return std::numeric_limits<float>::infinity();
  case ReduceOp::Max:
    return -std::numeric_limits<float>::infinity();
  default:
    return 0;
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

// Shards cut the outermost kept dimension. Where that is the innermost of all,
// it is the columns that are cut.
class ReducePlan final : public Plan {
public:
  explicit ReducePlan(const Signature &signature)
      : op_(parseOp(signature.attributes.getString("op"))),
        scale_(static_cast<float>(signature.attributes.getFloat("scale"))) {
    auto dimensions = makeDimensions(signature);
    if (dimensions.empty()) { // one element: a reduction over one
      dimensions.push_back({1, 1, 0, true});
    }
    inner_ = dimensions.back();
    dimensions.pop_back();
    for (const auto &dimension : dimensions) {
      (dimension.isReduced ? reduced_ : kept_).push_back(dimension);
    }
    if (!inner_.isReduced && kept_.empty() && inner_.extent > 64) {
      cutsColumns_ = true;
    }
    addTasks(signature);
  }

  void run(std::uint32_t task, std::byte *const *operands,
           std::byte *scratch) const override {
    const auto *x = dataOf<const float>(operands, 0);
    auto *y = dataOf<float>(operands, 1);
    const auto range = shards_[task];
    auto *totals = reinterpret_cast<float *>(scratch + task * taskScratch_);
    if (cutsColumns_) {
      columns(x + range.begin * inner_.inStride,
              y + range.begin * inner_.outStride, range.end - range.begin,
              totals);
      return;
    }
    const Dimension outer = kept_.empty() ? Dimension{} : kept_.front();
    const auto others = std::span(kept_).subspan(kept_.empty() ? 0 : 1);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      walk(others, i * outer.inStride, i * outer.outStride,
           [&](std::int64_t in, std::int64_t out) {
             if (inner_.isReduced) {
               row(x + in, y + out);
             } else {
               columns(x + in, y + out, inner_.extent, totals);
             }
           });
    }
  }

private:
  void addTasks(const Signature &signature) {
    std::int64_t elements = support::elementCount(signature.inputs[0].shape);
    const std::int64_t results =
        support::elementCount(signature.outputs[0].shape);
    if (results == 0) {
      return;
    }
    elements = std::max(elements, results);
    constexpr double nanosecondsPerElement = 0.08;
    const double work = nanosecondsPerElement * static_cast<double>(elements);
    const std::int64_t items = cutsColumns_    ? inner_.extent
                               : kept_.empty() ? 1
                                               : kept_[0].extent;
    const std::int64_t count = shardCount(items, work);
    for (std::int64_t i = 0; i < count; ++i) {
      shards_.push_back(shardRange(items, count, i));
      tasks_.push_back({0,
                        work / static_cast<double>(count),
                        {wholeAccess(signature, 0),
                         writeAccess(signature, shards_.back())}});
    }
    taskScratch_ = inner_.isReduced
                       ? 0
                       : lineAligned(static_cast<std::size_t>(inner_.extent) *
                                     sizeof(float));
    scratchBytes_ = taskScratch_ * shards_.size();
  }

  // The output's elements of one shard.
  Access writeAccess(const Signature &signature, ShardRange range) const {
    const std::int64_t stride = cutsColumns_    ? inner_.outStride
                                : kept_.empty() ? 0
                                                : kept_[0].outStride;
    const Access whole = wholeAccess(signature, 1);
    if (stride <= 0) {
      return whole;
    }
    std::int64_t last = (range.end - 1) * stride;
    if (!cutsColumns_) {
      for (std::size_t d = 1; d < kept_.size(); ++d) {
        if (kept_[d].outStride < 0) {
          return whole;
        }
        last += (kept_[d].extent - 1) * kept_[d].outStride;
      }
      last += inner_.isReduced ? 0 : (inner_.extent - 1) * inner_.outStride;
    }
    return elementAccess(signature, 1, range.begin * stride, last + 1);
  }

  void row(const float *x, float *y) const {
    const auto function =
        selectedLoops().reduce.row[static_cast<std::size_t>(op_)];
    float total = startOf(op_);
    walk(reduced_, 0, 0, [&](std::int64_t in, std::int64_t) {
      total = function(total, x + in, inner_.inStride, inner_.extent);
    });
    *y = total * scale_;
  }

  void columns(const float *x, float *y, std::int64_t count,
               float *totals) const {
    const auto function =
        selectedLoops().reduce.columns[static_cast<std::size_t>(op_)];
    std::fill_n(totals, count, startOf(op_));
    walk(reduced_, 0, 0, [&](std::int64_t in, std::int64_t) {
      function(totals, x + in, inner_.inStride, count);
    });
    for (std::int64_t i = 0; i < count; ++i) {
      y[i * inner_.outStride] = totals[i] * scale_;
    }
  }

  ReduceOp op_;
  float scale_;
  Dimension inner_;
  std::vector<Dimension> kept_;
  std::vector<Dimension> reduced_;
  bool cutsColumns_ = false;
  std::vector<ShardRange> shards_;
  std::size_t taskScratch_ = 0;
};

std::unique_ptr<Plan> plan(const Signature &signature) {
  if (!isAllFloat(signature)) {
    return nullptr;
  }
  return std::make_unique<ReducePlan>(signature);
}

} // namespace

std::span<const KernelEntry> reduceKernels() {
  static const KernelEntry entries[] = {laneReduce,
                                        {"strided", allPlain, plan},
                                        {"half", allPlain, planAsFloat<plan>}};
  return entries;
}

} // namespace kernels
