// Convolutions in Layout::BatchLanes16. Shards are runs of rows over the blocks
// of sixteen samples; a weight gradient is cut by output channels, each summed
// over all blocks by the shard that owns it.
#include "ConvolutionSignature.hpp"
#include "LaneKernels.hpp"
#include "PlanHelpers.hpp"

#include "kinds/ConvolutionShape.hpp"
#include "loops/Loops.hpp"

#include <algorithm>

namespace kernels {

namespace {

constexpr auto lanes = Layout::BatchLanes16;

// From so many channels on, sixteen of them side by side are better.
constexpr std::int64_t manyChannels = 32;

bool fillsLanes(const OperandSpec &image) {
  if (image.shape.size() != 4 || image.type != DataType::Float ||
      support::elementCount(image.shape) == 0) {
    return false;
  }
  const std::int64_t batch = image.shape[0];
  const std::int64_t padding = laneBlocks(batch) * laneSamples - batch;
  return batch >= laneSamples && 4 * padding <= batch;
}

} // namespace

bool isForLanes(const OperandSpec &image) {
  return fillsLanes(image) &&
         (image.shape[1] < manyChannels ||
          (image.shape[1] == manyChannels && image.found == lanes));
}

std::vector<Access> channelAccesses(const Signature &signature,
                                    std::size_t operand, ShardRange channels) {
  const Shape &shape = signature.operand(operand).shape;
  const std::int64_t plane = shape[2] * shape[3] * laneSamples;
  std::vector<Access> accesses;
  for (std::int64_t b = 0; b < laneBlocks(shape[0]); ++b) {
    const std::int64_t first = b * shape[1];
    accesses.push_back(elementAccess(signature, operand,
                                     (first + channels.begin) * plane,
                                     (first + channels.end) * plane));
  }
  return accesses;
}

namespace {

LaneLoops::Convolution loopShape(const ConvolutionShape &s) {
  return {.inChannels = s.inChannels,
          .inRows = s.in[0],
          .inColumns = s.in[1],
          .outRows = s.out[0],
          .outColumns = s.out[1],
          .kernelRows = s.kernel[0],
          .kernelColumns = s.kernel[1],
          .strideRows = s.strides[0],
          .strideColumns = s.strides[1],
          .padRows = s.padLower[0],
          .padColumns = s.padLower[1],
          .dilationRows = s.dilations[0],
          .dilationColumns = s.dilations[1]};
}

// The data gradient of a convolution with stride 1 is a convolution of dy with
// the kernel turned round and the channels exchanged.
LaneLoops::Convolution turnedShape(const ConvolutionShape &s) {
  auto turned = loopShape(s);
  turned.inChannels = s.outChannels;
  std::swap(turned.inRows, turned.outRows);
  std::swap(turned.inColumns, turned.outColumns);
  turned.padRows = (s.kernel[0] - 1) * s.dilations[0] - s.padLower[0];
  turned.padColumns = (s.kernel[1] - 1) * s.dilations[1] - s.padLower[1];
  return turned;
}

double workOf(const ConvolutionShape &s) {
  return nanosecondsPerLanes * blocksInUse(s.batch) *
         static_cast<double>(s.outChannels * s.out[0] * s.out[1]) *
         static_cast<double>(s.inChannels * s.kernel[0] * s.kernel[1]);
}

bool isSmall(const ConvolutionShape &s) {
  return s.groups == 1 && (s.inChannels < 16 || s.outChannels < 16);
}

// The first layer of a network of grey images: where registers hold eight, the
// library's weight gradient takes ten times as long as this one.
bool isGrey(const ConvolutionShape &s) {
  return !hasWideRegisters() && s.inChannels == 1 &&
         s.outChannels == manyChannels;
}

// Of the image that has the output channels.
bool isForLanes(const OperandSpec &image, const ConvolutionShape &s) {
  return isForLanes(image) || (fillsLanes(image) && isGrey(s));
}

// Rows of one image. A shard's range over (block, row) pairs is cut at the ends
// of blocks.
struct RowRun {
  std::int64_t block, begin, end;
};
std::vector<RowRun> rowRuns(ShardRange range, std::int64_t rows) {
  std::vector<RowRun> runs;
  for (std::int64_t at = range.begin; at < range.end;) {
    const std::int64_t block = at / rows;
    const std::int64_t end = std::min(range.end, (block + 1) * rows);
    runs.push_back({block, at - block * rows, end - block * rows});
    at = end;
  }
  return runs;
}

// From images and weights to images: forward, and the data gradient on turned
// weights, which its first task makes.
class ImagePlan final : public Plan {
public:
  ImagePlan(const Signature &signature, const ConvolutionShape &shape,
            bool isGradient)
      : shape_(isGradient ? turnedShape(shape) : loopShape(shape)),
        isGradient_(isGradient), batch_(shape.batch),
        channels_(isGradient ? shape.inChannels : shape.outChannels) {
    if (!isGradient) {
      hasBias_ = signature.attributes.getInt("bias") != 0;
      hasRelu_ = signature.attributes.getString("activation") == "RELU";
    }
    if (isGradient) {
      addTurning(signature);
    }
    const std::int64_t items = laneBlocks(batch_) * shape_.outRows;
    const double work = workOf(shape);
    const std::int64_t count = shardCount(items, work);
    for (std::int64_t i = 0; i < count; ++i) {
      shards_.push_back(rowRuns(shardRange(items, count, i), shape_.outRows));
      addTask(signature,
              work / blocksInUse(batch_) / static_cast<double>(shape_.outRows));
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    const auto *w = dataOf<const float>(operands, 1);
    if (isGradient_) {
      auto *turned = reinterpret_cast<float *>(memory.scratch);
      if (task == 0) {
        turn(w, turned);
        return;
      }
      w = turned;
    }
    const float *bias = hasBias_ ? dataOf<const float>(operands, 2) : nullptr;
    for (const auto &run : shards_[task - (isGradient_ ? 1 : 0)]) {
      selectedLoops().lanes.convolution(
          shape_, dataOf<const float>(operands, 0) + run.block * inImage(), w,
          bias, hasRelu_,
          dataOf<float>(operands, outputIndex()) + run.block * outImage(),
          channels_, run.begin, run.end, lanesInUse(batch_, run.block));
    }
  }

private:
  std::size_t outputIndex() const { return hasBias_ ? 3 : 2; }
  std::int64_t inImage() const {
    return shape_.inChannels * shape_.inRows * shape_.inColumns * laneSamples;
  }
  std::int64_t outImage() const {
    return channels_ * shape_.outRows * shape_.outColumns * laneSamples;
  }

  void addTurning(const Signature &signature) {
    const auto weights = static_cast<std::size_t>(
        support::elementCount(signature.inputs[1].shape));
    scratchBytes_ = lineAligned(weights * sizeof(float));
    tasks_.push_back(
        {0, static_cast<double>(weights), {wholeAccess(signature, 1)}});
  }

  void addTask(const Signature &signature, double rowCost) {
    Task task{isGradient_ ? 1u : 0u, 0, {}};
    if (!isGradient_) {
      task.accesses.push_back(wholeAccess(signature, 1));
    }
    if (hasBias_) {
      task.accesses.push_back(wholeAccess(signature, 2));
    }
    const std::int64_t row = shape_.outColumns * laneSamples;
    for (const auto &run : shards_.back()) {
      task.cost += rowCost * static_cast<double>(run.end - run.begin) *
                   blocksInUse(lanesInUse(batch_, run.block));
      task.accesses.push_back(elementAccess(signature, 0, run.block * inImage(),
                                            (run.block + 1) * inImage()));
      for (std::int64_t c = 0; c < channels_; ++c) {
        const std::int64_t plane =
            run.block * outImage() + c * shape_.outRows * row;
        task.accesses.push_back(elementAccess(signature, outputIndex(),
                                              plane + run.begin * row,
                                              plane + run.end * row));
      }
    }
    tasks_.push_back(std::move(task));
  }

  // From [turned in, turned out, rows, columns].
  void turn(const float *w, float *turned) const {
    const std::int64_t taps = shape_.kernelRows * shape_.kernelColumns;
    for (std::int64_t c = 0; c < channels_; ++c) {
      for (std::int64_t o = 0; o < shape_.inChannels; ++o) {
        const float *from = w + (o * channels_ + c) * taps;
        std::reverse_copy(from, from + taps, turned);
        turned += taps;
      }
    }
  }

  LaneLoops::Convolution shape_;
  bool isGradient_;
  std::int64_t batch_;
  std::int64_t channels_; // of the result
  bool hasBias_ = false;
  bool hasRelu_ = false;
  std::vector<std::vector<RowRun>> shards_;
};

class WeightGradPlan final : public Plan {
public:
  WeightGradPlan(const Signature &signature, const ConvolutionShape &shape)
      : shape_(loopShape(shape)), batch_(shape.batch),
        channels_(shape.outChannels) {
    const double work = workOf(shape);
    // Of fewer channels, the loops would load more than they multiply.
    constexpr std::int64_t leastChannels = 3;
    const std::int64_t count = shardCount(channels_ / leastChannels, work);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto range = shardRange(channels_, count, i);
      shards_.push_back(range);
      auto accesses = channelAccesses(signature, 0, range);
      accesses.push_back(wholeAccess(signature, 1));
      accesses.push_back(rowAccess(signature, 2, range.begin, range.end));
      tasks_.push_back(
          {0, work / static_cast<double>(count), std::move(accesses)});
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const auto range = shards_[task];
    const std::int64_t plane = shape_.outRows * shape_.outColumns * laneSamples;
    const std::int64_t xImage =
        shape_.inChannels * shape_.inRows * shape_.inColumns * laneSamples;
    const std::int64_t weights =
        shape_.inChannels * shape_.kernelRows * shape_.kernelColumns;
    selectedLoops().lanes.weightGradient(
        shape_, dataOf<const float>(operands, 0) + range.begin * plane,
        channels_ * plane, dataOf<const float>(operands, 1), xImage, batch_,
        range.end - range.begin,
        dataOf<float>(operands, 2) + range.begin * weights);
  }

private:
  LaneLoops::Convolution shape_;
  std::int64_t batch_, channels_;
  std::vector<ShardRange> shards_;
};

using Layouts = std::optional<std::vector<Layout>>;

Layouts forwardLayouts(const Signature &signature) {
  const bool hasBias = signature.inputs.size() == 3;
  if (!isForLanes(signature.inputs[0])) {
    return std::nullopt;
  }
  const auto shape = forwardShape(signature);
  if (!isForLanes(signature.outputs[0], shape) || !isSmall(shape) ||
      !signature.inputs[1].isRowMajor() ||
      (hasBias && !signature.inputs[2].isRowMajor())) {
    return std::nullopt;
  }
  return hasBias ? std::vector{lanes, Layout::Plain, Layout::Plain, lanes}
                 : std::vector{lanes, Layout::Plain, lanes};
}

Layouts dataGradLayouts(const Signature &signature) {
  if (!isForLanes(signature.inputs[0]) || !isForLanes(signature.outputs[0])) {
    return std::nullopt;
  }
  const auto shape = dataGradShape(signature);
  if (!isSmall(shape) || shape.strides[0] != 1 || shape.strides[1] != 1 ||
      !signature.inputs[1].isRowMajor()) {
    return std::nullopt;
  }
  return std::vector{lanes, Layout::Plain, lanes};
}

Layouts weightGradLayouts(const Signature &signature) {
  if (!isForLanes(signature.inputs[1])) {
    return std::nullopt;
  }
  const auto shape = weightGradShape(signature);
  if (!isForLanes(signature.inputs[0], shape) || !isSmall(shape) ||
      !signature.outputs[0].isRowMajor()) {
    return std::nullopt;
  }
  return std::vector{lanes, lanes, Layout::Plain};
}

std::unique_ptr<Plan> planForward(const Signature &signature) {
  return std::make_unique<ImagePlan>(signature, forwardShape(signature), false);
}
std::unique_ptr<Plan> planDataGrad(const Signature &signature) {
  return std::make_unique<ImagePlan>(signature, dataGradShape(signature), true);
}
std::unique_ptr<Plan> planWeightGrad(const Signature &signature) {
  return std::make_unique<WeightGradPlan>(signature,
                                          weightGradShape(signature));
}

} // namespace

constexpr KernelEntry laneConvolution{"lanes", forwardLayouts, planForward};
constexpr KernelEntry laneConvolutionDataGrad{"lanes", dataGradLayouts,
                                              planDataGrad};
constexpr KernelEntry laneConvolutionWeightGrad{"lanes", weightGradLayouts,
                                                planWeightGrad};

} // namespace kernels
