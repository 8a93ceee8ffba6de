// Automatic loss scaling: gradients beyond an edge are counted in every
// micro-batch; after the update the scale's factor halves if too many were, and
// doubles if not.
#include <transforms/Passes.hpp>

#include <popart/adam.hpp>
#include <popart/error.hpp>
#include <popart/tensornames.hpp>
#include <support/Error.hpp>
#include <transforms/updates/UpdateBuilder.hpp>

#include <algorithm>
#include <set>

namespace popart {
namespace {

constexpr double largestHalf = 65504;

bool startsWith(const TensorId &id, const std::string &prefix) {
  return id.rfind(prefix, 0) == 0;
}

// Views hold the same numbers once more.
bool isView(const Op &op) {
  const std::set<std::string> views = {"Identity", "Reshape", "Transpose",
                                       "Flatten",  "Squeeze", "Unsqueeze",
                                       "Expand",   "Slice",   "Concat"};
  return views.count(op.opid.type) > 0;
}

bool isConvOrMatMul(const Op &op) {
  return op.opid.type.find("Conv") != std::string::npos ||
         op.opid.type.find("MatMul") != std::string::npos ||
         op.opid.type.find("Gemm") != std::string::npos;
}

class LossScaler {
public:
  explicit LossScaler(PassContext &context)
      : settings_(context.ir.sessionOptions.automaticLossScalingSettings),
        context_{context.ir, context.graph, GraphEditor(context.graph),
                 GradientReduction(context.ir.sessionOptions)} {}

  void run() {
    check();
    std::map<PipelineStage, std::vector<TensorId>> tracked = findTracked();
    support::requireUser<error>(
        !tracked.empty(),
        "[AutomaticLossScale transform] No tracked gradient tensors of type "
        "fp16 were found.");
    Term upper = 0.0;
    for (const auto &[stage, ids] : tracked) {
      upper = upper + count(stage, ids);
    }
    update(upper);
  }

private:
  static void requireShare(const char *name, float value) {
    support::requireUser<error>(
        0 <= value && value <= 1,
        "[AutomaticLossScale transform] Out of range value for '{}'. The "
        "current value is {}; the range is [0, 1].",
        name, value);
  }

  void check() const {
    const Optimizer &optimizer = *context_.ir.optimizer;
    support::requireUser<error>(
        !optimizer.lossScaling().isConst(),
        "[AutomaticLossScale transform] The optimizer must have non-const loss "
        "scaling");
    support::requireUser<error>(
        optimizer.type() != OptimizerType::Adam ||
            !static_cast<const Adam &>(optimizer).scaledOptimizerState(),
        "[AutomaticLossScale transform] cannot be used with "
        "scaled_optimizer_state");
    bool isByUser =
        settings_.gradientTensorTrackingMethod ==
        GradientTensorTrackingMethod::GradientsOfUserSpecifiedTensors;
    support::requireUser<error>(
        isByUser == static_cast<bool>(settings_.toTrackTensors),
        "[AutomaticLossScale transform] toTrackTensors is for "
        "GradientsOfUserSpecifiedTensors, and needed for it");
    requireShare("binEdgeLocation", settings_.binEdgeLocation);
    requireShare("thresholdUpperCountProportion",
                 settings_.thresholdUpperCountProportion);
    support::requireUser<error>(
        settings_.updatePeriod >= 1,
        "[AutomaticLossScale transform] updatePeriod is {}; it must be at "
        "least 1",
        settings_.updatePeriod);
    support::requireUser<error>(
        !context_.ir.sessionOptions.enablePipelining ||
            context_.reduction.accumulates,
        "[AutomaticLossScale transform] enablePipelining is 'true' and "
        "enableGradientAccumulation 'false'; a pipeline needs both to be "
        "'true'");
  }

  bool isTracked(const Tensor &tensor) const {
    if (!tensor.producer || !tensor.producer->settings.isBackward ||
        tensor.info.dataType() != DataType::FLOAT16) {
      return false;
    }
    return settings_.gradientTensorTrackingMethod ==
                   GradientTensorTrackingMethod::ConvAndMatmulGradients
               ? isConvOrMatMul(*tensor.producer)
               : startsWith(tensor.id, reservedGradientPrefix()) &&
                     !isView(*tensor.producer);
  }

  std::map<PipelineStage, std::vector<TensorId>> findTracked() const {
    std::vector<TensorId> ids;
    if (settings_.toTrackTensors) {
      for (const TensorId &id : *settings_.toTrackTensors) {
        support::requireUser<error>(
            context_.graph.hasTensor(getGradId(id)),
            "[AutomaticLossScale transform] tensor '{}' of toTrackTensors has "
            "no gradient",
            id);
        ids.push_back(getGradId(id));
      }
    } else {
      for (const TensorId &id : context_.graph.getTensorIds()) {
        if (isTracked(context_.graph.getTensor(id))) {
          ids.push_back(id);
        }
      }
    }
    std::map<PipelineStage, std::vector<TensorId>> tracked;
    for (const TensorId &id : ids) {
      const Op &producer = *context_.graph.getTensor(id).producer;
      tracked[producer.settings.pipelineStage].push_back(id);
    }
    return tracked;
  }

