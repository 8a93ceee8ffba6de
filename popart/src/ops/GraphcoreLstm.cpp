// The LSTM of ai.graphcore, whose weights are as Poplar has them: those of the
// inputs and of the states in one tensor, gates in the order forget, input,
// candidate, output.
#include <ops/Common.hpp>
#include <ops/List.hpp>
#include <ops/PlanOptions.hpp>
#include <ops/Recurrent.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <popart/graph.hpp>

namespace popart {
namespace {

// Inputs: x [steps, batch, features], weights [4, features + hidden, hidden],
// biases [4, hidden]?, first output and cell state [2, batch, hidden]?.
constexpr InIndex biasInput = 2;
constexpr InIndex stateInput = 3;

// Behind the outputs and the last cell state, what the gradient needs.
constexpr OutIndex savedOutput = 2;

struct Sizes {
  explicit Sizes(const Op &op)
      : steps(op.inShape(0)[0]), batch(op.inShape(0)[1]),
        features(op.inShape(0)[2]), hidden(op.inShape(1)[2]) {}

  std::int64_t steps;
  std::int64_t batch;
  std::int64_t features;
  std::int64_t hidden;
};

bool isFullSequence(const Op &op) {
  return op.attributes.getInt("outputFullSequence", 1) != 0;
}

void requireShape(const Op &op, InIndex i, const Shape &wanted) {
  requireOp(op, !op.hasInput(i) || op.inShape(i) == wanted,
            "input {} has shape {}; it must be {}", i,
            op.hasInput(i) ? support::toString(op.inShape(i)) : "",
            support::toString(wanted));
}

std::vector<TensorInfo> inferLstm(const Op &op) {
  requireInputCount(op, 2, 4);
  requireFloat(op, 0);
  requireRank(op, 0, 3);
  requireRank(op, 1, 3);
  Sizes sizes(op);
  requireShape(op, 1, {4, sizes.features + sizes.hidden, sizes.hidden});
  requireShape(op, biasInput, {4, sizes.hidden});
  requireShape(op, stateInput, {2, sizes.batch, sizes.hidden});
  DataType type = op.inInfo(0).dataType();
  Shape state = {sizes.batch, sizes.hidden};
  Shape output = {sizes.steps, sizes.batch, sizes.hidden};
  return {TensorInfo(type, isFullSequence(op) ? output : state),
          TensorInfo(type, state),
          TensorInfo(type, {sizes.steps, sizes.batch, 5, sizes.hidden})};
}

void differentiateLstm(GradientBuilder &builder, const Op &op) {
  auto gradients =
      builder.addAll("aspen", "GraphcoreLSTMGrad",
                     {op.inputs[0], op.inputs[1], op.outputs[savedOutput],
                      optionalInput(op, stateInput), builder.outputGradient(0),
                      builder.outputGradient(1)},
                     gradAttributes(builder, op));
  const InIndex inputs[] = {0, 1, biasInput, stateInput};
  for (std::size_t i = 0; i < std::size(inputs); ++i) {
    if (op.hasInput(inputs[i])) {
      builder.setGradient(inputs[i], gradients[i]);
    }
  }
}

kernels::Attributes kindAttributes() {
  return {{"gates", Shape{0, 1, 2, 3}},
          {"activation", std::string("TANH")},
          {"recurrentActivation", std::string("SIGMOID")},
          {"hasSteps", std::int64_t{0}}};
}

poplar::Tensor ofInputs(const poplar::Tensor &weights, const Sizes &sizes) {
  return weights.slice(0, static_cast<std::size_t>(sizes.features), 1);
}

poplar::Tensor ofStates(const poplar::Tensor &weights, const Sizes &sizes) {
  return weights.slice(static_cast<std::size_t>(sizes.features), weights.dim(1),
                       1);
}

// The first output (0) or cell state (1).
poplar::Tensor stateOf(LoweringContext &context, const Op &op, InIndex input,
                       std::size_t which) {
  Sizes sizes(op);
  return op.hasInput(input)
             ? context.in(input)[which]
             : context.addConstant(TensorInfo(op.inInfo(0).dataType(),
                                              {sizes.batch, sizes.hidden}),
                                   0);
}

void lowerLstm(LoweringContext &context, const Op &op) {
  Sizes sizes(op);
  bool isSaved = isRead(op, savedOutput);
  auto attributes = kindAttributes();
  attributes.set("saves", std::int64_t{isSaved});
  poplar::Tensor biases =
      op.hasInput(biasInput)
          ? context.in(biasInput)
          : context.addConstant(
                TensorInfo(op.inInfo(0).dataType(), {4, sizes.hidden}), 0);
  auto outputs = context.emit(
      "lstm", attributes,
      {context.in(0), stateOf(context, op, stateInput, 0),
       stateOf(context, op, stateInput, 1), ofInputs(context.in(1), sizes),
       ofStates(context.in(1), sizes), biases},
      lstmOptions(context, op.attributes));
  context.setOut(0, isFullSequence(op) ? outputs[0] : outputs[1]);
  context.setOut(1, outputs[2]);
  context.setOut(savedOutput,
                 isSaved ? outputs[3]
                         : context.addConstant(op.outInfo(savedOutput), 0));
}

// Inputs: x, weights, saved, first states?, gradients of both outputs?.
std::vector<TensorInfo> inferGrad(const Op &op) {
  Sizes sizes(op);
  DataType type = op.inInfo(0).dataType();
  return {op.inInfo(0), op.inInfo(1), TensorInfo(type, {4, sizes.hidden}),
          TensorInfo(type, {2, sizes.batch, sizes.hidden})};
}

void lowerGrad(LoweringContext &context, const Op &op) {
  poplar::OptionFlags options = lstmOptions(context, op.attributes);
  Sizes sizes(op);
  bool isFull = isFullSequence(op);
  auto attributes = kindAttributes();
  attributes.set("inputGrad", std::int64_t{wantsInputGradient(op)});
  attributes.set("hasDy", std::int64_t{isFull && op.hasInput(4)});
  attributes.set("hasDh", std::int64_t{!isFull && op.hasInput(4)});
  attributes.set("hasDc", std::int64_t{op.hasInput(5)});
  std::vector<poplar::Tensor> inputs = {
      context.in(2), ofInputs(context.in(1), sizes),
      ofStates(context.in(1), sizes), stateOf(context, op, 3, 0),
      stateOf(context, op, 3, 1)};
  for (InIndex i : {4, 5}) {
    if (op.hasInput(i)) {
      inputs.push_back(context.in(i));
    }
  }
  auto data = context.emit("lstmGrad", attributes, inputs, options);
  auto weights =
      context.emit("lstmWeightGrad", {}, {context.in(0), data[0]}, options);
  context.setOut(0, wantsInputGradient(op)
                        ? data[3]
                        : context.addConstant(op.outInfo(0), 0));
  context.setOut(1, poplar::concat(weights[0], weights[1], 1));
  context.setOut(2, weights[2]);
  context.setOut(3, poplar::concat(data[1].expand({0}), data[2].expand({0})));
}

} // namespace

std::vector<OpRule> graphcoreLstmRules() {
  return {
      {.domain = "ai.graphcore",
       .type = "LSTM",
       .schema = {.types = types::floats(),
                  .attributes = {{"outputFullSequence", Attributes::Int{1}}},
                  .outputs = 2},
       .infer = inferLstm,
       .differentiate = differentiateLstm,
       .lower = lowerLstm},
      {.domain = "aspen",
       .type = "GraphcoreLSTMGrad",
       .infer = inferGrad,
       .lower = lowerGrad}};
}

} // namespace popart
