// "convolution" and "convolutionDataGrad" through oneDNN, in its own layouts
// where they are of our set. Shards are parts of the batch and, where samples
// are fewer than shards, of the result's channels.
#include "BlockedConvolution.hpp"
#include "ConvolutionSignature.hpp"
#include "DnnlConvolution.hpp"
#include "DnnlLayouts.hpp"
#include "FastKernels.hpp"
#include "FewChannelConvolution.hpp"
#include "HalfPlan.hpp"
#include "LaneKernels.hpp"
#include "PlanHelpers.hpp"
#include "WinogradKernels.hpp"

#include <support/Error.hpp>

#include <algorithm>

namespace kernels {

namespace {

enum class Direction { Forward, DataGrad };

struct Cut {
  std::int64_t samples, channels; // how many parts
};

Cut cutOf(const ConvolutionShape &shape, Direction direction) {
  // Weights that do not stay in a core's cache are read for every sample where
  // the kernel is larger than a point: two samples at a time cost 15 % less
  // than one.
  constexpr std::int64_t cachedWeights = 1 << 18;
  const bool isPoint = support::elementCount(shape.kernel) == 1;
  const bool isPaired =
      shape.batch > 1 && !isPoint &&
      support::elementCount(shape.weightShape()) > cachedWeights;
  const double work = convolutionWork(shape);
  const std::int64_t samples =
      shardCount(isPaired ? shape.batch / 2 : shape.batch, work);
  // Each part of the channels reads whole samples: worth it where those are too
  // few for the cores. Of a strided point, it also picks its pixels anew. Of
  // the input channels, it is dense only in the weights of a point.
  const bool isForward = direction == Direction::Forward;
  const std::int64_t channels =
      isForward ? shape.outChannels : shape.inChannels;
  std::int64_t possible = 1;
  if (shape.groups == 1 && channels % 16 == 0 && samples < 4 && !isPaired &&
      (isForward || isPoint || shape.batch == 1)) {
    // The library multiplies a pixel by 32 channels at once, or by more: with
    // fewer, half of its registers are unused. Points of few channels are cut
    // all the same, or they would leave cores without a part.
    constexpr std::int64_t manyChannels = 128;
    const std::int64_t together = isPoint && channels < manyChannels ? 16 : 32;
    possible = isStridedPoint(shape)
                   ? std::min<std::int64_t>(channels / 16, 2)
                   : std::max<std::int64_t>(channels / together, 1);
  }
  const std::int64_t parts = shardCount(samples * possible, work);
  return {samples, parts / samples};
}

// A primitive and what it wants.
struct ImagePrimitive {
  dnnl::memory::desc in, w, out, scratchpad;
  dnnl::primitive primitive;
};

// Forward and data gradient: from an image and the weights to an image.
class ImagePlan final : public Plan {
public:
  ImagePlan(const Signature &signature, const ConvolutionShape &shape,
            Direction direction)
      : direction_(direction), shape_(shape),
        hasBias_(signature.inputs.size() == 3),
        hasRelu_(direction == Direction::Forward &&
                 signature.attributes.getString("activation") == "RELU"),
        cut_(cutOf(shape, direction)) {
    const SingleThread single;
    Pieces shared;
    for (std::int64_t c = 0; c < cut_.channels; ++c) {
      for (std::int64_t s = 0; s < cut_.samples; ++s) {
        addShard(signature, s, c, shared);
      }
    }
    preparesWeights_ = sharesWeights() && weights_[0].passage.isCopied();
    for (std::int64_t c = 0; c < cut_.channels && preparesWeights_; ++c) {
      const ShardRange elements =
          weights_[static_cast<std::size_t>(c)].elements;
      tasks_.push_back(
          {0,
           0.3 * static_cast<double>(elements.end - elements.begin),
           {elementAccess(signature, 1, elements.begin, elements.end)}});
    }
    for (const Shard &shard : shards_) {
      addTask(signature, shard);
    }
    scratchBytes_ = shared.bytes();
  }

