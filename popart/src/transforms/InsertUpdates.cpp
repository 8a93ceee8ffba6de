// What a gradient does to its weight: accumulation over micro-batches, limits
// on its norm, and the optimiser's step (updates/).
#include <transforms/Passes.hpp>

#include <popart/adam.hpp>
#include <popart/adaptive.hpp>
#include <popart/error.hpp>
#include <popart/sgd.hpp>
#include <popart/tensornames.hpp>
#include <support/Error.hpp>
#include <transforms/updates/UpdateBuilder.hpp>

#include <algorithm>

namespace popart {
namespace {

DataType accumulatorType(const Optimizer &optimizer) {
  switch (optimizer.type()) {
  case OptimizerType::SGD:
    return static_cast<const SGD &>(optimizer).accumType();
  case OptimizerType::Adam:
    return static_cast<const Adam &>(optimizer).accumType();
  case OptimizerType::Adaptive:
    return static_cast<const Adaptive &>(optimizer).accumType();
  }
  return DataType::UNDEFINED;
}

void step(UpdateBuilder &builder) {
  switch (builder.optimizer().type()) {
  case OptimizerType::SGD:
    return stepSgd(builder);
  case OptimizerType::Adam:
    return stepAdam(builder);
  case OptimizerType::Adaptive:
    return stepAdaptive(builder);
  }
}

// One weight on its way from its gradient to its update.
struct Update {
  UpdateBuilder builder;
  TensorId gradient; // summed over micro-batches
  TensorId accumulator;
};

class UpdateInserter {
public:
  explicit UpdateInserter(PassContext &context)
      : context_{context.ir, context.graph, GraphEditor(context.graph),
                 GradientReduction(context.ir.sessionOptions)} {}

  void run() {
    for (const TensorId &id : context_.graph.getTensorIds()) {
      const Tensor &tensor = context_.graph.getTensor(id);
      if (tensor.type == TensorType::Variable &&
          tensor.variableUpdateType == VariableUpdateType::Gradient &&
          context_.graph.hasTensor(getGradId(id))) {
        addUpdate(id);
      }
    }
    for (const auto &settings : context_.ir.optimizer->clipNormSettings()) {
      clip(settings);
    }
    for (Update &update : updates_) {
      step(update.builder);
      reset(update);
    }
  }

private:
  void addUpdate(const TensorId &weight) {
    TensorId gradient = getGradId(weight);
    const Op &producer = *context_.graph.getTensor(gradient).producer;
    updates_.push_back(
        {UpdateBuilder(context_, weight, producer.settings), gradient, {}});
    Update &update = updates_.back();
    UpdateBuilder &builder = update.builder;
    builder.setGradient(gradient, 1.0);
    if (!context_.reduction.accumulates) {
      return;
    }
    // Right after its gradient, so that the gradient need not be kept.
    builder.setPosition(context_.editor.next(producer));
    if (accumulatesIntoVelocity(builder)) {
      accumulateIntoVelocity(builder);
    } else {
      accumulate(update);
    }
    builder.setPosition(nullptr);
    builder.setContext(ExecutionContext::AccumulateOuterFragment);
  }

  void accumulate(Update &update) {
    UpdateBuilder &builder = update.builder;
    TensorId id = builder.state(reservedAccumPrefix(),
                                accumulatorType(builder.optimizer()));
    std::vector<TensorId> inputs = {id, update.gradient};
    std::vector<TensorId> outputs = {UpdateBuilder::updated(id)};
    if (context_.reduction.isRunningMean) {
      inputs.push_back(builder.scalarState(reservedCounterPrefix()));
      outputs.push_back(UpdateBuilder::updated(inputs.back()));
    }
    builder.addOp("Accumulate", inputs, outputs);
    update.accumulator = update.gradient = outputs[0];
    builder.setGradient(update.gradient, 1.0);
  }

  void reset(Update &update) {
    if (update.accumulator.empty()) {
      return;
    }
    UpdateBuilder &builder = update.builder;
    builder.addOp("AccumulatorReset", {update.accumulator}, {});
    if (context_.reduction.isRunningMean) {
      builder.addOp(
          "AccumulatorReset",
          {UpdateBuilder::updated(reservedCounterPrefix() + builder.weight())},
          {});
    }
  }

  std::vector<Update *> groupOf(const ClipNormSettings &settings) {
    const auto &ids = settings.getWeightIds();
    std::vector<Update *> group;
    for (Update &update : updates_) {
      if (settings.getMode() == ClipNormSettings::Mode::ClipAllWeights ||
          std::count(ids.begin(), ids.end(), update.builder.weight()) > 0) {
        group.push_back(&update);
      }
    }
    for (const TensorId &id : ids) {
      support::requireUser<error>(
          std::any_of(group.begin(), group.end(),
                      [&](Update *u) { return u->builder.weight() == id; }),
          "[clip_norm_settings] '{}' is not a weight that is trained", id);
    }
    return group;
  }

  // g * maxNorm / max(norm, maxNorm), the norm being that of all gradients of
  // the group as the optimiser sees them: unscaled and averaged.
  void clip(const ClipNormSettings &settings) {
    const SessionOptions &options = context_.ir.sessionOptions;
    support::requireUser<error>(
        !options.enablePipelining ||
            options.accumulateOuterFragmentSettings.schedule !=
                AccumulateOuterFragmentSchedule::Serial,
        "[clip_norm_settings] gradients of several pipeline stages meet, which "
        "accumulateOuterFragmentSettings.schedule Serial does not allow; use "
        "another schedule");
    std::vector<Update *> group = groupOf(settings);
    if (group.empty()) {
      return;
    }
    Term sum = 0.0;
    for (Update *update : group) {
      std::string name = "n" + std::to_string(clippedCount_++);
      sum = sum + update->builder.squareSum(name, update->gradient);
    }
    UpdateBuilder &last = group.back()->builder;
    double maxNorm = settings.getMaxNorm();
    Term norm = sqrt(sum) / (last.lossScaling() * context_.reduction.divisor());
    Term factor =
        last.compute("clip", maxNorm / call("maximum", {norm, maxNorm}), {});
    for (Update *update : group) {
      update->builder.setGradient(update->gradient, factor);
    }
  }

  UpdateContext context_;
  std::vector<Update> updates_;
  int clippedCount_ = 0;
};

} // namespace

void insertUpdates(PassContext &context) {
  if (context.ir.isTraining()) {
    UpdateInserter(context).run();
  }
}

} // namespace popart
