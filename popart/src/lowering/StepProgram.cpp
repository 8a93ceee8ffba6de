// The loops of a step, and what of them is returned to the host when.
#include <lowering/StepProgram.hpp>

#include <lowering/HostTensors.hpp>
#include <lowering/PipelineProgram.hpp>

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
        batches_(ir.dataFlow.batchesPerStep()), period_(anchorPeriod(ir)) {}

  Program lower(bool isPipelined) {
    isPipelined ? lowerPipeline() : lowerMicroBatch();
    Sequence step("step");
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
      context_.lower(*op, isUpdate(*op) ? update_ : compute_);
    }
    anchors_ = addAnchors(context_, ir_, graph_);
  }

  void lowerPipeline() {
    pipeline_.emplace(context_, ir_, graph_, inputs_);
    for (const auto &op : graph_.getOps()) {
      if (isUpdate(*op)) {
        context_.lower(*op, update_);
      }
    }
    anchors_ = addAnchors(context_, ir_, graph_);
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
    Sequence microBatch;
    for (const InputStream &input : inputs_) {
      microBatch.add(input.copy);
    }
    microBatch.add(compute_);
    for (const AnchorStream &anchor : anchors_) {
      addReturns(microBatch, {anchor}, anchor.stage, batch);
    }
    return Sequence(
        {repeat(ir_.sessionOptions.getAccumulationFactor(), microBatch),
         update_});
  }

  const Ir &ir_;
  const Graph &graph_;
  LoweringContext context_;
  std::vector<InputStream> inputs_;
  std::vector<AnchorStream> anchors_;
  std::optional<PipelineProgram> pipeline_;
  Sequence compute_{"microBatch"};
  Sequence update_{"update"};
  std::int64_t batches_;
  std::int64_t period_;
};

} // namespace

Program lowerStep(const Ir &ir, const Graph &graph, poplar::Graph &target,
                  bool isPipelined) {
  return StepLowering(ir, graph, target).lower(isPipelined);
}

} // namespace popart
