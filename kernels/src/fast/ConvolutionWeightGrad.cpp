// "convolutionWeightGrad" through oneDNN, in its own layouts where they are of
// our set. A shard forms the whole gradient of its part of the batch, which a
// last stage adds up in order, or, where weights are many, the gradient of its
// part of the output channels.
#include "ConvolutionSignature.hpp"
#include "DnnlConvolution.hpp"
#include "DnnlLayouts.hpp"
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "LaneKernels.hpp"
#include "PlanHelpers.hpp"
#include "WinogradKernels.hpp"

#include "loops/Loops.hpp"

#include <algorithm>

namespace kernels {

namespace {

struct Cut {
  std::int64_t samples, channels; // how many parts; one of them is 1
};

// A part of the batch gives a whole gradient, so that several cost a pass over
// the weights each; a part of the output channels wants its channels of dy
// gathered. Either is kept far below the work.
Cut cutOf(const ConvolutionShape &shape) {
  constexpr std::int64_t channelsPerPart = 32;
  const double work = convolutionWork(shape);
  const auto weights =
      static_cast<double>(support::elementCount(shape.weightShape()));
  const auto most = static_cast<std::int64_t>(work / (4 * weights));
  const std::int64_t samples = shardCount(std::min(shape.batch, most), work);
  std::int64_t channels = 1;
  if (shape.groups == 1 && shape.outChannels % 16 == 0) {
    channels = shardCount(shape.outChannels / channelsPerPart, work);
  }
  if (isStridedPoint(shape)) { // every part picks its pixels anew
    channels = std::min<std::int64_t>(channels, 2);
  }
  const auto gathered =
      static_cast<double>(support::elementCount(shape.outputShape()));
  return samples == 1 || (channels > 1 && gathered < 4 * weights)
             ? Cut{1, channels}
             : Cut{samples, 1};
}

class WeightGradPlan final : public Plan {
public:
  WeightGradPlan(const Signature &signature, const ConvolutionShape &shape)
      : shape_(shape), cut_(cutOf(shape)),
        elements_(support::elementCount(shape.weightShape())) {
    const SingleThread single;
    if (cut_.samples > 1) {
      scratchBytes_ =
          static_cast<std::size_t>(elements_ * cut_.samples) * sizeof(float);
    }
    for (std::int64_t i = 0; i < cut_.samples * cut_.channels; ++i) {
      addShard(signature, i);
    }
    if (cut_.samples > 1) {
      addSumTasks(signature, cut_.samples);
    }
  }

  // Whether the shards want what the whole wants.
  bool isConsistent() const { return isConsistent_; }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    auto *partials = reinterpret_cast<float *>(memory.scratch);
    if (task >= shards_.size()) {
      addPartials(sums_[task - shards_.size()], partials,
                  dataOf<float>(operands, 2));
      return;
    }
    const Shard &shard = shards_[task];
    auto *dy = dataOf<float>(operands, 0) + shard.dyOffset;
    auto *x = dataOf<float>(operands, 1) + shard.xOffset;
    float *dw = cut_.samples > 1 ? partials + task * elements_
                                 : dataOf<float>(operands, 2) + shard.dwOffset;
    std::byte *const own = memory.workspace;
    shard.dy.enter(dy, own);
    shard.x.enter(x, own);
    shard.operation.run({shard.dy.inside(dy, own), shard.x.inside(x, own),
                         shard.dw.inside(dw, own), own + shard.scratchpad});
    shard.dw.leave(dw, own);
  }

private:
  struct Shard {
    std::int64_t dyOffset, xOffset, dwOffset; // elements
    Passage dy, x, dw;
    std::size_t scratchpad;
    DnnlOperation operation;
  };

