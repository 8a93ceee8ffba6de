// What a gradient does to its weight: accumulation over micro-batches, the
// optimiser's state and its step.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <popart/adam.hpp>
#include <popart/adaptive.hpp>
#include <popart/error.hpp>
#include <popart/sgd.hpp>
#include <popart/tensornames.hpp>
#include <support/Error.hpp>

namespace popart {
namespace {

class UpdateInserter {
public:
  explicit UpdateInserter(PassContext &context)
      : ir_(context.ir), graph_(context.graph), editor_(context.graph),
        optimizer_(*context.ir.optimizer) {
    const SessionOptions &options = ir_.sessionOptions;
    accumulates_ = options.enableGradientAccumulation;
    bool isMean =
        options.accumulationAndReplicationReductionType == ReductionType::Mean;
    isRunningMean_ =
        isMean && options.meanAccumulationAndReplicationReductionStrategy ==
                      MeanReductionStrategy::Running;
    double divisor = isMean && !isRunningMean_
                         ? static_cast<double>(options.getAccumulationFactor() *
                                               options.getReplicationFactor())
                         : 1.0;
    if (optimizer_.lossScaling().isConst()) {
      divisor *= optimizer_.lossScaling().val();
    }
    gradientScale_ = static_cast<float>(1.0 / divisor);
  }

  void run() {
    for (const TensorId &id : graph_.getTensorIds()) {
      const Tensor &tensor = graph_.getTensor(id);
      if (tensor.type == TensorType::Variable &&
          tensor.variableUpdateType == VariableUpdateType::Gradient &&
          graph_.hasTensor(getGradId(id))) {
        insertFor(id);
      }
    }
  }

private:
  void insertFor(const TensorId &weight) {
    TensorId gradient = getGradId(weight);
    Op *producer = graph_.getTensor(gradient).producer;
    settings_ = producer->settings;
    settings_.name = weight;
    TensorId accumulator;
    if (accumulates_) {
      gradient = accumulate(weight, gradient, *producer);
      accumulator = gradient;
      settings_.executionContext = ExecutionContext::AccumulateOuterFragment;
    }
    if (!optimizer_.lossScaling().isConst()) {
      gradient = unscale(weight, gradient);
    }
    step(weight, gradient);
    if (accumulates_) {
      addOp("AccumulatorReset", {accumulator}, {});
      if (isRunningMean_) {
        addOp("AccumulatorReset", {updated(reservedCounterPrefix() + weight)},
              {});
      }
    }
  }

  static TensorId updated(const TensorId &id) {
    return reservedUpdatedVarPrefix() + id;
  }

  Op &addOp(const std::string &type, const std::vector<TensorId> &inputs,
            const std::vector<TensorId> &outputs,
            const Attributes &attributes = {}) {
    return editor_.insertBefore(nullptr, {"aspen", type}, inputs, outputs,
                                attributes, settings_);
  }

  // A variable of the optimiser's own, all zeros. The model may bring one.
  TensorId addState(const std::string &prefix, const TensorId &weight,
                    DataType type, const Shape &shape) {
    TensorId id = prefix + weight;
    if (!graph_.hasTensor(id)) {
      TensorInfo info(type, shape);
      std::vector<char> zeros(static_cast<std::size_t>(info.nbytes()), 0);
      graph_.addVariable(id, info, zeros.data());
    }
    graph_.getTensor(id).variableUpdateType = VariableUpdateType::None;
    return id;
  }

  DataType typeOr(DataType type, const TensorId &weight) const {
    return type == DataType::UNDEFINED
               ? graph_.getTensor(weight).info.dataType()
               : type;
  }

  const Shape &shapeOf(const TensorId &weight) const {
    return graph_.getTensor(weight).info.shape();
  }

  // Right after its gradient, so that the gradient need not be kept.
  TensorId accumulate(const TensorId &weight, const TensorId &gradient,
                      const Op &producer) {
    TensorId id = addState(reservedAccumPrefix(), weight,
                           typeOr(accumulatorType(), weight), shapeOf(weight));
    std::vector<TensorId> inputs = {id, gradient};
    std::vector<TensorId> outputs = {updated(id)};
    if (isRunningMean_) {
      inputs.push_back(
          addState(reservedCounterPrefix(), weight, DataType::FLOAT, {}));
      outputs.push_back(updated(inputs.back()));
    }
    editor_.insertBefore(editor_.next(producer), {"aspen", "Accumulate"},
                         inputs, outputs, {}, settings_);
    return updated(id);
  }

  DataType accumulatorType() const {
    switch (optimizer_.type()) {
    case OptimizerType::SGD:
      return static_cast<const SGD &>(optimizer_).accumType();
    case OptimizerType::Adam:
      return static_cast<const Adam &>(optimizer_).accumType();
    case OptimizerType::Adaptive:
      return static_cast<const Adaptive &>(optimizer_).accumType();
    }
    return DataType::UNDEFINED;
  }

  // The host may change the loss scaling, so it is divided out on the device.
  TensorId unscale(const TensorId &weight, const TensorId &gradient) {
    TensorId scaling = reservedLossScalingPrefix() +
                       graph_.getTensor(ir_.loss).info.data_type();
    return addOp("Elementwise", {gradient, scaling}, {},
                 Attributes()
                     .set("expression", Attributes::String("g/s"))
                     .set("operands", Attributes::String("g,s"))
                     .set("shape", shapeOf(weight)))
        .outputs[0];
  }

