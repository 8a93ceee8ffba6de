// The loops of a step, and what of them is returned to the host when.
#include <lowering/StepProgram.hpp>

#include <lowering/Functions.hpp>
#include <lowering/HostTensors.hpp>
#include <lowering/PipelineProgram.hpp>

#include <poplar/CSRFunctions.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

namespace popart {
namespace {

using poplar::program::Program;
using poplar::program::Repeat;
using poplar::program::Sequence;

Program repeat(std::int64_t count, const Program &body) {
  return count == 1 ? body : Repeat(static_cast<unsigned>(count), body);
}

// After how many batches the pattern of EveryN anchors repeats.
std::int64_t anchorPeriod(const Ir &ir) {
  std::int64_t period = 1;
  for (const auto &[id, type] : ir.dataFlow.getAnchorReturnTypeMap()) {
    period = std::lcm(period, std::int64_t{type.rp()});
  }
  return period;
}

class StepLowering {
public:
  StepLowering(const Ir &ir, const Graph &graph, poplar::Graph &target)
      : ir_(ir), graph_(graph), context_(target, ir.sessionOptions),
        inputs_(addHostTensors(context_, ir, graph)),
        batches_(ir.dataFlow.batchesPerStep()), period_(anchorPeriod(ir)),
        turns_(ir.sessionOptions.getReplicationFactor() /
               std::int64_t{target.getReplicationFactor()}) {}

  Program lower(bool isPipelined) {
    isPipelined ? lowerPipeline() : lowerMicroBatch();
    Sequence step("step");
    if (ir_.sessionOptions.enableStochasticRounding) {
      poplar::setStochasticRounding(context_.graph(), step, true,
                                    "stochasticRounding");
    }
    for (const AnchorStream &anchor : anchors_) {
      step.add(anchor.reset);
    }
    // Batches differ only in the anchors they return.
    Sequence period;
    for (std::int64_t batch = 0; batch < period_; ++batch) {
      period.add(lowerBatch(batch));
    }
    step.add(repeat(batches_ / period_, period));
    for (const AnchorStream &anchor : anchors_) {
      if (anchor.type.id() == AnchorReturnTypeId::Sum ||
          anchor.type.id() == AnchorReturnTypeId::Final) {
        step.add(anchor.copy);
      }
    }
    return step;
  }

private:
  static bool isUpdate(const Op &op) {
    return op.settings.executionContext != ExecutionContext::Normal;
  }

  void lowerMicroBatch() {
    for (const auto &op : graph_.getOps()) {
      functions_.lower(context_, *op,
                       isUpdate(*op)                    ? update_
                       : op->opid.type == "SumOfCopies" ? begin_
                                                        : compute_);
    }
    anchors_ = addAnchors(context_, ir_, graph_, turns_);
  }

  // Without accumulation an update belongs to the micro-batch, and so do the
  // variables that it leaves; where replicas take turns it comes after all.
  bool isReturnedLate(const AnchorStream &anchor) const {
    if (turns_ == 1 || ir_.sessionOptions.enableGradientAccumulation) {
      return false;
    }
    const Tensor &tensor = graph_.getTensor(anchor.id);
    if (tensor.producer) {
      return isUpdate(*tensor.producer);
    }
    return tensor.type == TensorType::Variable &&
           std::any_of(tensor.consumers.begin(), tensor.consumers.end(),
                       [](const Op *op) { return isUpdate(*op); });
  }

  void lowerPipeline() {
    pipeline_.emplace(context_, functions_, ir_, graph_, inputs_);
    for (const auto &op : graph_.getOps()) {
      if (isUpdate(*op)) {
        functions_.lower(context_, *op, update_);
      }
    }
    anchors_ = addAnchors(context_, ir_, graph_, turns_);
    if (!ir_.sessionOptions.enableGradientAccumulation) {
      // All batches of the step are the micro-batches of one fill and flush.
      batches_ = 1;
      period_ = 1;
    }
  }

  Program lowerBatch(std::int64_t batch) const {
    if (pipeline_) {
      return Sequence({pipeline_->run(anchors_, batch), update_});
    }
    Sequence broadcast;
    Sequence microBatch;
    bool hasBroadcast = false;
    for (const InputStream &input : inputs_) {
      (input.isBroadcast ? broadcast : microBatch).add(input.copy);
      hasBroadcast = hasBroadcast || input.isBroadcast;
    }
    microBatch.add(compute_);
    Sequence late;
    for (const AnchorStream &anchor : anchors_) {
      addReturns(isReturnedLate(anchor) ? late : microBatch, {anchor},
                 anchor.stage, batch);
    }
    std::int64_t factor = ir_.sessionOptions.getAccumulationFactor();
    Program microBatches =
        hasBroadcast
            ? repeat(factor, Sequence({broadcast, repeat(turns_, microBatch)}))
            : repeat(factor * turns_, microBatch);
    return Sequence({begin_, microBatches, update_, repeat(turns_, late)});
  }

  const Ir &ir_;
  const Graph &graph_;
  LoweringContext context_;
  Functions functions_;
  std::vector<InputStream> inputs_;
  std::vector<AnchorStream> anchors_;
  std::optional<PipelineProgram> pipeline_;
  Sequence begin_{"begin"};
  Sequence compute_{"microBatch"};
  Sequence update_{"update"};
  std::int64_t batches_;
  std::int64_t period_;
  std::int64_t turns_; // replicas that run their micro-batches in turn
};

} // namespace

Program lowerStep(const Ir &ir, const Graph &graph, poplar::Graph &target,
                  bool isPipelined) {
  return StepLowering(ir, graph, target).lower(isPipelined);
}

} // namespace popart
