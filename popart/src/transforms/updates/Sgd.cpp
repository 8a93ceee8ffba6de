// SGD's three forms: without state, with the accumulator in the velocity
// (Combined) and with both apart (Separate).
#include <transforms/updates/UpdateBuilder.hpp>

#include <popart/sgd.hpp>
#include <popart/tensornames.hpp>

namespace popart {
namespace {

const SGD &sgdOf(const UpdateBuilder &builder) {
  return static_cast<const SGD &>(builder.optimizer());
}

bool isCombined(const SGD &sgd) {
  return sgd.getSGDAccumulatorAndMomentum() ==
         SGDAccumulatorAndMomentum::Combined;
}

bool hasMomentum(const UpdateBuilder &builder) {
  return sgdOf(builder).momentums().get(builder.weight()) !=
         OptimizerValue(0.0f, true);
}

bool isNesterov(const UpdateBuilder &builder) {
  return sgdOf(builder).nesterovs().get(builder.weight()).val() != 0;
}

// PyTorch's rule: only a velocity that is there already is dampened.
bool dampsLater(const UpdateBuilder &builder) {
  return sgdOf(builder)
             .hyperparameter("dampsLater")
             .get(builder.weight())
             .val() != 0;
}

// Whether the weight counts its steps, to know the first one.
bool countsSteps(UpdateBuilder &builder) {
  return dampsLater(builder) && hasMomentum(builder) &&
         !builder.value("dampening").is(0);
}

// The dampening of all steps but the first.
Term dampeningOf(UpdateBuilder &builder) {
  Term dampening = builder.value("dampening");
  if (!dampsLater(builder) || dampening.is(0)) {
    return dampening;
  }
  Term momentum = builder.value("momentum");
  if (momentum.isNumber()) {
    return momentum.is(0) ? Term(0.0) : dampening;
  }
  return select(dampening, 0.0, momentum);
}

// That of this step.
Term currentDampening(UpdateBuilder &builder) {
  Term dampening = dampeningOf(builder);
  if (!countsSteps(builder)) {
    return dampening;
  }
  Term steps("t", builder.scalarState(reservedStepPrefix()));
  return dampening * call("minimum", {steps, 1.0});
}

void countStep(UpdateBuilder &builder) {
  if (countsSteps(builder)) {
    TensorId steps = builder.scalarState(reservedStepPrefix());
    builder.update("t", steps, Term("t", steps) + 1,
                   UpdateBuilder::updated(steps));
  }
}

// Hyper-parameters by the letters of the formulas.
struct Values {
  explicit Values(UpdateBuilder &builder)
      : lr(builder.value("learningRate")), wd(builder.value("weightDecay")),
        mm(builder.value("momentum")), vs(builder.value("velocityScaling")),
        undamped(1 - currentDampening(builder)),
        undampedNext(1 - dampeningOf(builder)) {}

