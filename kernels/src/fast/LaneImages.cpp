// Group normalisation and channel sums in Layout::BatchLanes16, so that a
// network of small convolutions stays in that layout; sums also in
// blocks of channels, where images lie so already.
#include "ImageShapes.hpp"
#include "LaneKernels.hpp"
#include "PlanHelpers.hpp"

#include <algorithm>
#include <initializer_list>

namespace kernels {

namespace {

constexpr auto lanes = Layout::BatchLanes16;
using Layouts = std::optional<std::vector<Layout>>;

// Work over `items` equal pieces of every operand that is in lanes; the others
// are read or written whole.
class LanePlan : public Plan {
protected:
  LanePlan(const Signature &signature, std::int64_t items, double work) {
    const std::int64_t count = shardCount(items, work);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto range = shardRange(items, count, i);
      shards_.push_back(range);
      Task task{0, work / static_cast<double>(count), {}};
      for (std::size_t operand = 0; operand < signature.operandCount();
           ++operand) {
        const auto &spec = signature.operand(operand);
        if (spec.layout != Layout::Plain) {
          const auto piece = storageElements(spec.layout, spec.shape) / items;
          task.accesses.push_back(elementAccess(
              signature, operand, range.begin * piece, range.end * piece));
        }
      }
      tasks_.push_back(std::move(task));
    }
  }

  std::vector<ShardRange> shards_;
};

double elementsOf(const OperandSpec &spec) {
  return static_cast<double>(storageElements(spec.layout, spec.shape));
}

// The statistics of a block's samples between [sample][group] and lanes.
void scatter(const float *lanesOfGroup, std::int64_t count, float *statistics,
             std::int64_t groups) {
  for (std::int64_t lane = 0; lane < count; ++lane) {
    statistics[lane * groups] = lanesOfGroup[lane];
  }
}
void gather(const float *statistics, std::int64_t groups, std::int64_t count,
            float *lanesOfGroup) {
  std::fill_n(lanesOfGroup, laneSamples, 0.0f);
  for (std::int64_t lane = 0; lane < count; ++lane) {
    lanesOfGroup[lane] = statistics[lane * groups];
  }
}

class GroupNormPlan final : public LanePlan {
public:
  explicit GroupNormPlan(const Signature &signature)
      : LanePlan(signature,
                 laneBlocks(signature.inputs[0].shape[0]) *
                     signature.attributes.getInt("groups"),
                 0.08 * elementsOf(signature.inputs[0])),
        shape_(normShape(signature, 0)),
        epsilon_(static_cast<float>(signature.attributes.getFloat("epsilon"))) {
    for (auto &task : tasks_) {
      for (std::size_t operand : {1, 2, 4, 5}) {
        task.accesses.push_back(wholeAccess(signature, operand));
      }
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const auto group = shape_.group();
    for (auto i = shards_[task].begin; i < shards_[task].end; ++i) {
      const std::int64_t block = i / shape_.groups;
      const std::int64_t g = i % shape_.groups;
      const std::int64_t inUse = lanesInUse(shape_.batch, block);
      alignas(64) float mean[laneSamples];
      alignas(64) float invStdDev[laneSamples];
      selectedLoops().lanes.groupNorm(
          group, dataOf<const float>(operands, 0) + i * groupElements(),
          dataOf<const float>(operands, 1) + g * group.channels,
          dataOf<const float>(operands, 2) + g * group.channels, epsilon_,
          inUse, dataOf<float>(operands, 3) + i * groupElements(), mean,
          invStdDev);
      const std::int64_t at = block * laneSamples * shape_.groups + g;
      scatter(mean, inUse, dataOf<float>(operands, 4) + at, shape_.groups);
      scatter(invStdDev, inUse, dataOf<float>(operands, 5) + at, shape_.groups);
    }
  }

private:
  std::int64_t groupElements() const {
    return shape_.group().channels * shape_.size * laneSamples;
  }

  NormShape shape_;
  float epsilon_;
};

// dgamma and dbeta are formed per block and added up in order by a last task.
class GroupNormGradPlan final : public LanePlan {
public:
  explicit GroupNormGradPlan(const Signature &signature)
      : LanePlan(signature,
                 laneBlocks(signature.inputs[1].shape[0]) *
                     signature.attributes.getInt("groups"),
                 0.15 * elementsOf(signature.inputs[1])),
        shape_(normShape(signature, 1)), blocks_(laneBlocks(shape_.batch)) {
    for (auto &task : tasks_) {
      for (std::size_t operand : {2, 3, 4}) {
        task.accesses.push_back(wholeAccess(signature, operand));
      }
    }
    tasks_.push_back({1,
                      0.5 * static_cast<double>(blocks_ * shape_.channels),
                      {wholeAccess(signature, 6), wholeAccess(signature, 7)}});
    scratchBytes_ =
        2 * static_cast<std::size_t>(blocks_ * shape_.channels) * sizeof(float);
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    auto *dgamma = reinterpret_cast<float *>(memory.scratch);
    auto *dbeta = dgamma + blocks_ * shape_.channels;
    if (task + 1 == tasks_.size()) {
      addBlocks(dgamma, dataOf<float>(operands, 6));
      addBlocks(dbeta, dataOf<float>(operands, 7));
      return;
    }
    const auto group = shape_.group();
    for (auto i = shards_[task].begin; i < shards_[task].end; ++i) {
      const std::int64_t block = i / shape_.groups;
      const std::int64_t g = i % shape_.groups;
      const std::int64_t inUse = lanesInUse(shape_.batch, block);
      const std::int64_t at = block * laneSamples * shape_.groups + g;
      alignas(64) float mean[laneSamples];
      alignas(64) float invStdDev[laneSamples];
      gather(dataOf<const float>(operands, 3) + at, shape_.groups, inUse, mean);
      gather(dataOf<const float>(operands, 4) + at, shape_.groups, inUse,
             invStdDev);
      const std::int64_t elements = i * groupElements();
      const std::int64_t sums = i * group.channels;
      selectedLoops().lanes.groupNormGrad(
          group, dataOf<const float>(operands, 0) + elements,
          dataOf<const float>(operands, 1) + elements,
          dataOf<const float>(operands, 2) + g * group.channels, mean,
          invStdDev, inUse, dataOf<float>(operands, 5) + elements,
          dgamma + sums, dbeta + sums);
    }
  }

private:
  std::int64_t groupElements() const {
    return shape_.group().channels * shape_.size * laneSamples;
  }