  // The device's copy of a hyper-parameter, which weights may share.
  TensorId scalar(const std::string &key, const TensorId &weight) {
    for (const auto &row : optimizer_.hyperparameters()) {
      if (row.key != key) {
        continue;
      }
      TensorId id = row.values.hasSpecific(weight)
                        ? row.scalar + reservedSpecificInfix() + weight
                        : row.scalar + reservedDefaultInfix() + "FLOAT";
      if (!graph_.hasTensor(id)) {
        OptimizerValue value = row.values.get(weight);
        float number = value.val();
        TensorInfo info(DataType::FLOAT, {});
        if (value.isConst()) {
          graph_.addConstant(id, info, &number);
        } else {
          graph_.addVariable(id, info, &number);
          graph_.getTensor(id).variableUpdateType = VariableUpdateType::None;
        }
      }
      return id;
    }
    throw internal_error("no hyper-parameter " + key);
  }

  void step(const TensorId &weight, const TensorId &gradient) {
    switch (optimizer_.type()) {
    case OptimizerType::SGD:
      return stepSgd(weight, gradient, static_cast<const SGD &>(optimizer_));
    case OptimizerType::Adam:
      return stepAdam(weight, gradient, static_cast<const Adam &>(optimizer_));
    case OptimizerType::Adaptive:
      return stepRmsprop(weight, gradient,
                         static_cast<const Adaptive &>(optimizer_));
    }
  }

  Attributes scaled() const {
    return Attributes().set("gradientScale", gradientScale_);
  }

  void stepSgd(const TensorId &weight, const TensorId &gradient,
               const SGD &sgd) {
    std::vector<TensorId> inputs = {weight, gradient,
                                    scalar("learningRate", weight),
                                    scalar("weightDecay", weight)};
    std::vector<TensorId> outputs = {updated(weight)};
    const OptimizerValue none(0.0f, true);
    if (sgd.momentums().get(weight) != none ||
        sgd.dampenings().get(weight) != none) {
      bool isCombined = sgd.getSGDAccumulatorAndMomentum() ==
                        SGDAccumulatorAndMomentum::Combined;
      TensorId velocity =
          addState(isCombined ? reservedAcclPrefix() : reservedAccl1Prefix(),
                   weight, typeOr(sgd.accl1Type(), weight), shapeOf(weight));
      inputs.insert(inputs.end(), {velocity, scalar("momentum", weight),
                                   scalar("dampening", weight)});
      outputs.push_back(updated(velocity));
    }
    addOp("SgdUpdate", inputs, outputs,
          scaled().set("nesterov", Attributes::Int{sgd.nesterov()}));
  }

  void stepAdam(const TensorId &weight, const TensorId &gradient,
                const Adam &adam) {
    bool hasBias = adam.mode() == AdamMode::Adam;
    support::requireUser<error>(
        hasBias || adam.mode() == AdamMode::AdamNoBias,
        "[Adam] modes AdaMax, Lamb and LambNoBias are not supported yet");
    TensorId m = addState(reservedAccl1Prefix(), weight, DataType::FLOAT,
                          shapeOf(weight));
    TensorId v = addState(reservedAccl2Prefix(), weight, DataType::FLOAT,
                          shapeOf(weight));
    TensorId count =
        addState(reservedStepPrefix(), weight, DataType::FLOAT, {});
    bool isDecoupled = adam.weightDecayMode() == WeightDecayMode::Decay;
    addOp("AdamUpdate",
          {weight, gradient, m, v, count, scalar("learningRate", weight),
           scalar("beta1", weight), scalar("beta2", weight),
           scalar("eps", weight), scalar("weightDecay", weight)},
          {updated(weight), updated(m), updated(v), updated(count)},
          scaled()
              .set("decoupledDecay", Attributes::Int{isDecoupled})
              .set("biasCorrection", Attributes::Int{hasBias}));
  }

  void stepRmsprop(const TensorId &weight, const TensorId &gradient,
                   const Adaptive &adaptive) {
    support::requireUser<error>(
        adaptive.mode() == AdaptiveMode::RMSProp,
        "[Adaptive] only mode RMSProp is supported yet");
    const OptimizerValue none(0.0f, true);
    support::requireUser<error>(
        adaptive.weightDecayMode() == WeightDecayMode::L2Regularization ||
            adaptive.weightDecays().get(weight) == none,
        "[Adaptive] weight decay is only supported in mode L2Regularization");
    TensorId squares = addState(reservedAccl1Prefix(), weight, DataType::FLOAT,
                                shapeOf(weight));
    std::vector<TensorId> inputs = {weight,
                                    gradient,
                                    squares,
                                    scalar("learningRate", weight),
                                    scalar("alpha", weight),
                                    scalar("eps", weight),
                                    scalar("weightDecay", weight)};
    std::vector<TensorId> outputs = {updated(weight), updated(squares)};
    if (adaptive.momentums().get(weight) != none) {
      TensorId momentum = addState(reservedAccl3Prefix(), weight,
                                   DataType::FLOAT, shapeOf(weight));
      inputs.insert(inputs.end(), {momentum, scalar("momentum", weight)});
      outputs.push_back(updated(momentum));
    }
    addOp("RmspropUpdate", inputs, outputs,
          scaled().set("epsilonInside",
                       Attributes::Int{adaptive.rmspropTFVariant()}));
  }

  Ir &ir_;
  Graph &graph_;
  GraphEditor editor_;
  const Optimizer &optimizer_;
  bool accumulates_ = false;
  bool isRunningMean_ = false;
  float gradientScale_ = 1;
  Op::Settings settings_;
};

} // namespace

void insertUpdates(PassContext &context) {
  if (context.ir.isTraining()) {
    UpdateInserter(context).run();
  }
}

} // namespace popart
