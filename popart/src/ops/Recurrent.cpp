// Operands of recurrent layers.
#include <ops/Recurrent.hpp>

#include <ops/Common.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <support/Error.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace popart {
namespace {

void requireShape(const Op &op, InIndex i, const Shape &wanted) {
  if (op.hasInput(i)) {
    requireOp(op, op.inShape(i) == wanted,
              "input {} has shape {}; it must be {}", i,
              support::toString(op.inShape(i)), support::toString(wanted));
  }
}

void refuse(const Op &op, const char *attribute, bool isGiven) {
  requireOp(op, !isGiven, "{}Op attribute `{}' is not supported", op.opid.type,
            attribute);
}

// Null for activations that no kind has inside of it.
const char *findKindName(std::string_view activation) {
  constexpr std::pair<std::string_view, const char *> names[] = {
      {"Sigmoid", "SIGMOID"}, {"Relu", "RELU"}, {"Tanh", "TANH"}};
  for (const auto &[name, kind] : names) {
    if (activation == name) {
      return kind;
    }
  }
  return nullptr;
}

void requireKnown(const Op &op, const std::string &activation) {
  const auto known = {"Sigmoid", "Relu",          "Tanh",
                      "Gelu",    "GeluErf",       "Swish",
                      "Softmax", "SoftmaxStable", "SoftmaxScaled"};
  requireOp(op,
            std::find(known.begin(), known.end(), activation) != known.end(),
            "activation {} is not supported; {} are", activation,
            fmt::join(known, ", "));
}

std::size_t size(std::int64_t n) {
  return static_cast<std::size_t>(n);
}

} // namespace

RecurrentLayer::RecurrentLayer(const Op &op, std::int64_t gateCount)
    : gates(gateCount), steps(op.inShape(0)[0]), batch(op.inShape(0)[1]),
      features(op.inShape(0)[2]), hidden(op.inShape(2)[2]) {}

RecurrentLayer checkedLayer(const Op &op, std::int64_t gateCount) {
  requireInputCount(op, 3, 8);
  requireFloat(op, 0);
  requireRank(op, 0, 3);
  requireRank(op, 2, 3);
  refuse(op, "direction",
         op.attributes.getString("direction", "forward") != "forward");
  refuse(op, "layout", op.attributes.getInt("layout", 0) != 0);
  for (const char *name : {"clip", "activation_alpha", "activation_beta"}) {
    refuse(op, name, op.attributes.hasAttribute(name));
  }
  requireOp(op, !op.hasInput(7), "peepholes (input 7) are not supported");
  RecurrentLayer layer(op, gateCount);
  requireOp(op,
            op.attributes.getInt("hidden_size", layer.hidden) == layer.hidden,
            "hidden_size is {}; the weights have {}",
            op.attributes.getInt("hidden_size", 0), layer.hidden);
  std::int64_t rows = layer.gates * layer.hidden;
  requireShape(op, 1, {1, rows, layer.features});
  requireShape(op, 2, {1, rows, layer.hidden});
  requireShape(op, recurrentB, {1, 2 * rows});
  requireShape(op, recurrentLengths, {layer.batch});
  requireShape(op, recurrentH, {1, layer.batch, layer.hidden});
  requireShape(op, recurrentC, {1, layer.batch, layer.hidden});
  return layer;
}

RecurrentActivations activationsOf(const Op &op) {
  bool isLstm = meaningOf(op) == "LSTM";
  auto names = op.attributes.getStrings("activations", {});
  requireOp(op,
            names.empty() || names.size() == 1 || (isLstm && names.size() == 3),
            "{} activations were given; {} allowed", names.size(),
            isLstm ? "1 or 3 are" : "1 is");
  for (const std::string &name : names) {
    requireKnown(op, name);
  }
  RecurrentActivations activations;
  if (names.size() == 1) {
    activations.values = names[0];
  } else if (names.size() == 3) {
    requireOp(op, names[1] == names[2],
              "the last two activations, {} and {}, must be the same", names[1],
              names[2]);
    activations = {names[0], names[1]};
  }
  return activations;
}

bool areFused(const RecurrentActivations &activations) {
  return findKindName(activations.gates) && findKindName(activations.values);
}

std::string kindNameOf(const std::string &activation) {
  const char *name = findKindName(activation);
  support::requireInternal(name, "the layers' kinds have no {}", activation);
  return name;
}

Attributes gradAttributes(const GradientBuilder &builder, const Op &op) {
  Attributes attributes = op.attributes;
  attributes.set("wants_input_gradient", Attributes::Int{builder.isWanted(0)});
  return attributes;
}

bool wantsInputGradient(const Op &gradOp) {
  return gradOp.attributes.getInt("wants_input_gradient", 1) != 0;
}

TensorId optionalInput(const Op &op, InIndex i) {
  return op.hasInput(i) ? op.inputs[static_cast<std::size_t>(i)] : TensorId();
}

poplar::Tensor toKindWeights(const poplar::Tensor &weights,
                             const RecurrentLayer &layer) {
  return weights
      .reshape({size(layer.gates), size(layer.hidden), weights.dim(2)})
      .dimShuffle({0, 2, 1});
}

poplar::Tensor fromKindWeights(const poplar::Tensor &weights) {
  return weights.dimShuffle({0, 2, 1}).reshape(
      {1, weights.dim(0) * weights.dim(2), weights.dim(1)});
}

poplar::Tensor biasPairs(LoweringContext &context, const Op &op,
                         const RecurrentLayer &layer) {
  if (!op.hasInput(recurrentB)) {
    return context.addConstant(
        TensorInfo(op.inInfo(0).dataType(), {layer.gates, 2, layer.hidden}), 0);
  }
  return context.in(recurrentB)
      .reshape({2, size(layer.gates), size(layer.hidden)})
      .dimShuffle({1, 0, 2});
}

poplar::Tensor biasSums(LoweringContext &context, const Op &op,
                        const RecurrentLayer &layer) {
  poplar::Tensor pairs = biasPairs(context, op, layer);
  const std::string_view names[] = {"a", "b"};
  return context.emit(
      kernels::Expression::parse("a+b", names),
      {pairs.slice(0, 1, 1).squeeze({1}), pairs.slice(1, 2, 1).squeeze({1})});
}

poplar::Tensor firstState(LoweringContext &context, const Op &op, InIndex i,
                          const RecurrentLayer &layer) {
  return op.hasInput(i)
             ? context.in(i).squeeze({0})
             : context.addConstant(TensorInfo(op.inInfo(0).dataType(),
                                              {layer.batch, layer.hidden}),
                                   0);
}

} // namespace popart
