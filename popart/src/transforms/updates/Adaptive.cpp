// Optimisers that divide by running squared gradients: RMSProp is one kind, the
// others are formulas.
#include <transforms/updates/UpdateBuilder.hpp>

#include <popart/adaptive.hpp>
#include <popart/tensornames.hpp>

namespace popart {
namespace {

const Adaptive &adaptiveOf(const UpdateBuilder &builder) {
  return static_cast<const Adaptive &>(builder.optimizer());
}

bool isDecoupled(const Adaptive &adaptive) {
  return adaptive.weightDecayMode() == WeightDecayMode::Decay;
}

// The kind decays as L2Regularization does, and takes the rate last.
bool isKind(UpdateBuilder &builder) {
  const Adaptive &adaptive = adaptiveOf(builder);
  bool hasPlainMomentum =
      !adaptive.rmspropTFVariant() || builder.value("momentum").is(0);
  return adaptive.mode() == AdaptiveMode::RMSProp && hasPlainMomentum &&
         (!isDecoupled(adaptive) || builder.value("weightDecay").is(0));
}

// What divides the step. TensorFlow starts it at one, so that first steps are
// no longer than the rate says.
TensorId squaresOf(UpdateBuilder &builder) {
  const Adaptive &adaptive = adaptiveOf(builder);
  return builder.state(reservedAccl1Prefix(), adaptive.accl1Type(),
                       adaptive.rmspropTFVariant() ? 1.0f : 0.0f);
}

void stepByKind(UpdateBuilder &builder) {
  const Adaptive &adaptive = adaptiveOf(builder);
  const TensorId &weight = builder.weight();
  TensorId squares = squaresOf(builder);
  auto [gradient, scale] = builder.kindGradient();
  std::vector<TensorId> inputs = {weight,
                                  gradient,
                                  squares,
                                  builder.scalar("learningRate"),
                                  builder.scalar("alpha"),
                                  builder.scalar("eps"),
                                  builder.scalar("weightDecay")};
  std::vector<TensorId> outputs = {UpdateBuilder::updated(weight),
                                   UpdateBuilder::updated(squares)};
  if (!builder.value("momentum").is(0)) {
    TensorId momentum =
        builder.state(reservedAccl3Prefix(), adaptive.accl3Type());
    inputs.insert(inputs.end(), {momentum, builder.scalar("momentum")});
    outputs.push_back(UpdateBuilder::updated(momentum));
  }
  builder.addOp(
      "RmspropUpdate", inputs, outputs,
      Attributes()
          .set("gradientScale", scale)
          .set("epsilonInside", Attributes::Int{adaptive.rmspropTFVariant()}));
}

// The denominator's root with epsilon outside, or inside as TensorFlow has it.
Term root(const Adaptive &adaptive, const Term &variance, const Term &eps) {
  return adaptive.rmspropTFVariant() ? sqrt(variance + eps)
                                     : sqrt(variance) + eps;
}

Term updateState(UpdateBuilder &builder, const std::string &name,
                 const TensorId &id, const Term &formula) {
  return builder.update(name, id, formula, UpdateBuilder::updated(id));
}

// The direction x that the weight goes against, before momentum and decay.
Term direction(UpdateBuilder &builder, const Term &s) {
  const Adaptive &adaptive = adaptiveOf(builder);
  AdaptiveMode mode = adaptive.mode();
  Term a = builder.value("alpha");
  Term eps = builder.value("eps");
  TensorId first = squaresOf(builder);
  Term v1("v1", first);
  v1 =
      updateState(builder, "v1", first,
                  mode == AdaptiveMode::AdaGrad ? v1 + square(s)
                                                : a * v1 + (1 - a) * square(s));
  if (mode == AdaptiveMode::AdaGrad || mode == AdaptiveMode::RMSProp) {
    return s / root(adaptive, v1, eps);
  }
  TensorId second = builder.state(reservedAccl2Prefix(), adaptive.accl2Type());
  Term v2("v2", second);
  if (mode == AdaptiveMode::CenteredRMSProp) {
    v2 = updateState(builder, "v2", second, a * v2 + (1 - a) * s);
    return s / root(adaptive, v1 - square(v2), eps);
  }
  Term x = builder.compute("x", s * sqrt(v2 + eps) / sqrt(v1 + eps),
                           builder.shape());
  updateState(builder, "v2", second, a * v2 + (1 - a) * square(x));
  return x;
}

} // namespace

void stepAdaptive(UpdateBuilder &builder) {
  if (isKind(builder)) {
    stepByKind(builder);
    return;
  }
  const Adaptive &adaptive = adaptiveOf(builder);
  Term w = builder.weightTerm();
  Term lr = builder.value("learningRate");
  Term wd = builder.value("weightDecay");
  Term momentum = builder.value("momentum");
  Term s = builder.gradientTerm();
  if (!isDecoupled(adaptive)) {
    s = s + wd * w;
  }
  Term x = direction(builder, s);
  Term step = lr * x;
  if (!momentum.is(0)) {
    TensorId id = builder.state(reservedAccl3Prefix(), adaptive.accl3Type());
    // TensorFlow's velocity has the rate in it already.
    bool isTensorFlow = adaptive.rmspropTFVariant();
    Term v3 =
        updateState(builder, "v3", id,
                    momentum * Term("v3", id) + (isTensorFlow ? step : x));
    step = isTensorFlow ? v3 : lr * v3;
  }
  if (isDecoupled(adaptive)) {
    step = step + lr * wd * w;
  }
  builder.updateWeight(w - step);
}

} // namespace popart
