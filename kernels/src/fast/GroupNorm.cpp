// "groupNorm" and "groupNormGrad" of row-major floats, sample by sample.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "ImageShapes.hpp"
#include "LaneKernels.hpp"
#include "PlanHelpers.hpp"

#include <algorithm>

namespace kernels {

namespace {

class GroupNormPlan final : public Plan {
public:
  explicit GroupNormPlan(const Signature &signature)
      : shape_(normShape(signature, 0)),
        epsilon_(static_cast<float>(signature.attributes.getFloat("epsilon"))) {
    const double work =
        0.2 * static_cast<double>(shape_.batch * shape_.sample());
    const std::int64_t count = shardCount(shape_.batch, work);
    for (std::int64_t i = 0; i < count && shape_.batch > 0; ++i) {
      const auto range = shardRange(shape_.batch, count, i);
      shards_.push_back(range);
      Task task{0, work / static_cast<double>(count), {}};
      for (std::size_t operand : {0, 3, 4, 5}) { // x, y, mean, invStdDev
        task.accesses.push_back(
            rowAccess(signature, operand, range.begin, range.end));
      }
      task.accesses.push_back(wholeAccess(signature, 1));
      task.accesses.push_back(wholeAccess(signature, 2));
      tasks_.push_back(std::move(task));
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const auto group = shape_.group();
    for (auto n = shards_[task].begin; n < shards_[task].end; ++n) {
      for (std::int64_t g = 0; g < shape_.groups; ++g) {
        const std::int64_t at =
            n * shape_.sample() + g * group.channels * group.size;
        const std::int64_t statistic = n * shape_.groups + g;
        selectedLoops().norm.forward(
            group, dataOf<const float>(operands, 0) + at,
            dataOf<const float>(operands, 1) + g * group.channels,
            dataOf<const float>(operands, 2) + g * group.channels, epsilon_,
            dataOf<float>(operands, 3) + at,
            dataOf<float>(operands, 4) + statistic,
            dataOf<float>(operands, 5) + statistic);
      }
    }
  }

private:
  NormShape shape_;
  float epsilon_;
  std::vector<ShardRange> shards_;
};

// Stage 0 forms dx and every shard's share of dgamma and dbeta; stage 1 adds
// those up in the order of the shards.
class GroupNormGradPlan final : public Plan {
public:
  explicit GroupNormGradPlan(const Signature &signature)
      : shape_(normShape(signature, 1)) {
    const double work =
        0.3 * static_cast<double>(shape_.batch * shape_.sample());
    const std::int64_t count = shardCount(shape_.batch, work);
    for (std::int64_t i = 0; i < count && shape_.batch > 0; ++i) {
      const auto range = shardRange(shape_.batch, count, i);
      shards_.push_back(range);
      Task task{0, work / static_cast<double>(count), {}};
      for (std::size_t operand : {0, 1, 3, 4, 5}) { // dy, x, statistics, dx
        task.accesses.push_back(
            rowAccess(signature, operand, range.begin, range.end));
      }
      task.accesses.push_back(wholeAccess(signature, 2));
      tasks_.push_back(std::move(task));
    }
    const auto shares =
        static_cast<std::int64_t>(shards_.size()) * shape_.channels;
    tasks_.push_back({1,
                      0.2 * static_cast<double>(shares),
                      {wholeAccess(signature, 6), wholeAccess(signature, 7)}});
    scratchBytes_ = 2 * static_cast<std::size_t>(shares) * sizeof(float);
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    auto *shares = reinterpret_cast<float *>(memory.scratch);
    if (task + 1 == tasks_.size()) {
      addShares(shares, dataOf<float>(operands, 6));
      addShares(shares + shape_.channels, dataOf<float>(operands, 7));
      return;
    }
    float *dgamma = shares + 2 * task * shape_.channels;
    float *dbeta = dgamma + shape_.channels;
    std::fill_n(dgamma, 2 * shape_.channels, 0.0f);
    const auto group = shape_.group();
    for (auto n = shards_[task].begin; n < shards_[task].end; ++n) {
      for (std::int64_t g = 0; g < shape_.groups; ++g) {
        const std::int64_t channel = g * group.channels;
        const std::int64_t at = n * shape_.sample() + channel * group.size;
        const std::int64_t statistic = n * shape_.groups + g;
        selectedLoops().norm.gradient(
            group, dataOf<const float>(operands, 0) + at,
            dataOf<const float>(operands, 1) + at,
            dataOf<const float>(operands, 2) + channel,
            dataOf<const float>(operands, 3)[statistic],
            dataOf<const float>(operands, 4)[statistic],
            dataOf<float>(operands, 5) + at, dgamma + channel, dbeta + channel);
      }
    }
  }

private:
  // Shares lie two rows of channels apart.
  void addShares(const float *shares, float *sum) const {
    std::fill_n(sum, shape_.channels, 0.0f);
    const auto add =
        selectedLoops().reduce.columns[static_cast<std::size_t>(ReduceOp::Add)];
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      add(sum, shares, 1, shape_.channels);
      shares += 2 * shape_.channels;
    }
  }

  NormShape shape_;
  std::vector<ShardRange> shards_;
};

template <typename NormPlan>
std::unique_ptr<Plan> plan(const Signature &signature) {
  if (!isAllFloat(signature) || !isAllRowMajor(signature)) {
    return nullptr;
  }
  return std::make_unique<NormPlan>(signature);
}

} // namespace

std::span<const KernelEntry> groupNormKernels() {
  static const KernelEntry entries[] = {
      laneGroupNorm,
      {"samples", allPlain, plan<GroupNormPlan>},
      {"half", allPlain, planAsFloat<plan<GroupNormPlan>>}};
  return entries;
}
std::span<const KernelEntry> groupNormGradKernels() {
  static const KernelEntry entries[] = {
      laneGroupNormGrad,
      {"samples", allPlain, plan<GroupNormGradPlan>},
      {"half", allPlain, planAsFloat<plan<GroupNormGradPlan>>}};
  return entries;
}

} // namespace kernels
