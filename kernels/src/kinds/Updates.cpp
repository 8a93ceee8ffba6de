// The optimisers' updates of one parameter: "sgdUpdate", "adamUpdate",
// "rmspropUpdate". The formulas are PyTorch's, as docs/kinds.md states them.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"

#include <cmath>

namespace kernels {

namespace {

// An operand of an update: a tensor like w, or a scalar.
struct Role {
  std::string_view name;
  bool isScalar;
};

void requireRoles(std::string_view kind, std::span<const TensorType> inputs,
                  std::span<const Role> roles) {
  requireInputCount(kind, inputs, roles.size());
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (roles[i].isScalar) {
      requireScalar(kind, roles[i].name, inputs[i]);
    } else {
      requireFloating(kind, roles[i].name, inputs[i]);
      requireShape(kind, roles[i].name, inputs[i], inputs[0].shape);
    }
  }
}

constexpr Role sgdRoles[] = {
    {"w", false}, {"g", false},       {"lr", true},       {"weightDecay", true},
    {"v", false}, {"momentum", true}, {"dampening", true}};

std::vector<TensorType> inferSgd(const Attributes &attributes,
                                 std::span<const TensorType> inputs) {
  const bool hasMomentum = attributes.getInt("momentum") != 0;
  attributes.getFloat("gradientScale");
  require(hasMomentum || attributes.getInt("nesterov") == 0,
          "[sgdUpdate] nesterov is 1; it needs momentum 1");
  requireRoles("sgdUpdate", inputs,
               std::span(sgdRoles).first(hasMomentum ? 7 : 4));
  if (hasMomentum) {
    return {inputs[0], inputs[4]};
  }
  return {inputs[0]};
}

void referenceSgd(const ReferenceCall &call) {
  const auto &attributes = call.signature.attributes;
  const bool hasMomentum = attributes.getInt("momentum") != 0;
  const bool isNesterov = attributes.getInt("nesterov") != 0;
  const double scale = attributes.getFloat("gradientScale");
  const View w = inputView(call, 0);
  const double lr = inputView(call, 2).scalar();
  const double weightDecay = inputView(call, 3).scalar();
  const double momentum = hasMomentum ? inputView(call, 5).scalar() : 0;
  const double dampening = hasMomentum ? inputView(call, 6).scalar() : 0;
  forEachIndex(w.shape(), [&](std::span<const std::int64_t> at) {
    double step =
        scale * inputView(call, 1).load(at) + weightDecay * w.load(at);
    if (hasMomentum) {
      const double v =
          momentum * inputView(call, 4).load(at) + (1 - dampening) * step;
      outputView(call, 1).store(at, v);
      step = isNesterov ? step + momentum * v : v;
    }
    outputView(call, 0).store(at, w.load(at) - lr * step);
  });
}

constexpr Role adamRoles[] = {
    {"w", false},      {"g", false},         {"m", false},    {"v", false},
    {"step", true},    {"lr", true},         {"beta1", true}, {"beta2", true},
    {"epsilon", true}, {"weightDecay", true}};

std::vector<TensorType> inferAdam(const Attributes &attributes,
                                  std::span<const TensorType> inputs) {
  attributes.getFloat("gradientScale");
  attributes.getInt("decoupledDecay");
  attributes.getInt("biasCorrection");
  requireRoles("adamUpdate", inputs, adamRoles);
  return {inputs[0], inputs[2], inputs[3], inputs[4]};
}

void referenceAdam(const ReferenceCall &call) {
  const auto &attributes = call.signature.attributes;
  const bool isDecoupled = attributes.getInt("decoupledDecay") != 0;
  const double scale = attributes.getFloat("gradientScale");
  const double t = inputView(call, 4).scalar() + 1;
  const double lr = inputView(call, 5).scalar();
  const double beta1 = inputView(call, 6).scalar();
  const double beta2 = inputView(call, 7).scalar();
  const double epsilon = inputView(call, 8).scalar();
  const double weightDecay = inputView(call, 9).scalar();
  const bool isCorrected = attributes.getInt("biasCorrection") != 0;
  const double correction1 = isCorrected ? 1 - std::pow(beta1, t) : 1;
  const double correction2 = isCorrected ? 1 - std::pow(beta2, t) : 1;
  const Shape &shape = call.signature.inputs[0].shape;
  forEachIndex(shape, [&](std::span<const std::int64_t> at) {
    double w = inputView(call, 0).load(at);
    double g = scale * inputView(call, 1).load(at);
    if (isDecoupled) {
      w *= 1 - lr * weightDecay;
    } else {
      g += weightDecay * w;
    }
    const double m = beta1 * inputView(call, 2).load(at) + (1 - beta1) * g;
    const double v = beta2 * inputView(call, 3).load(at) + (1 - beta2) * g * g;
    w -= lr / correction1 * m /
         (std::sqrt(v) / std::sqrt(correction2) + epsilon);
    outputView(call, 0).store(at, w);
    outputView(call, 1).store(at, m);
    outputView(call, 2).store(at, v);
  });
  outputView(call, 3).setScalar(t);
}

constexpr Role rmspropRoles[] = {
    {"w", false},          {"g", false},    {"s", false},
    {"lr", true},          {"alpha", true}, {"epsilon", true},
    {"weightDecay", true}, {"b", false},    {"momentum", true}};

std::vector<TensorType> inferRmsprop(const Attributes &attributes,
                                     std::span<const TensorType> inputs) {
  const bool hasMomentum = attributes.getInt("momentum") != 0;
  attributes.getFloat("gradientScale");
  attributes.getInt("epsilonInside");
  requireRoles("rmspropUpdate", inputs,
               std::span(rmspropRoles).first(hasMomentum ? 9 : 7));
  if (hasMomentum) {
    return {inputs[0], inputs[2], inputs[7]};
  }
  return {inputs[0], inputs[2]};
}

void referenceRmsprop(const ReferenceCall &call) {
  const auto &attributes = call.signature.attributes;
  const bool hasMomentum = attributes.getInt("momentum") != 0;
  const bool isInside = attributes.getInt("epsilonInside") != 0;
  const double scale = attributes.getFloat("gradientScale");
  const double lr = inputView(call, 3).scalar();
  const double alpha = inputView(call, 4).scalar();
  const double epsilon = inputView(call, 5).scalar();
  const double weightDecay = inputView(call, 6).scalar();
  const double momentum = hasMomentum ? inputView(call, 8).scalar() : 0;
  const Shape &shape = call.signature.inputs[0].shape;
  forEachIndex(shape, [&](std::span<const std::int64_t> at) {
    const double w = inputView(call, 0).load(at);
    const double g = scale * inputView(call, 1).load(at) + weightDecay * w;
    const double s = alpha * inputView(call, 2).load(at) + (1 - alpha) * g * g;
    double step =
        isInside ? g / std::sqrt(s + epsilon) : g / (std::sqrt(s) + epsilon);
    if (hasMomentum) {
      step += momentum * inputView(call, 7).load(at);
      outputView(call, 2).store(at, step);
    }
    outputView(call, 1).store(at, s);
    outputView(call, 0).store(at, w - lr * step);
  });
}

constexpr InPlacePair sgdInPlace[] = {{0, 0}, {4, 1}};
constexpr InPlacePair adamInPlace[] = {{0, 0}, {2, 1}, {3, 2}, {4, 3}};
constexpr InPlacePair rmspropInPlace[] = {{0, 0}, {2, 1}, {7, 2}};

} // namespace

const Kind &sgdUpdateKind() {
  static const Kind kind{"sgdUpdate", inferSgd, referenceSgd,
                         sgdUpdateKernels(), sgdInPlace};
  return kind;
}

const Kind &adamUpdateKind() {
  static const Kind kind{"adamUpdate", inferAdam, referenceAdam,
                         adamUpdateKernels(), adamInPlace};
  return kind;
}

const Kind &rmspropUpdateKind() {
  static const Kind kind{"rmspropUpdate", inferRmsprop, referenceRmsprop,
                         rmspropUpdateKernels(), rmspropInPlace};
  return kind;
}

} // namespace kernels