  // Whether the shards want what the whole wants.
  bool isConsistent() const { return isConsistent_; }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    if (preparesWeights_) {
      if (task < weights_.size()) {
        enterWeights(weights_[task], operands, memory.scratch);
        return;
      }
      task -= static_cast<std::uint32_t>(weights_.size());
    }
    const Shard &shard = shards_[task];
    const Weights &weights = weights_[shard.channelPart];
    if (!preparesWeights_) {
      enterWeights(weights, operands, memory.workspace);
    }
    auto *w = dataOf<float>(operands, 1) + weights.elements.begin;
    void *const insideWeights = weights.passage.inside(
        w, preparesWeights_ ? memory.scratch : memory.workspace);
    for (std::int64_t s = 0; s < shard.calls; ++s) {
      auto *in = dataOf<float>(operands, 0) + shard.in + s * inStride_;
      auto *out =
          dataOf<float>(operands, outputIndex()) + shard.out + s * outStride_;
      shard.inPassage.enter(in, memory.workspace);
      runPrimitive(shard, shard.inPassage.inside(in, memory.workspace),
                   insideWeights,
                   shard.outPassage.inside(out, memory.workspace), operands,
                   memory.workspace);
      shard.outPassage.leave(out, memory.workspace);
    }
  }

private:
  struct Weights {
    ShardRange elements; // of the operand
    dnnl::memory::desc inside;
    Passage passage;
  };
  // With the channels in parts, oneDNN is called for one sample at a time: one
  // part of the weights stays in the cache, and parts of a sample are dense.
  struct Shard {
    ShardRange samples, channels;
    std::size_t channelPart;
    std::int64_t calls;
    std::int64_t in, out; // first elements
    Passage inPassage, outPassage;
    std::size_t scratchpad;
    DnnlOperation operation;
  };

  std::size_t outputIndex() const { return hasBias_ ? 3 : 2; }
  bool isForward() const { return direction_ == Direction::Forward; }
  // Several shards multiply by the same weights.
  bool sharesWeights() const { return cut_.samples > 1; }

  void enterWeights(const Weights &weights, std::byte *const *operands,
                    std::byte *memory) const {
    weights.passage.enter(dataOf<float>(operands, 1) + weights.elements.begin,
                          memory);
  }

  void runPrimitive(const Shard &shard, void *in, void *w, void *out,
                    std::byte *const *operands, std::byte *workspace) const {
    void *const scratchpad = workspace + shard.scratchpad;
    if (hasBias_) {
      shard.operation.run({in, w, out, scratchpad,
                           dataOf<float>(operands, 2) + shard.channels.begin});
    } else {
      shard.operation.run({in, w, out, scratchpad});
    }
  }

  void addShard(const Signature &signature, std::int64_t samplePart,
                std::int64_t channelPart, Pieces &shared);
  void addTask(const Signature &signature, const Shard &shard);

