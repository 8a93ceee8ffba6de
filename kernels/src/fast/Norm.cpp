// Normalisations of row-major floats by statistic: a shard holds neighbouring
// channels and forms their statistics whole.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "NormBlocks.hpp"
#include "PlanHelpers.hpp"

#include "kinds/NormShape.hpp"
#include "loops/Loops.hpp"

#include <algorithm>

namespace kernels {

namespace {

// Shards are runs of statistics (outer index and channel). `perStatistic`
// operands have one value for each, the others are activations.
class StatisticsPlan : public Plan {
public:
  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const final {
    auto *own = reinterpret_cast<float *>(memory.workspace);
    for (auto at = shards_[task].begin; at < shards_[task].end;) {
      const std::int64_t outer = at / shape_.channels;
      const std::int64_t channel = at % shape_.channels;
      const std::int64_t channels = std::min(
          {shape_.channels - channel, shards_[task].end - at, blockChannels_});
      runBlock(
          {shape_.rows, shape_.rowStride(), channels, shape_.size},
          {operands,
           outer * shape_.rows * shape_.rowStride() + channel * shape_.size, at,
           own});
      at += channels;
    }
  }

protected:
  using Block = NormRowLoops::Block;

  // Where a block is: its first activation and statistic, and memory of its
  // own.
  struct Place {
    std::byte *const *operands;
    std::int64_t activation, statistic;
    float *workspace;

    const float *acts(std::size_t operand) const {
      return dataOf<const float>(operands, operand) + activation;
    }
    float *actsOut(std::size_t operand) const {
      return dataOf<float>(operands, operand) + activation;
    }
    float *statistics(std::size_t operand) const {
      return dataOf<float>(operands, operand) + statistic;
    }
  };

  // A task's workspace: the loops' own, which is a number per channel or, of
  // short ones, three rows; then `valuesPerStatistic` numbers for each.
  StatisticsPlan(const Signature &signature, const NormRows &shape,
                 std::initializer_list<std::size_t> activations,
                 std::int64_t valuesPerStatistic, double nanoseconds)
      : shape_(shape) {
    const double work = nanoseconds * static_cast<double>(shape.elements());
    const auto items = shape.statistics();
    const auto count = shardCount(items, work);
    const auto slab = shape.rows * shape.rowStride();
    std::int64_t widest = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto range = shardRange(items, count, i);
      widest = std::max(widest, range.end - range.begin);
      shards_.push_back(range);
      Task task{0, work / static_cast<double>(count), {}};
      for (std::size_t operand = 0; operand < signature.operandCount();
           ++operand) {
        const bool isActivation =
            std::find(activations.begin(), activations.end(), operand) !=
            activations.end();
        const auto begin = shape.rows == 1
                               ? range.begin * shape.size
                               : range.begin / shape.channels * slab;
        const auto end = shape.rows == 1
                             ? range.end * shape.size
                             : ((range.end - 1) / shape.channels + 1) * slab;
        task.accesses.push_back(
            isActivation
                ? elementAccess(signature, operand, begin, end)
                : elementAccess(signature, operand, range.begin, range.end));
      }
      tasks_.push_back(std::move(task));
    }
    blockChannels_ = blockOf(shape);
    stride_ = std::min({widest, shape.channels, blockChannels_});
    loopScratch_ = stride_ * (shape.size < shortChannel ? 3 * shape.size : 1);
    workspaceBytes_ =
        static_cast<std::size_t>(loopScratch_ + valuesPerStatistic * stride_) *
        sizeof(float);
  }

  virtual void runBlock(const Block &block, const Place &place) const = 0;

  // Number `index` of the values kept for the statistics of a block.
  float *values(const Place &place, std::int64_t index) const {
    return place.workspace + loopScratch_ + index * stride_;
  }
  float count() const { return static_cast<float>(shape_.count()); }

private:
  static constexpr std::int64_t shortChannel = 16;

  // Channels whose elements stay in the cache from the first pass over them to
  // the last. Short channels are walked through row by row instead.
  static std::int64_t blockOf(const NormRows &shape) {
    constexpr std::int64_t cachedElements = 1 << 14;
    return shape.size < shortChannel
               ? shape.channels
               : std::max<std::int64_t>(cachedElements / shape.count(), 1);
  }

  NormRows shape_;
  std::vector<ShardRange> shards_;
  std::int64_t blockChannels_ = 1;
  std::int64_t loopScratch_ = 0, stride_ = 0; // floats
};

class NormStatisticsPlan final : public StatisticsPlan {
public:
  explicit NormStatisticsPlan(const Signature &signature)
      : StatisticsPlan(signature, normRows(signature.inputs[0].shape), {0}, 0,
                       0.12),
        epsilon_(static_cast<float>(signature.attributes.getFloat("epsilon"))),
        isUnbiased_(signature.attributes.getInt("unbiased") != 0) {}

private:
  void runBlock(const Block &block, const Place &place) const override {
    selectedLoops().normRows.statistics(
        block, place.acts(0), epsilon_, count() - (isUnbiased_ ? 1.0f : 0.0f),
        place.statistics(1), place.statistics(2), place.workspace);
  }

