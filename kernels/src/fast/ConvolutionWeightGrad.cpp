// "convolutionWeightGrad" through oneDNN. Every shard forms the whole gradient
// of its part of the batch; with several shards a last stage adds them up in
// order.
#include "DnnlConvolution.hpp"
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "LaneKernels.hpp"
#include "PlanHelpers.hpp"

#include "loops/Loops.hpp"

#include <algorithm>

namespace kernels {

namespace {

class WeightGradPlan final : public Plan {
public:
  WeightGradPlan(const Signature &signature, const ConvolutionShape &shape)
      : elements_(support::elementCount(shape.weightShape())) {
    const SingleThread single;
    const double work = convolutionWork(shape);
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
    const auto pd = part.weightGrad();
    OperandSpec dw = signature.outputs[0];
    if (isPartial) {
      dw.strides = support::rowMajorStrides(dw.shape);
    }
    const auto &dy = signature.inputs[0];
    const auto &x = signature.inputs[1];
    shards_.push_back(
        {range.begin * dy.strides[0], range.begin * x.strides[0],
         Passage(batchDesc(dy, batch), pd.diff_dst_desc(), true, scratch),
         Passage(batchDesc(x, batch), pd.src_desc(), true, scratch),
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

std::unique_ptr<Plan> planWeightGrad(const Signature &signature) {
  if (!isForDnnl(signature) || !signature.outputs[0].isRowMajor()) {
    return nullptr;
  }
  return std::make_unique<WeightGradPlan>(
      signature,
      convolutionShape("convolutionWeightGrad", signature.attributes,
                       signature.inputs[1].shape, signature.outputs[0].shape));
}

} // namespace

std::span<const KernelEntry> convolutionWeightGradKernels() {
  static const KernelEntry entries[] = {
      laneConvolutionWeightGrad,
      {"oneDNN", allPlain, planWeightGrad},
      {"half", allPlain, planAsFloat<planWeightGrad>}};
  return entries;
}

} // namespace kernels
