// "convolution" and "convolutionDataGrad" through oneDNN: plain tensors
// outside, its own blocked layouts in the plan's memory. Shards are parts of
// the batch.
#include "DnnlConvolution.hpp"
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "LaneKernels.hpp"
#include "PlanHelpers.hpp"

#include <support/Error.hpp>

namespace kernels {

namespace {

// Forward and data gradient: from an image and the weights to an image. The
// weights are reordered once, by a task of their own when there are several
// shards.
class ImagePlan final : public Plan {
public:
  enum class Direction { Forward, DataGrad };

  ImagePlan(const Signature &signature, const ConvolutionShape &shape,
            Direction direction)
      : direction_(direction),
        hasBias_(direction == Direction::Forward &&
                 signature.attributes.getInt("bias") != 0),
        hasRelu_(direction == Direction::Forward &&
                 signature.attributes.getString("activation") == "RELU") {
    const SingleThread single;
    const double work = convolutionWork(shape);
    const std::int64_t count = shardCount(shape.batch, work);
    Scratch scratch;
    for (std::int64_t i = 0; i < count; ++i) {
      addShard(signature, shape, shardRange(shape.batch, count, i), scratch);
    }
    preparesWeights_ = count > 1 && weights_[0].isCopied();
    if (preparesWeights_) {
      const auto elements = support::elementCount(shape.weightShape());
      tasks_.push_back({0,
                        0.3 * static_cast<double>(elements),
                        {wholeAccess(signature, 1)}});
    }
    for (const auto &shard : shards_) {
      Task task{preparesWeights_ ? 1u : 0u,
                work / static_cast<double>(count),
                {batchAccess(signature, 0, shard.range),
                 batchAccess(signature, outputIndex(), shard.range)}};
      if (!preparesWeights_) {
        task.accesses.push_back(wholeAccess(signature, 1));
      }
      if (hasBias_) {
        task.accesses.push_back(wholeAccess(signature, 2));
      }
      tasks_.push_back(std::move(task));
    }
    scratchBytes_ = scratch.bytes();
  }

  void run(std::uint32_t task, std::byte *const *operands,
           std::byte *scratch) const override {
    if (preparesWeights_) {
      if (task == 0) {
        weights_[0].enter(operands[1], scratch);
        return;
      }
      --task;
    } else {
      weights_[0].enter(operands[1], scratch);
    }
    const Shard &shard = shards_[task];
    auto *in = dataOf<float>(operands, 0) + shard.inOffset;
    auto *out = dataOf<float>(operands, outputIndex()) + shard.outOffset;
    shard.in.enter(in, scratch);
    void *const inside = shard.in.inside(in, scratch);
    void *const w = weights_[0].inside(operands[1], scratch);
    void *const result = shard.out.inside(out, scratch);
    if (hasBias_) {
      shard.operation.run(
          {inside, w, result, scratch + shard.scratchpad, operands[2]});
    } else {
      shard.operation.run({inside, w, result, scratch + shard.scratchpad});
    }
    shard.out.leave(out, scratch);
  }

private:
  struct Shard {
    ShardRange range;
    std::int64_t inOffset, outOffset; // elements
    Passage in, out;
    std::size_t scratchpad;
    DnnlOperation operation;
  };
  struct Descs {
    dnnl::memory::desc in, w, out, scratchpad;
    dnnl::primitive primitive;
  };

  std::size_t outputIndex() const { return hasBias_ ? 3 : 2; }

  Descs makePrimitive(const DnnlShape &shape) const {
    if (direction_ == Direction::Forward) {
      const auto pd = shape.forward(hasBias_, hasRelu_);
      return {pd.src_desc(), pd.weights_desc(), pd.dst_desc(),
              pd.scratchpad_desc(), dnnl::convolution_forward(pd)};
    }
    const auto pd = shape.dataGrad();
    return {pd.diff_dst_desc(), pd.weights_desc(), pd.diff_src_desc(),
            pd.scratchpad_desc(), dnnl::convolution_backward_data(pd)};
  }

  void addShard(const Signature &signature, const ConvolutionShape &shape,
                ShardRange range, Scratch &scratch) {
    const std::int64_t batch = range.end - range.begin;
    const DnnlShape part(shape, batch);
    const Descs descs = makePrimitive(part);
    const auto &in = signature.inputs[0];
    const auto &out = signature.outputs[0];
    if (weights_.empty()) {
      weights_.emplace_back(weightDesc(signature.inputs[1], part), descs.w,
                            true, scratch);
      insideWeights_ = descs.w;
    }
    support::requireInternal(insideWeights_ == descs.w,
                             "shards of a convolution want weights in "
                             "different layouts");
    const bool isForward = direction_ == Direction::Forward;
    std::vector<DnnlOperation::Argument> arguments{
        {isForward ? DNNL_ARG_SRC : DNNL_ARG_DIFF_DST, descs.in},
        {DNNL_ARG_WEIGHTS, descs.w},
        {isForward ? DNNL_ARG_DST : DNNL_ARG_DIFF_SRC, descs.out},
        {DNNL_ARG_SCRATCHPAD, descs.scratchpad}};
    if (hasBias_) {
      arguments.push_back({DNNL_ARG_BIAS, dnnlStrided(part.bias, {1})});
    }
    shards_.push_back(
        {range, range.begin * in.strides[0], range.begin * out.strides[0],
         Passage(batchDesc(in, batch), descs.in, true, scratch),
         Passage(batchDesc(out, batch), descs.out, false, scratch),
         scratch.take(descs.scratchpad.get_size()),
         DnnlOperation(descs.primitive, arguments)});
  }

  Direction direction_;
  bool hasBias_, hasRelu_;
  bool preparesWeights_ = false;
  std::vector<Passage> weights_; // one
  dnnl::memory::desc insideWeights_;
  std::vector<Shard> shards_;
};

bool hasPlainBias(const Signature &signature) {
  return signature.attributes.getInt("bias") == 0 ||
         signature.inputs[2].strides[0] == 1;
}

std::unique_ptr<Plan> planForward(const Signature &signature) {
  if (!isForDnnl(signature) || !hasPlainBias(signature)) {
    return nullptr;
  }
  return std::make_unique<ImagePlan>(
      signature,
      convolutionShape("convolution", signature.attributes,
                       signature.inputs[0].shape, signature.inputs[1].shape),
      ImagePlan::Direction::Forward);
}

std::unique_ptr<Plan> planDataGrad(const Signature &signature) {
  if (!isForDnnl(signature)) {
    return nullptr;
  }
  return std::make_unique<ImagePlan>(
      signature,
      convolutionShape("convolutionDataGrad", signature.attributes,
                       signature.outputs[0].shape, signature.inputs[1].shape),
      ImagePlan::Direction::DataGrad);
}

} // namespace

std::span<const KernelEntry> convolutionKernels() {
  static const KernelEntry entries[] = {
      laneConvolution,
      {"oneDNN", allPlain, planForward},
      {"half", allPlain, planAsFloat<planForward>}};
  return entries;
}
std::span<const KernelEntry> convolutionDataGradKernels() {
  static const KernelEntry entries[] = {
      laneConvolutionDataGrad,
      {"oneDNN", allPlain, planDataGrad},
      {"half", allPlain, planAsFloat<planDataGrad>}};
  return entries;
}
} // namespace kernels
