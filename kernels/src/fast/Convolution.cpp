// The convolutions through oneDNN: plain tensors outside, its own blocked
// layouts in the plan's memory. Shards are parts of the batch.
#include "Dnnl.hpp"
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "LaneKernels.hpp"
#include "PlanHelpers.hpp"

#include "kinds/ConvolutionShape.hpp"
#include "loops/Loops.hpp"

#include <support/Error.hpp>

#include <algorithm>

namespace kernels {

namespace {

using dnnl::memory;

// Nanoseconds of the whole convolution on one core at 60 GFLOP/s.
double workOf(const ConvolutionShape &s) {
  return static_cast<double>(s.batch * s.outChannels * s.out[0] * s.out[1]) *
         static_cast<double>(s.inChannelsPerGroup() * s.kernel[0] *
                             s.kernel[1]) *
         0.033;
}

// The parameters that all three directions share, for `batch` samples.
struct DnnlShape {
  memory::dims x, w, y, bias;
  memory::dims strides, dilations, padLower, padUpper;

  DnnlShape(const ConvolutionShape &s, std::int64_t batch)
      : x(s.inputShape()), w(s.weightShape()),
        y(s.outputShape()), bias{s.outChannels},
        strides(s.strides.begin(), s.strides.end()),
        dilations{s.dilations[0] - 1, s.dilations[1] - 1},
        padLower(s.padLower.begin(), s.padLower.end()),
        padUpper(s.padUpper.begin(), s.padUpper.end()) {
    x[0] = y[0] = batch;
    if (s.groups > 1) {
      w = {s.groups, s.outChannelsPerGroup(), s.inChannelsPerGroup(),
           s.kernel[0], s.kernel[1]};
    }
  }

  dnnl::convolution_forward::primitive_desc forward(bool hasBias,
                                                    bool hasRelu) const {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (hasRelu) {
      dnnl::post_ops postOps;
      postOps.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
      attributes.set_post_ops(postOps);
    }
    const auto kind = dnnl::prop_kind::forward_training;
    const auto algorithm = dnnl::algorithm::convolution_direct;
    using Desc = dnnl::convolution_forward::desc;
    const auto desc =
        hasBias ? Desc(kind, algorithm, dnnlAny(x), dnnlAny(w),
                       dnnlStrided(bias, {1}), dnnlAny(y), strides, dilations,
                       padLower, padUpper)
                : Desc(kind, algorithm, dnnlAny(x), dnnlAny(w), dnnlAny(y),
                       strides, dilations, padLower, padUpper);
    return {desc, attributes, dnnlEngine()};
  }

  template <typename Primitive>
  typename Primitive::primitive_desc backward(const memory::dims &first,
                                              const memory::dims &second,
                                              const memory::dims &third) const {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return {typename Primitive::desc(dnnl::algorithm::convolution_direct,
                                     dnnlAny(first), dnnlAny(second),
                                     dnnlAny(third), strides, dilations,
                                     padLower, padUpper),
            attributes, dnnlEngine(), forward(false, false)};
  }
};

// Hands out pieces of the plan's memory.
class Scratch {
public:
  std::size_t take(std::size_t bytes) {
    const std::size_t at = bytes_;
    bytes_ += lineAligned(bytes);
    return at;
  }
  std::size_t bytes() const { return bytes_; }

private:
  std::size_t bytes_ = 0;
};

// An operand on its way into or out of a primitive: used where it is when its
// layout is the one wanted, else copied through the plan's memory.
class Passage {
public:
  Passage(const memory::desc &outside, const memory::desc &inside, bool isInput,
          Scratch &scratch) {
    if (outside != inside) {
      at_ = scratch.take(inside.get_size());
      copy_.push_back(isInput ? DnnlOperation::reorder(outside, inside)
                              : DnnlOperation::reorder(inside, outside));
    }
  }

