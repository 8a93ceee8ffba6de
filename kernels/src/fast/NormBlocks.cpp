// Batch normalisation in Layout::ChannelBlocked16, where convolutions leave it.
// A shard holds some blocks of sixteen channels and forms their statistics
// whole.
#include "NormBlocks.hpp"
#include "PlanHelpers.hpp"

#include "loops/Loops.hpp"

#include <algorithm>

namespace kernels {

namespace {

constexpr auto blocked = Layout::ChannelBlocked16;
constexpr std::int64_t lanes = 16;

class BlocksPlan : public Plan {
public:
  void run(std::uint32_t task, std::byte *const *operands, Memory) const final {
    for (std::int64_t b = shards_[task].begin; b < shards_[task].end; ++b) {
      runBlock({operands, b * block_.pixels * lanes, b * lanes});
    }
  }

protected:
  // Where a block is: its first activation and its first channel.
  struct Place {
    std::byte *const *operands;
    std::int64_t activation, channel;

    float *acts(std::size_t operand) const {
      return dataOf<float>(operands, operand) + activation;
    }
    float *channels(std::size_t operand) const {
      return dataOf<float>(operands, operand) + channel;
    }
  };

  // `activations` are images; other operands have a value for each channel.
  BlocksPlan(const Signature &signature,
             std::initializer_list<std::size_t> activations,
             double nanoseconds) {
    const Shape &shape = signature.inputs[0].shape;
    const std::int64_t blocks = shape[1] / lanes;
    const std::int64_t elements = support::elementCount(shape);
    block_ = {shape[0], elements / shape[0], elements / shape[0] / shape[1]};
    const double work = nanoseconds * static_cast<double>(elements);
    const std::int64_t count = shardCount(blocks, work);
    for (std::int64_t i = 0; i < count; ++i) {
      const ShardRange range = shardRange(blocks, count, i);
      shards_.push_back(range);
      Task task{0, work / static_cast<double>(count), {}};
      for (std::size_t o = 0; o < signature.operandCount(); ++o) {
        if (std::find(activations.begin(), activations.end(), o) ==
            activations.end()) {
          task.accesses.push_back(elementAccess(
              signature, o, range.begin * lanes, range.end * lanes));
          continue;
        }
        for (std::int64_t n = 0; n < block_.samples; ++n) {
          const std::int64_t first = n * block_.sampleStride;
          const std::int64_t plane = block_.pixels * lanes;
          task.accesses.push_back(elementAccess(signature, o,
                                                first + range.begin * plane,
                                                first + range.end * plane));
        }
      }
      tasks_.push_back(std::move(task));
    }
  }

  virtual void runBlock(const Place &place) const = 0;

  const NormBlockLoops::Block &block() const { return block_; }
  float count() const {
    return static_cast<float>(block_.samples * block_.pixels);
  }

private:
  NormBlockLoops::Block block_{};
  std::vector<ShardRange> shards_;
};

class BatchNormPlan final : public BlocksPlan {
public:
  explicit BatchNormPlan(const Signature &signature)
      : BlocksPlan(signature, {0, 3}, 0.15),
        epsilon_(static_cast<float>(signature.attributes.getFloat("epsilon"))) {
  }

private:
  void runBlock(const Place &place) const override {
    const auto &loops = selectedLoops().normBlocks;
    const float *gamma = place.channels(1);
    const float *beta = place.channels(2);
    float *mean = place.channels(4);
    float *invStdDev = place.channels(5);
    loops.statistics(block(), place.acts(0), epsilon_, mean, invStdDev);
    float factor[lanes], shift[lanes];
    for (std::int64_t c = 0; c < lanes; ++c) {
      factor[c] = invStdDev[c] * gamma[c];
      shift[c] = beta[c] - mean[c] * factor[c];
    }
    loops.affine(block(), place.acts(0), factor, shift, place.acts(3));
  }

  float epsilon_;
};

class BatchNormGradPlan final : public BlocksPlan {
public:
  explicit BatchNormGradPlan(const Signature &signature)
      : BlocksPlan(signature, {0, 1, 5}, 0.2) {}

private:
  void runBlock(const Place &place) const override {
    const auto &loops = selectedLoops().normBlocks;
    const float *gamma = place.channels(2);
    const float *mean = place.channels(3);
    const float *invStdDev = place.channels(4);
    float *byGamma = place.channels(6);
    const float *byBeta = place.channels(7);
    loops.sums(block(), place.acts(0), place.acts(1), mean, byGamma,
               place.channels(7));
    float byDy[lanes], byX[lanes], shift[lanes];
    for (std::int64_t c = 0; c < lanes; ++c) {
      byGamma[c] *= invStdDev[c];
      byDy[c] = gamma[c] * invStdDev[c];
      byX[c] = -byDy[c] * invStdDev[c] * byGamma[c] / count();
      shift[c] = -byDy[c] * byBeta[c] / count() - mean[c] * byX[c];
    }
    loops.combine(block(), place.acts(0), place.acts(1), byDy, byX, shift,
                  place.acts(5));
  }
};

// Blocks for operands with the shape of the first where one of the inputs lies
// so already.
std::optional<std::vector<Layout>> layouts(const Signature &signature) {
  const Shape &shape = signature.inputs[0].shape;
  const bool isFound = std::any_of(
      signature.inputs.begin(), signature.inputs.end(),
      [](const OperandSpec &input) { return input.found == blocked; });
  if (!isFound || !isAllFloat(signature) || !isLayoutFor(blocked, shape) ||
      support::elementCount(shape) == 0) {
    return std::nullopt;
  }
  std::vector<Layout> result;
  for (std::size_t i = 0; i < signature.operandCount(); ++i) {
    const OperandSpec &operand = signature.operand(i);
    if (operand.shape != shape && !operand.isRowMajor()) {
      return std::nullopt;
    }
    result.push_back(operand.shape == shape ? blocked : Layout::Plain);
  }
  return result;
}

template <typename PlanType>
std::unique_ptr<Plan> plan(const Signature &signature) {
  return std::make_unique<PlanType>(signature);
}

} // namespace

constexpr KernelEntry blockedBatchNorm{"blocks", layouts, plan<BatchNormPlan>};
constexpr KernelEntry blockedBatchNormGrad{"blocks", layouts,
                                           plan<BatchNormGradPlan>};

} // namespace kernels