  Term lr, wd, mm, vs;
  Term undamped;     // 1 - dampening
  Term undampedNext; // in the step after this
};

// For the kind, a tensor.
TensorId dampeningScalar(UpdateBuilder &builder) {
  if (!countsSteps(builder)) {
    return builder.scalar("dampening");
  }
  return builder.compute("dm", currentDampening(builder), {})
      .operands()
      .at("dm");
}

Attributes kindAttributes(float scale, bool hasVelocity, bool hasNesterov) {
  return Attributes()
      .set("gradientScale", scale)
      .set("velocity", Attributes::Int{hasVelocity})
      .set("nesterov", Attributes::Int{hasNesterov});
}

void stepWithoutState(UpdateBuilder &builder) {
  Values values(builder);
  if (values.undamped.is(1)) {
    auto [gradient, scale] = builder.kindGradient();
    builder.addOp("SgdUpdate",
                  {builder.weight(), gradient, builder.scalar("learningRate"),
                   builder.scalar("weightDecay")},
                  {UpdateBuilder::updated(builder.weight())},
                  kindAttributes(scale, false, false));
    return;
  }
  Term w = builder.weightTerm();
  builder.updateWeight(w - values.lr * values.undamped *
                               (builder.gradientTerm() + values.wd * w));
}

void stepSeparate(UpdateBuilder &builder) {
  const SGD &sgd = sgdOf(builder);
  Values values(builder);
  TensorId velocity = builder.state(reservedAccl1Prefix(), sgd.accl1Type());
  if (values.vs.is(1)) {
    auto [gradient, scale] = builder.kindGradient();
    builder.addOp("SgdUpdate",
                  {builder.weight(), gradient, builder.scalar("learningRate"),
                   builder.scalar("weightDecay"), velocity,
                   builder.scalar("momentum"), dampeningScalar(builder)},
                  {UpdateBuilder::updated(builder.weight()),
                   UpdateBuilder::updated(velocity)},
                  kindAttributes(scale, true, isNesterov(builder)));
    return;
  }
  Term w = builder.weightTerm();
  Term gradient = values.vs * (builder.gradientTerm() + values.wd * w);
  Term v = builder.update("v", velocity,
                          values.mm * Term("v", velocity) +
                              values.undamped * gradient,
                          UpdateBuilder::updated(velocity));
  builder.updateWeight(
      w - values.lr / values.vs *
              (isNesterov(builder) ? gradient + values.mm * v : v));
}

// The velocity before any gradient: what its last step would have left.
TensorId combinedVelocity(UpdateBuilder &builder) {
  const SGD &sgd = sgdOf(builder);
  const TensorId &weight = builder.weight();
  float dampening =
      dampsLater(builder) ? 0.0f : sgd.dampenings().get(weight).val();
  float initial = (1 - dampening) * sgd.weightDecays().get(weight).val() *
                  sgd.velocityScalings().get(weight).val();
  return builder.scaledState(reservedAcclPrefix(), sgd.accl1Type(), initial);
}

// Replicas each hold the whole velocity while they accumulate into it, and its
// sum is that many times too large.
double velocityCopies(const UpdateBuilder &builder) {
  return accumulatesIntoVelocity(builder) ? builder.reduction().replicas : 1.0;
}

Term addToVelocity(UpdateBuilder &builder, const TensorId &velocity,
                   const Term &gradient) {
  Values values(builder);
  return builder.update("v", velocity,
                        Term("v", velocity) +
                            gradient * (values.undamped * values.vs),
                        UpdateBuilder::updated(velocity));
}

void stepCombined(UpdateBuilder &builder) {
  Values values(builder);
  TensorId velocity = combinedVelocity(builder);
  Term v = accumulatesIntoVelocity(builder)
               ? Term("v", UpdateBuilder::updated(velocity))
               : addToVelocity(builder, velocity, builder.gradientTerm());
  double copies = velocityCopies(builder);
  Term w = builder.weightTerm();
  Term step =
      isNesterov(builder)
          ? values.vs * (builder.gradientTerm() + values.wd * w) + values.mm * v
          : v;
  builder.updateWeight(w - values.lr / (values.vs * copies) * step);
  Term updatedWeight("w", UpdateBuilder::updated(builder.weight()));
  Term next = values.mm / copies * v +
              values.undampedNext * values.wd * values.vs * updatedWeight;
  const TensorId &last = v.operands().at("v");
  TensorId output = reservedAcclFinalOutPrefix() + builder.weight();
  if (next.isNumber()) { // nothing carries over
    builder.addOp("AccumulatorReset", {last}, {output});
  } else {
    builder.update("v", last, next, output);
  }
}

} // namespace

bool accumulatesIntoVelocity(const UpdateBuilder &builder) {
  if (builder.optimizer().type() != OptimizerType::SGD ||
      !builder.reduction().accumulates) {
    return false;
  }
  // What needs the whole gradient by itself keeps an accumulator.
  const SGD &sgd = sgdOf(builder);
  return isCombined(sgd) && !isNesterov(builder) && !builder.isScaleFar() &&
         sgd.clipNormSettings().empty();
}

void accumulateIntoVelocity(UpdateBuilder &builder) {
  const GradientReduction &reduction = builder.reduction();
  double factor =
      reduction.isMean ? 1 / reduction.accumulationFactor : reduction.replicas;
  addToVelocity(builder, combinedVelocity(builder),
                builder.rawGradient() * factor / builder.lossScaling());
}

void stepSgd(UpdateBuilder &builder) {
  const SGD &sgd = sgdOf(builder);
  if (accumulatesIntoVelocity(builder) ||
      (isCombined(sgd) && hasMomentum(builder))) {
    stepCombined(builder);
  } else if (hasMomentum(builder)) {
    stepSeparate(builder);
  } else {
    stepWithoutState(builder);
  }
  countStep(builder);
}

} // namespace popart