  void *inside(void *outside, std::byte *scratch) const {
    return copy_.empty() ? outside : scratch + at_;
  }
  void enter(void *outside, std::byte *scratch) const {
    if (!copy_.empty()) {
      copy_[0].run({outside, scratch + at_});
    }
  }
  void leave(void *outside, std::byte *scratch) const {
    if (!copy_.empty()) {
      copy_[0].run({scratch + at_, outside});
    }
  }
  bool isCopied() const { return !copy_.empty(); }

private:
  std::size_t at_ = 0;
  std::vector<DnnlOperation> copy_; // none or one
};

// The descriptor of `batch` samples of a plain operand.
memory::desc outsideDesc(const OperandSpec &spec, std::int64_t batch) {
  Shape shape = spec.shape;
  shape[0] = batch;
  return dnnlStrided(shape, spec.strides);
}

// Weights have a dimension more when there are groups.
memory::desc weightDesc(const OperandSpec &spec, const DnnlShape &shape) {
  Strides strides = spec.strides;
  if (shape.w.size() == 5) {
    strides.insert(strides.begin(), shape.w[1] * strides[0]);
  }
  return dnnlStrided(shape.w, strides);
}

// Samples [begin, end) of an operand, whose strides are positive.
Access batchAccess(const Signature &signature, std::size_t operand,
                   ShardRange range) {
  const auto &spec = signature.operand(operand);
  std::int64_t last = (range.end - 1) * spec.strides[0];
  for (std::size_t d = 1; d < spec.shape.size(); ++d) {
    last += (spec.shape[d] - 1) * spec.strides[d];
  }
  return elementAccess(signature, operand, range.begin * spec.strides[0],
                       last + 1);
}

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
    const double work = workOf(shape);
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
    memory::desc in, w, out, scratchpad;
    dnnl::primitive primitive;
  };

  std::size_t outputIndex() const { return hasBias_ ? 3 : 2; }

  Descs makePrimitive(const DnnlShape &shape) const {
    if (direction_ == Direction::Forward) {
      const auto pd = shape.forward(hasBias_, hasRelu_);
      return {pd.src_desc(), pd.weights_desc(), pd.dst_desc(),
              pd.scratchpad_desc(), dnnl::convolution_forward(pd)};
    }
    const auto pd = shape.backward<dnnl::convolution_backward_data>(
        shape.x, shape.w, shape.y);
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
         Passage(outsideDesc(in, batch), descs.in, true, scratch),
         Passage(outsideDesc(out, batch), descs.out, false, scratch),
         scratch.take(descs.scratchpad.get_size()),
         DnnlOperation(descs.primitive, arguments)});
  }

  Direction direction_;
  bool hasBias_, hasRelu_;
  bool preparesWeights_ = false;
  std::vector<Passage> weights_; // one
  memory::desc insideWeights_;
  std::vector<Shard> shards_;
};

// Every shard forms the whole gradient of its samples; with several shards a
// last stage adds them up in order.
class WeightGradPlan final : public Plan {
public:
  WeightGradPlan(const Signature &signature, const ConvolutionShape &shape)
      : elements_(support::elementCount(shape.weightShape())) {
    const SingleThread single;
    const double work = workOf(shape);
    // Each shard costs a pass over the weights: keep that far below its work.
    const double most =
        std::max(1.0, work / (4 * static_cast<double>(elements_)));
    const std::int64_t count = std::min<std::int64_t>(
        shardCount(shape.batch, work), static_cast<std::int64_t>(most));
    Scratch scratch;
    if (count > 1) {
      partials_ = scratch.take(static_cast<std::size_t>(elements_ * count) *
                               sizeof(float));
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const auto range = shardRange(shape.batch, count, i);
      addShard(signature, shape, range, count > 1, scratch);
      Task task{
          0,
          work / static_cast<double>(count),
          {batchAccess(signature, 0, range), batchAccess(signature, 1, range)}};
      if (count == 1) {
        task.accesses.push_back(wholeAccess(signature, 2));
      }
      tasks_.push_back(std::move(task));
    }
    if (count > 1) {
      addSumTasks(signature, count);
    }
    scratchBytes_ = scratch.bytes();
  }

  void run(std::uint32_t task, std::byte *const *operands,
           std::byte *scratch) const override {
    auto *partials = reinterpret_cast<float *>(scratch + partials_);
    if (task >= shards_.size()) {
      addPartials(sums_[task - shards_.size()], partials,
                  dataOf<float>(operands, 2));
      return;
    }
    const Shard &shard = shards_[task];
    auto *dy = dataOf<float>(operands, 0) + shard.dyOffset;
    auto *x = dataOf<float>(operands, 1) + shard.xOffset;
    float *dw = shards_.size() > 1 ? partials + task * elements_
                                   : dataOf<float>(operands, 2);
    shard.dy.enter(dy, scratch);
    shard.x.enter(x, scratch);
    shard.operation.run(
        {shard.dy.inside(dy, scratch), shard.x.inside(x, scratch),
         shard.dw.inside(dw, scratch), scratch + shard.scratchpad});
    shard.dw.leave(dw, scratch);
  }

private:
  struct Shard {
    std::int64_t dyOffset, xOffset; // elements
    Passage dy, x, dw;
    std::size_t scratchpad;
    DnnlOperation operation;
  };

