// ONNX's LSTM, forward in time, as a whole kind.
#include <ops/Common.hpp>
#include <ops/List.hpp>
#include <ops/PlanOptions.hpp>
#include <ops/Recurrent.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <popart/graph.hpp>

namespace popart {
namespace {

constexpr std::int64_t gateCount = 4;

// Behind y and the last states, what the gradient needs.
constexpr OutIndex savedOutput = 3;

std::vector<TensorInfo> inferLstm(const Op &op) {
  RecurrentLayer layer = checkedLayer(op, gateCount);
  requireOp(op, op.attributes.getInt("input_forget", 0) == 0,
            "LSTMOp attribute `input_forget' is not supported");
  activationsOf(op);
  DataType type = op.inInfo(0).dataType();
  TensorInfo last(type, {1, layer.batch, layer.hidden});
  return {TensorInfo(type, {layer.steps, 1, layer.batch, layer.hidden}), last,
          last,
          TensorInfo(type,
                     {layer.steps, layer.batch, gateCount + 1, layer.hidden})};
}

void differentiateLstm(GradientBuilder &builder, const Op &op) {
  auto gradients = builder.addAll(
      "aspen", "LSTMGrad",
      {op.inputs[0], op.inputs[1], op.inputs[2], op.outputs[savedOutput],
       optionalInput(op, recurrentH), optionalInput(op, recurrentC),
       optionalInput(op, recurrentLengths), builder.outputGradient(0),
       builder.outputGradient(1), builder.outputGradient(2)},
      gradAttributes(builder, op));
  const InIndex inputs[] = {0, 1, 2, recurrentB, recurrentH, recurrentC};
  for (std::size_t i = 0; i < std::size(inputs); ++i) {
    if (op.hasInput(inputs[i])) {
      builder.setGradient(inputs[i], gradients[i]);
    }
  }
}

kernels::Attributes kindAttributes(const Op &op, bool hasSteps) {
  RecurrentActivations activations = activationsOf(op);
  // ONNX has input, output, forget and candidate; the kind asks where forget,
  // input, candidate and output are.
  return {{"gates", Shape{2, 0, 3, 1}},
          {"activation", kindNameOf(activations.values)},
          {"recurrentActivation", kindNameOf(activations.gates)},
          {"hasSteps", std::int64_t{hasSteps}}};
}

void lowerLstm(LoweringContext &context, const Op &op) {
  RecurrentLayer layer(op, gateCount);
  bool isSaved = isRead(op, savedOutput);
  auto attributes = kindAttributes(op, op.hasInput(recurrentLengths));
  attributes.set("saves", std::int64_t{isSaved});
  std::vector<poplar::Tensor> inputs = {
      context.in(0),
      firstState(context, op, recurrentH, layer),
      firstState(context, op, recurrentC, layer),
      toKindWeights(context.in(1), layer),
      toKindWeights(context.in(2), layer),
      biasSums(context, op, layer)};
  if (op.hasInput(recurrentLengths)) {
    inputs.push_back(context.in(recurrentLengths));
  }
  auto outputs = context.emit("lstm", attributes, inputs,
                              lstmOptions(context, op.attributes));
  context.setOut(0, outputs[0].expand({1}));
  context.setOut(1, outputs[1].expand({0}));
  context.setOut(2, outputs[2].expand({0}));
  context.setOut(savedOutput,
                 isSaved ? outputs[3]
                         : context.addConstant(op.outInfo(savedOutput), 0));
}

// Inputs: x, w, r, saved, first h?, first c?, lengths?, dy?, dh?, dc?.
std::vector<TensorInfo> inferGrad(const Op &op) {
  RecurrentLayer layer(op, gateCount);
  DataType type = op.inInfo(0).dataType();
  TensorInfo state(type, {1, layer.batch, layer.hidden});
  return {op.inInfo(0), op.inInfo(1),
          op.inInfo(2), TensorInfo(type, {1, 2 * gateCount * layer.hidden}),
          state,        state};
}

void lowerGrad(LoweringContext &context, const Op &op) {
  poplar::OptionFlags options = lstmOptions(context, op.attributes);
  RecurrentLayer layer(op, gateCount);
  auto attributes = kindAttributes(op, op.hasInput(6));
  attributes.set("inputGrad", std::int64_t{wantsInputGradient(op)});
  std::vector<poplar::Tensor> inputs = {
      context.in(3), toKindWeights(context.in(1), layer),
      toKindWeights(context.in(2), layer), firstState(context, op, 4, layer),
      firstState(context, op, 5, layer)};
  const char *names[] = {"hasDy", "hasDh", "hasDc"};
  for (InIndex i : {7, 8, 9}) {
    attributes.set(names[i - 7], std::int64_t{op.hasInput(i)});
    if (op.hasInput(i)) {
      inputs.push_back(context.in(i).squeeze({i == 7 ? 1u : 0u}));
    }
  }
  if (op.hasInput(6)) {
    inputs.push_back(context.in(6));
  }
  auto data = context.emit("lstmGrad", attributes, inputs, options);
  auto weights =
      context.emit("lstmWeightGrad", {}, {context.in(0), data[0]}, options);
  poplar::Tensor biases = weights[2].flatten().expand({0});
  context.setOut(0, wantsInputGradient(op)
                        ? data[3]
                        : context.addConstant(op.outInfo(0), 0));
  context.setOut(1, fromKindWeights(weights[0]));
  context.setOut(2, fromKindWeights(weights[1]));
  // Both biases are added to the same sums.
  context.setOut(3, poplar::concat(biases, biases, 1));
  context.setOut(4, data[1].expand({0}));
  context.setOut(5, data[2].expand({0}));
}

} // namespace

std::vector<OpRule> lstmRules() {
  return {{.domain = "ai.onnx",
           .type = "LSTM",
           .schema = {{1, 7, 14}, types::floats()},
           .infer = inferLstm,
           .differentiate = differentiateLstm,
           .lower = lowerLstm},
          {.domain = "aspen",
           .type = "LSTMGrad",
           .infer = inferGrad,
           .lower = lowerGrad}};
}

} // namespace popart