  Direction direction_;
  ConvolutionShape shape_;
  bool hasBias_, hasRelu_;
  bool isConsistent_ = true;
  bool preparesWeights_ = false;
  Cut cut_;
  std::int64_t inStride_ = 0, outStride_ = 0; // from sample to sample
  std::vector<Weights> weights_;              // of each part of the channels
  std::vector<Shard> shards_;
};

ImagePrimitive makePrimitive(const ConvolutionShape &shape, Direction direction,
                             bool hasBias, bool hasRelu) {
  const DnnlShape parameters(shape);
  if (direction == Direction::Forward) {
    const auto pd = parameters.forward(hasBias, hasRelu);
    return {pd.src_desc(), pd.weights_desc(), pd.dst_desc(),
            pd.scratchpad_desc(), dnnl::convolution_forward(pd)};
  }
  const auto pd = parameters.dataGrad();
  return {pd.diff_dst_desc(), pd.weights_desc(), pd.diff_src_desc(),
          pd.scratchpad_desc(), dnnl::convolution_backward_data(pd)};
}

void ImagePlan::addShard(const Signature &signature, std::int64_t samplePart,
                         std::int64_t channelPart, Pieces &shared) {
  Pieces own;
  const OperandSpec &in = signature.inputs[0];
  const OperandSpec &w = signature.inputs[1];
  const OperandSpec &out = signature.outputs[0];
  const ShardRange samples = shardRange(shape_.batch, cut_.samples, samplePart);
  const ShardRange blocks =
      shardRange(out.shape[1] / 16, cut_.channels, channelPart);
  const ShardRange channels =
      cut_.channels > 1 ? ShardRange{blocks.begin * 16, blocks.end * 16}
                        : ShardRange{0, out.shape[1]};
  const std::int64_t count = samples.end - samples.begin;
  const std::int64_t calls = cut_.channels > 1 ? count : 1;
  ConvolutionShape part = shape_;
  part.batch = count / calls;
  (isForward() ? part.outChannels : part.inChannels) =
      channels.end - channels.begin;
  const auto made = makePrimitive(part, direction_, hasBias_, hasRelu_);

  Part weightPart = Part::whole(w.shape);
  if (cut_.channels > 1) {
    (isForward() ? weightPart.first : weightPart.second) = channels;
  }
  if (weights_.size() == static_cast<std::size_t>(channelPart)) {
    weights_.push_back(
        {elementsOf(w, weightPart), made.w,
         Passage(weightDesc(w, weightPart, shape_.groups, made.w), made.w, true,
                 sharesWeights() ? shared : own)});
  }
  support::requireInternal(
      weights_[static_cast<std::size_t>(channelPart)].inside == made.w,
      "shards of a convolution want weights in different layouts");
  const ShardRange first{samples.begin, samples.begin + part.batch};
  const Part inPart{first, {0, in.shape[1]}};
  const Part outPart{first, channels};
  isConsistent_ =
      isConsistent_ &&
      agrees(in, imageLayoutOf(made.in, inPart.shapeIn(in.shape))) &&
      agrees(w, weightLayoutOf(made.w, weightPart.shapeIn(w.shape))) &&
      agrees(out, imageLayoutOf(made.out, outPart.shapeIn(out.shape)));
  std::vector<DnnlOperation::Argument> arguments{
      {isForward() ? DNNL_ARG_SRC : DNNL_ARG_DIFF_DST, made.in},
      {DNNL_ARG_WEIGHTS, made.w},
      {isForward() ? DNNL_ARG_DST : DNNL_ARG_DIFF_SRC, made.out},
      {DNNL_ARG_SCRATCHPAD, made.scratchpad}};
  if (hasBias_) {
    arguments.push_back(
        {DNNL_ARG_BIAS, dnnlStrided({channels.end - channels.begin}, {1})});
  }
  inStride_ = placesOf(in)[0].outer;
  outStride_ = placesOf(out)[0].outer;
  shards_.push_back(
      {samples, channels, static_cast<std::size_t>(channelPart), calls,
       elementsOf(in, inPart).begin, elementsOf(out, outPart).begin,
       Passage(imageDesc(in, inPart, made.in), made.in, true, own),
       Passage(imageDesc(out, outPart, made.out), made.out, false, own),
       own.take(made.scratchpad.get_size()),
       DnnlOperation(made.primitive, arguments)});
  workspaceBytes_ = std::max(workspaceBytes_, own.bytes());
}

void ImagePlan::addTask(const Signature &signature, const Shard &shard) {
  Task task{preparesWeights_ ? 1u : 0u,
            convolutionWork(shape_) / static_cast<double>(shards_.size()),
            {}};
  const auto add = [&](std::size_t operand, ShardRange elements) {
    task.accesses.push_back(
        elementAccess(signature, operand, elements.begin, elements.end));
  };
  add(0, elementsOf(signature.inputs[0],
                    {shard.samples, {0, signature.inputs[0].shape[1]}}));
  if (!preparesWeights_) {
    add(1, weights_[shard.channelPart].elements);
  }
  if (hasBias_) {
    add(2, shard.channels);
  }
  const std::int64_t samples =
      (shard.samples.end - shard.samples.begin) / shard.calls;
  for (std::int64_t s = 0; s < shard.calls; ++s) {
    const std::int64_t first = shard.samples.begin + s * samples;
    add(outputIndex(), elementsOf(signature.outputs[0],
                                  {{first, first + samples}, shard.channels}));
  }
  tasks_.push_back(std::move(task));
}

using Layouts = std::optional<std::vector<Layout>>;

// What oneDNN wants of {in, w, out}, where our layouts have it.
std::vector<Layout> wantedLayouts(const Signature &signature,
                                  const ConvolutionShape &shape,
                                  Direction direction) {
  const SingleThread single;
  const auto made = makePrimitive(shape, direction, false, false);
  std::vector<Layout> layouts(signature.operandCount(), Layout::Plain);
  layouts[0] = imageLayoutOf(made.in, signature.inputs[0].shape);
  layouts[1] = weightLayoutOf(made.w, signature.inputs[1].shape);
  layouts.back() = imageLayoutOf(made.out, signature.outputs[0].shape);
  // A part of the channels must be dense.
  const auto dense =
      direction == Direction::Forward
          ? std::vector{Layout::WeightsInOut16, Layout::WeightsOut16,
                        Layout::WeightsInOut8, Layout::WeightsOut8}
          : std::vector{Layout::WeightsInMajor16, Layout::WeightsInMajor8};
  if (cutOf(shape, direction).channels > 1 &&
      std::find(dense.begin(), dense.end(), layouts[1]) == dense.end()) {
    layouts[1] = Layout::Plain;
  }
  return layouts;
}

bool isForwardTaken(const Signature &signature) {
  return isForDnnl(signature) && (signature.attributes.getInt("bias") == 0 ||
                                  signature.inputs[2].strides[0] == 1);
}

Layouts forwardLayouts(const Signature &signature) {
  if (!isForwardTaken(signature)) {
    return std::nullopt;
  }
  return wantedLayouts(signature, forwardShape(signature), Direction::Forward);
}

Layouts dataGradLayouts(const Signature &signature) {
  if (!isForDnnl(signature)) {
    return std::nullopt;
  }
  return wantedLayouts(signature, dataGradShape(signature),
                       Direction::DataGrad);
}

std::unique_ptr<Plan> planImage(const Signature &signature,
                                const ConvolutionShape &shape,
                                Direction direction) {
  auto plan = std::make_unique<ImagePlan>(signature, shape, direction);
  return plan->isConsistent() ? std::move(plan) : nullptr;
}

std::unique_ptr<Plan> planForward(const Signature &signature) {
  return isForwardTaken(signature)
             ? planImage(signature, forwardShape(signature), Direction::Forward)
             : nullptr;
}

std::unique_ptr<Plan> planDataGrad(const Signature &signature) {
  return isForDnnl(signature) ? planImage(signature, dataGradShape(signature),
                                          Direction::DataGrad)
                              : nullptr;
}

} // namespace

std::span<const KernelEntry> convolutionKernels() {
  static const KernelEntry entries[] = {
      laneWinogradConvolution,
      laneConvolution,
      winogradConvolution,
      blockedConvolution,
      fewChannelConvolution,
      {"oneDNN", forwardLayouts, planForward},
      {"oneDNN", allPlain, planForward},
      {"half", allPlain, planAsFloat<planForward>}};
  return entries;
}
std::span<const KernelEntry> convolutionDataGradKernels() {
  static const KernelEntry entries[] = {
      laneWinogradConvolutionDataGrad,
      laneConvolutionDataGrad,
      winogradConvolutionDataGrad,
      {"oneDNN", dataGradLayouts, planDataGrad},
      {"oneDNN", allPlain, planDataGrad},
      {"half", allPlain, planAsFloat<planDataGrad>}};
  return entries;
}
} // namespace kernels
