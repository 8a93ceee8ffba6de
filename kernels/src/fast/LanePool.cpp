// Max pooling in Layout::BatchLanes16 and, where images lie so already, in
// Layout::ChannelBlocked16: shards are planes of sixteen samples or channels.
// Blocks of eight channels are joined on the way in.
#include "ImageShapes.hpp"
#include "LaneKernels.hpp"
#include "PlanHelpers.hpp"

#include <algorithm>
#include <cstring>

namespace kernels {

namespace {

constexpr auto lanes = Layout::BatchLanes16;
constexpr auto blocked = Layout::ChannelBlocked16;
constexpr auto eights = Layout::ChannelBlocked8;

} // namespace

bool fitsBlocks(const OperandSpec &image, Layout blocks) {
  return image.type == DataType::Float && image.shape.size() == 4 &&
         support::elementCount(image.shape) > 0 &&
         isLayoutFor(blocks, image.shape);
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

// Of two planes of eight channels, one of sixteen.
void joinPlanes(const float *planes, std::int64_t pixels, float *joined) {
  constexpr std::int64_t half = laneSamples / 2;
  for (std::int64_t p = 0; p < pixels; ++p) {
    std::memcpy(joined, planes + p * half, half * sizeof(float));
    std::memcpy(joined + half, planes + (pixels + p) * half,
                half * sizeof(float));
    joined += laneSamples;
  }
}

class PoolPlan final : public Plan {
public:
  PoolPlan(const Signature &signature, const PoolShape &shape, bool isGradient)
      : plane_(planeOf(shape)), isGradient_(isGradient),
        isInEights_(signature.inputs[0].layout == eights),
        parts_(partsOf(signature.inputs[0], isGradient)),
        planes_(planesOf(signature.inputs[0]) / parts_) {
    if (isInEights_) {
      workspaceBytes_ =
          lineAligned(static_cast<std::size_t>(inSize()) * sizeof(float));
    }
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
           Memory memory) const override {
    for (std::int64_t part = 0; part < parts_; ++part) {
      for (auto i = shards_[task].begin; i < shards_[task].end; ++i) {
        runPlane(part * planes_ + i, operands,
                 reinterpret_cast<float *>(memory.workspace));
      }
    }
  }

private:
  std::int64_t inSize() const {
    return plane_.inRows * plane_.inColumns * laneSamples;
  }

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

  void runPlane(std::int64_t i, std::byte *const *operands,
                float *workspace) const {
    const std::int64_t in = inSize();
    const std::int64_t out = plane_.outRows * plane_.outColumns * laneSamples;
    if (isGradient_) {
      selectedLoops().lanes.maxPoolGrad(
          plane_, dataOf<const float>(operands, 0) + i * out,
          dataOf<const std::uint8_t>(operands, 1) + i * out,
          dataOf<float>(operands, 2) + i * in);
      return;
    }
    const auto *x = dataOf<const float>(operands, 0) + i * in;
    if (isInEights_) {
      joinPlanes(x, plane_.inRows * plane_.inColumns, workspace);
      x = workspace;
    }
    selectedLoops().lanes.maxPool(plane_, x,
                                  dataOf<float>(operands, 1) + i * out,
                                  dataOf<std::uint8_t>(operands, 2) + i * out);
  }

  PoolLoops::Plane plane_;
  bool isGradient_, isInEights_;
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
  const OperandSpec &image = signature.inputs[0];
  if (fitsBlocks(image, blocked)) {
    if (image.found == blocked || signature.inputs.back().found == blocked) {
      return std::vector(3, blocked);
    }
    const bool isForward = signature.inputs.size() == 1;
    if (isForward && image.found == eights) {
      return std::vector{eights, blocked, blocked};
    }
  }
  if (!isForLanes(image)) {
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