  float epsilon_;
  bool isUnbiased_;
};

class NormParamGradPlan final : public StatisticsPlan {
public:
  explicit NormParamGradPlan(const Signature &signature)
      : StatisticsPlan(signature, normRows(signature.inputs[0].shape), {0, 1},
                       1, 0.15) {}

private:
  void runBlock(const Block &block, const Place &place) const override {
    float *mean = values(place, 0);
    std::fill_n(mean, block.channels, 0.0f);
    selectedLoops().normRows.sums(block, place.acts(0), place.acts(1), mean,
                                  place.statistics(2), place.statistics(3),
                                  place.workspace);
  }
};

class NormStatisticsGradPlan final : public StatisticsPlan {
public:
  explicit NormStatisticsGradPlan(const Signature &signature)
      : StatisticsPlan(signature, normRows(signature.inputs[0].shape),
                       {0, 1, 3}, 3, 0.3) {}

private:
  void runBlock(const Block &block, const Place &place) const override {
    const auto &loops = selectedLoops().normRows;
    const float *invStdDev = place.statistics(2);
    float *byX = values(place, 0);
    float *shift = values(place, 1);
    float *mean = values(place, 2);
    std::fill_n(mean, block.channels, 0.0f);
    loops.sums(block, place.acts(0), place.acts(1), mean, byX, shift,
               place.workspace);
    for (std::int64_t c = 0; c < block.channels; ++c) {
      byX[c] *= -invStdDev[c] / count();
      shift[c] *= -invStdDev[c] / count();
    }
    loops.combine(block, place.acts(0), place.acts(1), invStdDev, byX, shift,
                  place.actsOut(3), place.workspace);
  }
};

class BatchNormPlan final : public StatisticsPlan {
public:
  explicit BatchNormPlan(const Signature &signature)
      : StatisticsPlan(signature, batchNormRows(signature.inputs[0].shape),
                       {0, 3}, 2, 0.25),
        epsilon_(static_cast<float>(signature.attributes.getFloat("epsilon"))) {
  }

private:
  void runBlock(const Block &block, const Place &place) const override {
    const auto &loops = selectedLoops().normRows;
    const float *mean = place.statistics(4);
    const float *invStdDev = place.statistics(5);
    loops.statistics(block, place.acts(0), epsilon_, count(),
                     place.statistics(4), place.statistics(5), place.workspace);
    float *factor = values(place, 0);
    float *shift = values(place, 1);
    for (std::int64_t c = 0; c < block.channels; ++c) {
      factor[c] = invStdDev[c] * place.statistics(1)[c];
      shift[c] = place.statistics(2)[c] - mean[c] * factor[c];
    }
    loops.affine(block, place.acts(0), factor, shift, place.actsOut(3),
                 place.workspace);
  }

  float epsilon_;
};

class BatchNormGradPlan final : public StatisticsPlan {
public:
  explicit BatchNormGradPlan(const Signature &signature)
      : StatisticsPlan(signature, batchNormRows(signature.inputs[1].shape),
                       {0, 1, 5}, 3, 0.3) {}

private:
  void runBlock(const Block &block, const Place &place) const override {
    const auto &loops = selectedLoops().normRows;
    const float *gamma = place.statistics(2);
    const float *mean = place.statistics(3);
    const float *invStdDev = place.statistics(4);
    float *byGamma = place.statistics(6);
    const float *byBeta = place.statistics(7);
    loops.sums(block, place.acts(0), place.acts(1), mean, byGamma,
               place.statistics(7), place.workspace);
    float *byDy = values(place, 0);
    float *byX = values(place, 1);
    float *shift = values(place, 2);
    for (std::int64_t c = 0; c < block.channels; ++c) {
      byGamma[c] *= invStdDev[c];
      byDy[c] = gamma[c] * invStdDev[c];
      byX[c] = -byDy[c] * invStdDev[c] * byGamma[c] / count();
      shift[c] = -byDy[c] * byBeta[c] / count() - mean[c] * byX[c];
    }
    loops.combine(block, place.acts(0), place.acts(1), byDy, byX, shift,
                  place.actsOut(5), place.workspace);
  }
};

template <typename PlanType>
std::unique_ptr<Plan> plan(const Signature &signature) {
  // Statistics of nothing are left to the reference.
  const bool isEmpty = support::elementCount(signature.inputs[0].shape) == 0;
  if (isEmpty || !isAllFloat(signature) || !isAllRowMajor(signature)) {
    return nullptr;
  }
  return std::make_unique<PlanType>(signature);
}

template <typename PlanType> std::span<const KernelEntry> entriesOf() {
  static constexpr KernelEntry entries[] = {
      {"statistics", allPlain, plan<PlanType>},
      {"half", allPlain, planAsFloat<plan<PlanType>>}};
  return entries;
}

} // namespace

std::span<const KernelEntry> normStatisticsKernels() {
  return entriesOf<NormStatisticsPlan>();
}
std::span<const KernelEntry> normStatisticsGradKernels() {
  return entriesOf<NormStatisticsGradPlan>();
}
std::span<const KernelEntry> normParamGradKernels() {
  return entriesOf<NormParamGradPlan>();
}
std::span<const KernelEntry> batchNormKernels() {
  static const KernelEntry entries[] = {
      blockedBatchNorm,
      {"statistics", allPlain, plan<BatchNormPlan>},
      {"half", allPlain, planAsFloat<plan<BatchNormPlan>>}};
  return entries;
}
std::span<const KernelEntry> batchNormGradKernels() {
  static const KernelEntry entries[] = {
      blockedBatchNormGrad,
      {"statistics", allPlain, plan<BatchNormGradPlan>},
      {"half", allPlain, planAsFloat<plan<BatchNormGradPlan>>}};
  return entries;
}

} // namespace kernels
