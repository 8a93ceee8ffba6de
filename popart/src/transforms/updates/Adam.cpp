// Adam and its relatives: plain Adam is one kind, the others are formulas.
#include <transforms/updates/UpdateBuilder.hpp>

#include <popart/adam.hpp>
#include <popart/tensornames.hpp>

namespace popart {
namespace {

const Adam &adamOf(const UpdateBuilder &builder) {
  return static_cast<const Adam &>(builder.optimizer());
}

bool isCorrected(AdamMode mode) {
  return mode != AdamMode::AdamNoBias && mode != AdamMode::LambNoBias;
}

bool isLamb(AdamMode mode) {
  return mode == AdamMode::Lamb || mode == AdamMode::LambNoBias;
}

struct State {
  explicit State(UpdateBuilder &builder)
      : first(
            builder.state(reservedAccl1Prefix(), adamOf(builder).accl1Type())),
        second(
            builder.state(reservedAccl2Prefix(), adamOf(builder).accl2Type())),
        step(builder.scalarState(reservedStepPrefix())) {}

  TensorId first, second, step;
};

void stepByKind(UpdateBuilder &builder, const State &state) {
  const Adam &adam = adamOf(builder);
  auto [gradient, scale] = builder.kindGradient();
  const TensorId &weight = builder.weight();
  bool isDecoupled = adam.weightDecayMode() == WeightDecayMode::Decay;
  builder.addOp(
      "AdamUpdate",
      {weight, gradient, state.first, state.second, state.step,
       builder.scalar("learningRate"), builder.scalar("beta1"),
       builder.scalar("beta2"), builder.scalar("eps"),
       builder.scalar("weightDecay")},
      {UpdateBuilder::updated(weight), UpdateBuilder::updated(state.first),
       UpdateBuilder::updated(state.second),
       UpdateBuilder::updated(state.step)},
      Attributes()
          .set("gradientScale", scale)
          .set("decoupledDecay", Attributes::Int{isDecoupled})
          .set("biasCorrection", Attributes::Int{isCorrected(adam.mode())}));
}

// The direction x that the weight goes against, before any decay. `scaling` is
// what the state is multiplied by.
Term direction(UpdateBuilder &builder, const State &state, const Term &s,
               const Term &scaling) {
  AdamMode mode = adamOf(builder).mode();
  Term b1 = builder.value("beta1");
  Term b2 = builder.value("beta2");
  Term m("m", state.first);
  Term v("v", state.second);
  m = builder.update("m", state.first, b1 * m + (1 - b1) * s,
                     UpdateBuilder::updated(state.first));
  v = builder.update("v", state.second,
                     mode == AdamMode::AdaMax
                         ? call("maximum", {b2 * v, call("absolute", {s})})
                         : b2 * v + (1 - b2) * square(s),
                     UpdateBuilder::updated(state.second));
  Term t = builder.update("t", state.step, Term("t", state.step) + 1,
                          UpdateBuilder::updated(state.step));
  Term eps = builder.value("eps") * scaling;
  if (!isCorrected(mode)) {
    return m / (sqrt(v) + eps);
  }
  m = m / builder.compute("c1", oneMinusPower(b1, t), {});
  if (mode == AdamMode::AdaMax) {
    return m / (v + eps);
  }
  return m / (sqrt(v / builder.compute("c2", oneMinusPower(b2, t), {})) + eps);
}

// What Lamb multiplies the rate by: the weight's norm, at most maxWeightNorm,
// over the step's; 1 when either is 0.
Term trustRatio(UpdateBuilder &builder, const TensorId &step) {
  Term weights = builder.squareSum("r1", builder.weight());
  Term steps = builder.squareSum("r2", step);
  Term norm = call("minimum", {sqrt(weights), builder.value("maxWeightNorm")});
  return builder.compute(
      "ratio", select(select(norm / sqrt(steps), 1.0, steps), 1.0, weights),
      {});
}

} // namespace

void stepAdam(UpdateBuilder &builder) {
  const Adam &adam = adamOf(builder);
  State state(builder);
  bool isPlain =
      adam.mode() == AdamMode::Adam || adam.mode() == AdamMode::AdamNoBias;
  if (isPlain && !adam.scaledOptimizerState()) {
    stepByKind(builder, state);
    return;
  }
  Term w = builder.weightTerm();
  Term wd = builder.value("weightDecay");
  Term scaling =
      adam.scaledOptimizerState() ? builder.lossScaling() : Term(1.0);
  Term s = adam.scaledOptimizerState()
               ? builder.rawGradient() / builder.reduction().divisor()
               : builder.gradientTerm();
  bool isDecoupled = adam.weightDecayMode() == WeightDecayMode::Decay;
  if (!isDecoupled) {
    s = s + wd * scaling * w;
  }
  Term x = direction(builder, state, s, scaling);
  if (isDecoupled) {
    x = x + wd * w;
  }
  Term rate = builder.value("learningRate");
  if (isLamb(adam.mode())) {
    x = builder.compute("x", x, builder.shape());
    rate = rate * trustRatio(builder, x.operands().at("x"));
  }
  builder.updateWeight(w - rate * x);
}

} // namespace popart