  void addShard(const Signature &signature, std::int64_t index) {
    Pieces own;
    const auto &dy = signature.inputs[0];
    const auto &x = signature.inputs[1];
    const auto &dw = signature.outputs[0];
    Part dyPart = Part::whole(dy.shape);
    if (cut_.samples > 1) {
      dyPart.first = shardRange(shape_.batch, cut_.samples, index);
    } else if (cut_.channels > 1) {
      const auto blocks =
          shardRange(shape_.outChannels / 16, cut_.channels, index);
      dyPart.second = {blocks.begin * 16, blocks.end * 16};
    }
    const Part xPart{dyPart.first, {0, x.shape[1]}};
    const Part dwPart{dyPart.second, {0, dw.shape[1]}};
    ConvolutionShape part = shape_;
    part.batch = dyPart.first.end - dyPart.first.begin;
    part.outChannels = dyPart.second.end - dyPart.second.begin;
    const auto pd = DnnlShape(part).weightGrad();
    const auto insideDy = pd.diff_dst_desc(), insideX = pd.src_desc(),
               insideDw = pd.diff_weights_desc();
    isConsistent_ =
        isConsistent_ &&
        agrees(dy, imageLayoutOf(insideDy, dyPart.shapeIn(dy.shape))) &&
        agrees(x, imageLayoutOf(insideX, xPart.shapeIn(x.shape))) &&
        agrees(dw, weightLayoutOf(insideDw, dwPart.shapeIn(dw.shape)));
    addTask(signature, dyPart, xPart, dwPart);
    shards_.push_back(
        {elementsOf(dy, dyPart).begin, elementsOf(x, xPart).begin,
         elementsOf(dw, dwPart).begin,
         Passage(imageDesc(dy, dyPart, insideDy), insideDy, true, own),
         Passage(imageDesc(x, xPart, insideX), insideX, true, own),
         Passage(weightDesc(dw, dwPart, shape_.groups, insideDw), insideDw,
                 false, own),
         own.take(pd.scratchpad_desc().get_size()),
         DnnlOperation(dnnl::convolution_backward_weights(pd),
                       {{DNNL_ARG_DIFF_DST, insideDy},
                        {DNNL_ARG_SRC, insideX},
                        {DNNL_ARG_DIFF_WEIGHTS, insideDw},
                        {DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc()}})});
    workspaceBytes_ = std::max(workspaceBytes_, own.bytes());
  }

  void addTask(const Signature &signature, const Part &dy, const Part &x,
               const Part &dw) {
    const auto access = [&](std::size_t operand, const Part &part) {
      const auto elements = elementsOf(signature.operand(operand), part);
      return elementAccess(signature, operand, elements.begin, elements.end);
    };
    Task task{0,
              convolutionWork(shape_) /
                  static_cast<double>(cut_.samples * cut_.channels),
              {access(0, dy), access(1, x)}};
    if (cut_.samples == 1) {
      task.accesses.push_back(access(2, dw));
    }
    tasks_.push_back(std::move(task));
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

  ConvolutionShape shape_;
  Cut cut_;
  bool isConsistent_ = true;
  std::int64_t elements_; // of the weights
  std::vector<Shard> shards_;
  std::vector<ShardRange> sums_;
};

std::optional<std::vector<Layout>> wantedLayouts(const Signature &signature) {
  if (!isForDnnl(signature)) {
    return std::nullopt;
  }
  const SingleThread single;
  const auto pd = DnnlShape(weightGradShape(signature)).weightGrad();
  return std::vector{
      imageLayoutOf(pd.diff_dst_desc(), signature.inputs[0].shape),
      imageLayoutOf(pd.src_desc(), signature.inputs[1].shape),
      weightLayoutOf(pd.diff_weights_desc(), signature.outputs[0].shape)};
}

std::unique_ptr<Plan> planWeightGrad(const Signature &signature) {
  const OperandSpec &dw = signature.outputs[0];
  if (!isForDnnl(signature) ||
      (dw.layout == Layout::Plain && !dw.isRowMajor())) {
    return nullptr;
  }
  auto plan =
      std::make_unique<WeightGradPlan>(signature, weightGradShape(signature));
  return plan->isConsistent() ? std::move(plan) : nullptr;
}

} // namespace

std::span<const KernelEntry> convolutionWeightGradKernels() {
  static const KernelEntry entries[] = {
      laneWinogradConvolutionWeightGrad,
      laneConvolutionWeightGrad,
      winogradConvolutionWeightGrad,
      {"oneDNN", wantedLayouts, planWeightGrad},
      {"oneDNN", allPlain, planWeightGrad},
      {"half", allPlain, planAsFloat<planWeightGrad>}};
  return entries;
}

} // namespace kernels