  // The last of these operations in the schedule.
  const Op &lastOf(const std::vector<const Op *> &ops) const {
    const Op *last = nullptr;
    for (const auto &op : context_.graph.getOps()) {
      bool isOne = std::find(ops.begin(), ops.end(), op.get()) != ops.end();
      last = isOne ? op.get() : last;
    }
    return *last;
  }

  // How many elements of these gradients, over the micro-batches of an update,
  // are beyond the edge.
  Term count(PipelineStage stage, const std::vector<TensorId> &ids) {
    std::vector<TensorId> counts;
    std::vector<const Op *> ops;
    for (const TensorId &id : ids) {
      const Tensor &tensor = context_.graph.getTensor(id);
      Op::Settings settings = tensor.producer->settings;
      settings.name = id;
      Op &op = context_.editor.insertBefore(
          context_.editor.next(*tensor.producer), {"aspen", "CountBeyond"},
          {id}, {},
          Attributes().set(
              "edge", static_cast<float>(largestHalf *
                                         double{settings_.binEdgeLocation})),
          settings);
      counts.push_back(op.outputs[0]);
      ops.push_back(&op);
      elements_ += static_cast<double>(tensor.info.nelms());
    }
    TensorId id = reservedGradientCountPrefix() +
                  std::to_string(std::max<PipelineStage>(stage, 0));
    const Op &last = lastOf(ops);
    const Op *position = context_.editor.next(last);
    place_ = last.settings;
    TensorId sum = context_.editor
                       .insertBefore(position, {"ai.onnx", "Sum"}, counts,
                                     {context_.reduction.accumulates ? "" : id},
                                     {}, last.settings)
                       .outputs[0];
    if (context_.reduction.accumulates) {
      addScalar(id);
      sum = context_.editor
                .insertBefore(position, {"aspen", "Accumulate"}, {id, sum},
                              {UpdateBuilder::updated(id)}, {}, last.settings)
                .outputs[0];
      accumulators_.push_back(sum);
    }
    return Term("c" + std::to_string(std::max<PipelineStage>(stage, 0)), sum);
  }

  TensorId addScalar(const TensorId &id) {
    const float zero = 0;
    context_.graph.addVariable(id, TensorInfo(DataType::FLOAT, {}), &zero);
    context_.graph.getTensor(id).variableUpdateType = VariableUpdateType::None;
    return id;
  }

  // With t the threshold: halves if upper > t / (1 - t) * lower, where t may
  // be 1.
  void update(const Term &upper) {
    double elements = elements_ * context_.reduction.accumulationFactor *
                      context_.reduction.replicas * settings_.updatePeriod;
    double t = double{settings_.thresholdUpperCountProportion};
    UpdateBuilder builder(context_, "lossScaling", place_);
    if (context_.reduction.accumulates) {
      builder.setContext(ExecutionContext::AccumulateOuterFragment);
    }
    Term factor = 1.0;
    auto factorOf = [&](const Term &all) {
      return select(0.5, 2.0, (1 - t) * all - t * (elements - all));
    };
    if (settings_.updatePeriod == 1) {
      factor = builder.compute("factor", factorOf(upper), {});
    } else {
      factor = updatePeriodically(builder, upper, factorOf);
    }
    TensorId id = reservedLossScaleUpdateFactorPrefix();
    builder.update("s", id, Term("s", id) * factor);
    for (const TensorId &accumulator : accumulators_) {
      builder.addOp("AccumulatorReset", {accumulator}, {});
    }
  }

  // Counts gather over the updates of a period. The counter of updates is named
  // as the optimisers' are.
  template <typename F>
  Term updatePeriodically(UpdateBuilder &builder, const Term &upper,
                          F &&factorOf) {
    TensorId sumId =
        addScalar(reservedGradientCountPrefix() + std::string("period"));
    TensorId stepId =
        addScalar(reservedStepPrefix() + std::string("lossScaling"));
    Term sum = builder.update("sum", sumId, Term("sum", sumId) + upper);
    Term step = builder.update("step", stepId, Term("step", stepId) + 1.0);
    Term isDue =
        builder.compute("due", step - (settings_.updatePeriod - 0.5), {});
    Term factor =
        builder.compute("factor", select(factorOf(sum), 1.0, isDue), {});
    builder.update("sum", sum.operands().at("sum"), select(0.0, sum, isDue));
    builder.update("step", step.operands().at("step"),
                   select(0.0, step, isDue));
    return factor;
  }

  const AutomaticLossScalingSettings &settings_;
  UpdateContext context_;
  Op::Settings place_;  // of the last that counts
  double elements_ = 0; // of one micro-batch
  std::vector<TensorId> accumulators_;
};

} // namespace

void scaleLossAutomatically(PassContext &context) {
  if (context.ir.isTraining() &&
      context.ir.sessionOptions.automaticLossScalingSettings.enabled) {
    LossScaler(context).run();
  }
}

} // namespace popart