  void addShard(const Signature &signature, const ConvolutionShape &shape,
                ShardRange range, bool isPartial, Scratch &scratch) {
    const std::int64_t batch = range.end - range.begin;
    const DnnlShape part(shape, batch);
    const auto pd = part.backward<dnnl::convolution_backward_weights>(
        part.x, part.w, part.y);
    OperandSpec dw = signature.outputs[0];
    if (isPartial) {
      dw.strides = support::rowMajorStrides(dw.shape);
    }
    const auto &dy = signature.inputs[0];
    const auto &x = signature.inputs[1];
    shards_.push_back(
        {range.begin * dy.strides[0], range.begin * x.strides[0],
         Passage(outsideDesc(dy, batch), pd.diff_dst_desc(), true, scratch),
         Passage(outsideDesc(x, batch), pd.src_desc(), true, scratch),
         Passage(weightDesc(dw, part), pd.diff_weights_desc(), false, scratch),
         scratch.take(pd.scratchpad_desc().get_size()),
         DnnlOperation(dnnl::convolution_backward_weights(pd),
                       {{DNNL_ARG_DIFF_DST, pd.diff_dst_desc()},
                        {DNNL_ARG_SRC, pd.src_desc()},
                        {DNNL_ARG_DIFF_WEIGHTS, pd.diff_weights_desc()},
                        {DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc()}})});
  }

  void addSumTasks(const Signature &signature, std::int64_t shards) {
    const double work = 0.1 * static_cast<double>(elements_ * shards);
    const std::int64_t lines = (elements_ + 15) / 16;
    const std::int64_t count = shardCount(lines, work);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto range = shardRange(lines, count, i);
      const ShardRange elements{range.begin * 16,
                                std::min(range.end * 16, elements_)};
      sums_.push_back(elements);
      tasks_.push_back(
          {1,
           work / static_cast<double>(count),
           {elementAccess(signature, 2, elements.begin, elements.end)}});
    }
  }

  void addPartials(ShardRange range, const float *partials, float *dw) const {
    const std::int64_t count = range.end - range.begin;
    std::copy_n(partials + range.begin, count, dw + range.begin);
    const auto add =
        selectedLoops().reduce.columns[static_cast<std::size_t>(ReduceOp::Add)];
    for (std::size_t i = 1; i < shards_.size(); ++i) {
      add(dw + range.begin,
          partials + static_cast<std::int64_t>(i) * elements_ + range.begin, 1,
          count);
    }
  }

  std::int64_t elements_; // of the weights
  std::size_t partials_ = 0;
  std::vector<Shard> shards_;
  std::vector<ShardRange> sums_;
};

// Floats with positive strides; oneDNN has no place for others.
bool isTaken(const Signature &signature) {
  for (std::size_t i = 0; i < signature.operandCount(); ++i) {
    const auto &spec = signature.operand(i);
    if (spec.type != DataType::Float ||
        support::elementCount(spec.shape) == 0 ||
        !std::all_of(spec.strides.begin(), spec.strides.end(),
                     [](std::int64_t stride) { return stride > 0; })) {
      return false;
    }
  }
  return true;
}

bool hasPlainBias(const Signature &signature) {
  return signature.attributes.getInt("bias") == 0 ||
         signature.inputs[2].strides[0] == 1;
}

std::unique_ptr<Plan> planForward(const Signature &signature) {
  if (!isTaken(signature) || !hasPlainBias(signature)) {
    return nullptr;
  }
  return std::make_unique<ImagePlan>(
      signature,
      convolutionShape("convolution", signature.attributes,
                       signature.inputs[0].shape, signature.inputs[1].shape),
      ImagePlan::Direction::Forward);
}

std::unique_ptr<Plan> planDataGrad(const Signature &signature) {
  if (!isTaken(signature)) {
    return nullptr;
  }
  return std::make_unique<ImagePlan>(
      signature,
      convolutionShape("convolutionDataGrad", signature.attributes,
                       signature.outputs[0].shape, signature.inputs[1].shape),
      ImagePlan::Direction::DataGrad);
}

std::unique_ptr<Plan> planWeightGrad(const Signature &signature) {
  if (!isTaken(signature) || !signature.outputs[0].isRowMajor()) {
    return nullptr;
  }
  return std::make_unique<WeightGradPlan>(
      signature,
      convolutionShape("convolutionWeightGrad", signature.attributes,
                       signature.inputs[1].shape, signature.outputs[0].shape));
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
std::span<const KernelEntry> convolutionWeightGradKernels() {
  static const KernelEntry entries[] = {
      laneConvolutionWeightGrad,
      {"oneDNN", allPlain, planWeightGrad},
      {"half", allPlain, planAsFloat<planWeightGrad>}};
  return entries;
}

} // namespace kernels