  void addBlocks(const float *blocks, float *sum) const {
    std::copy_n(blocks, shape_.channels, sum);
    for (std::int64_t b = 1; b < blocks_; ++b) {
      for (std::int64_t c = 0; c < shape_.channels; ++c) {
        sum[c] += blocks[b * shape_.channels + c];
      }
    }
  }

  NormShape shape_;
  std::int64_t blocks_;
};

// The sum of every channel: a convolution's bias gradient.
class ChannelSumPlan final : public Plan {
public:
  explicit ChannelSumPlan(const Signature &signature)
      : blocks_(laneBlocks(signature.inputs[0].shape[0])),
        channels_(signature.inputs[0].shape[1]),
        size_(signature.inputs[0].shape[2] * signature.inputs[0].shape[3]),
        scale_(static_cast<float>(signature.attributes.getFloat("scale"))) {
    const double work = 0.03 * elementsOf(signature.inputs[0]);
    const std::int64_t count = shardCount(channels_, work);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto range = shardRange(channels_, count, i);
      shards_.push_back(range);
      auto accesses = channelAccesses(signature, 0, range);
      accesses.push_back(elementAccess(signature, 1, range.begin, range.end));
      tasks_.push_back(
          {0, work / static_cast<double>(count), std::move(accesses)});
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const auto *x = dataOf<const float>(operands, 0);
    for (auto c = shards_[task].begin; c < shards_[task].end; ++c) {
      float sum = 0;
      for (std::int64_t b = 0; b < blocks_; ++b) {
        sum += selectedLoops().lanes.sum(
            x + (b * channels_ + c) * size_ * laneSamples, size_);
      }
      dataOf<float>(operands, 1)[c] = sum * scale_;
    }
  }

private:
  std::int64_t blocks_, channels_, size_;
  float scale_;
  std::vector<ShardRange> shards_;
};

// The sums of a block of channels at a time.
template <std::int64_t Block> class BlockedChannelSumPlan final : public Plan {
public:
  explicit BlockedChannelSumPlan(const Signature &signature)
      : samples_(signature.inputs[0].shape[0]),
        blocks_(signature.inputs[0].shape[1] / Block),
        size_(signature.inputs[0].shape[2] * signature.inputs[0].shape[3]),
        scale_(static_cast<float>(signature.attributes.getFloat("scale"))) {
    const double work = 0.03 * elementsOf(signature.inputs[0]);
    const std::int64_t count = shardCount(blocks_, work);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto range = shardRange(blocks_, count, i);
      shards_.push_back(range);
      tasks_.push_back({0,
                        work / static_cast<double>(count),
                        {wholeAccess(signature, 0),
                         elementAccess(signature, 1, range.begin * Block,
                                       range.end * Block)}});
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const auto *x = dataOf<const float>(operands, 0);
    for (auto b = shards_[task].begin; b < shards_[task].end; ++b) {
      float *sums = dataOf<float>(operands, 1) + b * Block;
      std::fill_n(sums, Block, 0.0f);
      for (std::int64_t n = 0; n < samples_; ++n) {
        const float *pixel = x + (n * blocks_ + b) * size_ * Block;
        float ofSample[Block] = {};
        for (std::int64_t p = 0; p < size_; ++p, pixel += Block) {
          for (std::int64_t c = 0; c < Block; ++c) {
            ofSample[c] += pixel[c];
          }
        }
        for (std::int64_t c = 0; c < Block; ++c) {
          sums[c] += scale_ * ofSample[c];
        }
      }
    }
  }

private:
  std::int64_t samples_, blocks_, size_;
  float scale_;
  std::vector<ShardRange> shards_;
};

// Everything but the images must lie in order.
bool isRestRowMajor(const Signature &signature,
                    std::initializer_list<std::size_t> operands) {
  return std::all_of(operands.begin(), operands.end(), [&](std::size_t i) {
    return signature.operand(i).isRowMajor();
  });
}

Layouts normLayouts(const Signature &signature) {
  if (!isForLanes(signature.inputs[0]) ||
      !isRestRowMajor(signature, {1, 2, 4, 5})) {
    return std::nullopt;
  }
  constexpr auto plain = Layout::Plain;
  return std::vector{lanes, plain, plain, lanes, plain, plain};
}
std::unique_ptr<Plan> planNorm(const Signature &signature) {
  return std::make_unique<GroupNormPlan>(signature);
}

Layouts normGradLayouts(const Signature &signature) {
  if (!isForLanes(signature.inputs[1]) ||
      !isRestRowMajor(signature, {2, 3, 4, 6, 7})) {
    return std::nullopt;
  }
  constexpr auto plain = Layout::Plain;
  return std::vector{lanes, lanes, plain, plain, plain, lanes, plain, plain};
}
std::unique_ptr<Plan> planNormGrad(const Signature &signature) {
  return std::make_unique<GroupNormGradPlan>(signature);
}

// As the image lies already, in blocks of channels, or in lanes.
std::optional<Layout> layoutOfSum(const OperandSpec &image) {
  for (const auto blocked :
       {Layout::ChannelBlocked16, Layout::ChannelBlocked8}) {
    if (image.found == blocked && fitsBlocks(image, blocked)) {
      return blocked;
    }
  }
  return isForLanes(image) ? std::optional(lanes) : std::nullopt;
}

Layouts reduceLayouts(const Signature &signature) {
  const auto layout = layoutOfSum(signature.inputs[0]);
  if (!layout || signature.attributes.getString("op") != "ADD" ||
      signature.attributes.getInts("dims") != Attributes::Ints{0, 2, 3} ||
      !signature.outputs[0].isRowMajor()) {
    return std::nullopt;
  }
  return std::vector{*layout, Layout::Plain};
}
std::unique_ptr<Plan> planReduce(const Signature &signature) {
  switch (signature.inputs[0].layout) {
  case Layout::ChannelBlocked16:
    return std::make_unique<BlockedChannelSumPlan<16>>(signature);
  case Layout::ChannelBlocked8:
    return std::make_unique<BlockedChannelSumPlan<8>>(signature);
  default:
    return std::make_unique<ChannelSumPlan>(signature);
  }
}

} // namespace

constexpr KernelEntry laneGroupNorm{"lanes", normLayouts, planNorm};
constexpr KernelEntry laneGroupNormGrad{"lanes", normGradLayouts, planNormGrad};
constexpr KernelEntry laneReduce{"lanes", reduceLayouts, planReduce};

} // namespace kernels
