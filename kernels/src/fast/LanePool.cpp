// Max pooling in Layout::BatchLanes16 and, where images lie so already, in
// Layout::ChannelBlocked16: shards are planes of sixteen samples or channels.
#include "ImageShapes.hpp"
#include "LaneKernels.hpp"
#include "PlanHelpers.hpp"

#include <algorithm>

namespace kernels {

namespace {

constexpr auto lanes = Layout::BatchLanes16;
constexpr auto blocked = Layout::ChannelBlocked16;

} // namespace

bool isFoundBlocked(const Signature &signature,
                    std::initializer_list<std::size_t> inputs) {
  const OperandSpec &image = signature.inputs[0];
  return image.type == DataType::Float && image.shape.size() == 4 &&
         isLayoutFor(blocked, image.shape) &&
         std::any_of(inputs.begin(), inputs.end(), [&](std::size_t i) {
           return signature.inputs[i].found == blocked;
         });
}

namespace {

std::int64_t planesOf(const OperandSpec &image) {
  return storageElements(image.layout, image.shape) /
         (image.shape[2] * image.shape[3] * laneSamples);
}

// How many equal parts of the planes are cut alike. Of a gradient in lanes
// these are the blocks of samples, and a shard has the same channels of all: it
// goes on to sums for each channel over all samples, and stays on one core so.
std::int64_t partsOf(const OperandSpec &image, bool isGradient) {
  return isGradient && image.layout == lanes ? laneBlocks(image.shape[0]) : 1;
}

class PoolPlan final : public Plan {
public:
  PoolPlan(const Signature &signature, const PoolShape &shape, bool isGradient)
      : plane_(planeOf(shape)), isGradient_(isGradient),
        parts_(partsOf(signature.inputs[0], isGradient)),
        planes_(planesOf(signature.inputs[0]) / parts_) {
    constexpr double nanosecondsPerElement = 0.05;
    const auto &larger =
        isGradient ? signature.outputs[0] : signature.inputs[0];
    const double work =
        nanosecondsPerElement *
        static_cast<double>(storageElements(larger.layout, larger.shape));
    const std::int64_t count = shardCount(planes_, work);
    for (std::int64_t i = 0; i < count; ++i) {
      shards_.push_back(shardRange(planes_, count, i));
      addTask(signature, shards_.back(), work / static_cast<double>(count));
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    for (std::int64_t part = 0; part < parts_; ++part) {
      for (auto i = shards_[task].begin; i < shards_[task].end; ++i) {
        runPlane(part * planes_ + i, operands);
      }
    }
  }

private:
  void addTask(const Signature &signature, ShardRange range, double cost) {
    Task task{0, cost, {}};
    for (std::size_t operand = 0; operand < signature.operandCount();
         ++operand) {
      const auto &spec = signature.operand(operand);
      const std::int64_t plane =
          storageElements(spec.layout, spec.shape) / (parts_ * planes_);
      for (std::int64_t part = 0; part < parts_; ++part) {
        const std::int64_t first = part * planes_;
        task.accesses.push_back(elementAccess(signature, operand,
                                              (first + range.begin) * plane,
                                              (first + range.end) * plane));
      }
    }
    tasks_.push_back(std::move(task));
  }

  void runPlane(std::int64_t i, std::byte *const *operands) const {
    const std::int64_t in = plane_.inRows * plane_.inColumns * laneSamples;
    const std::int64_t out = plane_.outRows * plane_.outColumns * laneSamples;
    if (isGradient_) {
      selectedLoops().lanes.maxPoolGrad(
          plane_, dataOf<const float>(operands, 0) + i * out,
          dataOf<const std::uint8_t>(operands, 1) + i * out,
          dataOf<float>(operands, 2) + i * in);
    } else {
      selectedLoops().lanes.maxPool(
          plane_, dataOf<const float>(operands, 0) + i * in,
          dataOf<float>(operands, 1) + i * out,
          dataOf<std::uint8_t>(operands, 2) + i * out);
    }
  }

  PoolLoops::Plane plane_;
  bool isGradient_;
  std::int64_t parts_, planes_; // planes of each part
  std::vector<ShardRange> shards_;
};

using Layouts = std::optional<std::vector<Layout>>;

Layouts poolLayouts(const Signature &signature) {
  // A gradient lies as the positions that its pooling has found: the rest of
  // what it goes back to does, too.
  if (signature.inputs.back().found == lanes) {
    return std::vector(3, lanes);
  }
  if (isFoundBlocked(signature, {0, signature.inputs.size() - 1})) {
    return std::vector(3, blocked);
  }
  if (!isForLanes(signature.inputs[0])) {
    return std::nullopt;
  }
  return std::vector(3, lanes);
}
std::unique_ptr<Plan> planPool(const Signature &signature) {
  return std::make_unique<PoolPlan>(
      signature,
      poolShape("maxPool", signature.attributes, signature.inputs[0].shape),
      false);
}
std::unique_ptr<Plan> planPoolGrad(const Signature &signature) {
  return std::make_unique<PoolPlan>(signature,
                                    poolShape("maxPoolGrad",
                                              signature.attributes,
                                              signature.outputs[0].shape),
                                    true);
}

} // namespace

constexpr KernelEntry laneMaxPool{"lanes", poolLayouts, planPool};
constexpr KernelEntry laneMaxPoolGrad{"lanes", poolLayouts, planPoolGrad};

} // namespace kernels
