// ONNX's GRU, forward in time, as a whole kind.
#include <ops/Common.hpp>
#include <ops/List.hpp>
#include <ops/Recurrent.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <popart/graph.hpp>

namespace popart {
namespace {

constexpr std::int64_t gateCount = 3;

// Behind y and the last state, what the gradient needs.
constexpr OutIndex savedOutput = 2;

// Whether the state goes through its weights before it is reset; its bias is
// then apart from the input's.
bool isResetAfter(const Op &op) {
  return op.attributes.getInt("linear_before_reset", 0) != 0;
}

std::vector<TensorInfo> inferGru(const Op &op) {
  RecurrentLayer layer = checkedLayer(op, gateCount);
  requireOp(op, !op.attributes.hasAttribute("activations"),
            "GRUOp attribute `activations' is not supported");
  DataType type = op.inInfo(0).dataType();
  return {TensorInfo(type, {layer.steps, 1, layer.batch, layer.hidden}),
          TensorInfo(type, {1, layer.batch, layer.hidden}),
          TensorInfo(type, {layer.steps, layer.batch, 5, layer.hidden})};
}

void differentiateGru(GradientBuilder &builder, const Op &op) {
  auto gradients = builder.addAll(
      "aspen", "GRUGrad",
      {op.inputs[0], op.inputs[1], op.inputs[2], op.outputs[savedOutput],
       optionalInput(op, recurrentLengths), builder.outputGradient(0),
       builder.outputGradient(1)},
      gradAttributes(builder, op));
  const InIndex inputs[] = {0, 1, 2, recurrentB, recurrentH};
  for (std::size_t i = 0; i < std::size(inputs); ++i) {
    if (op.hasInput(inputs[i])) {
      builder.setGradient(inputs[i], gradients[i]);
    }
  }
}

kernels::Attributes kindAttributes(const Op &op, bool hasSteps) {
  // ONNX has update, reset and candidate; the kind asks where reset, update and
  // candidate are.
  return {{"gates", Shape{1, 0, 2}},
          {"activation", std::string("TANH")},
          {"recurrentActivation", std::string("SIGMOID")},
          {"resetAfter", std::int64_t{isResetAfter(op)}},
          {"hasSteps", std::int64_t{hasSteps}},
          {"hasAttention", std::int64_t{0}}};
}

void lowerGru(LoweringContext &context, const Op &op) {
  RecurrentLayer layer(op, gateCount);
  bool isSaved = isRead(op, savedOutput);
  auto attributes = kindAttributes(op, op.hasInput(recurrentLengths));
  attributes.set("saves", std::int64_t{isSaved});
  std::vector<poplar::Tensor> inputs = {
      context.in(0), firstState(context, op, recurrentH, layer),
      toKindWeights(context.in(1), layer), toKindWeights(context.in(2), layer),
      isResetAfter(op) ? biasPairs(context, op, layer)
                       : biasSums(context, op, layer)};
  if (op.hasInput(recurrentLengths)) {
    inputs.push_back(context.in(recurrentLengths));
  }
  auto outputs = context.emit("gru", attributes, inputs);
  context.setOut(0, outputs[0].expand({1}));
  context.setOut(1, outputs[1].expand({0}));
  context.setOut(savedOutput,
                 isSaved ? outputs[2]
                         : context.addConstant(op.outInfo(savedOutput), 0));
}

// Inputs: x, w, r, saved, lengths?, dy?, dh?.
std::vector<TensorInfo> inferGrad(const Op &op) {
  RecurrentLayer layer(op, gateCount);
  DataType type = op.inInfo(0).dataType();
  return {op.inInfo(0), op.inInfo(1), op.inInfo(2),
          TensorInfo(type, {1, 2 * gateCount * layer.hidden}),
          TensorInfo(type, {1, layer.batch, layer.hidden})};
}

void lowerGrad(LoweringContext &context, const Op &op) {
  RecurrentLayer layer(op, gateCount);
  auto attributes = kindAttributes(op, op.hasInput(4));
  attributes.set("inputGrad", std::int64_t{wantsInputGradient(op)});
  attributes.set("hasDy", std::int64_t{op.hasInput(5)});
  attributes.set("hasDh", std::int64_t{op.hasInput(6)});
  std::vector<poplar::Tensor> inputs = {context.in(3),
                                        toKindWeights(context.in(1), layer),
                                        toKindWeights(context.in(2), layer)};
  if (op.hasInput(5)) {
    inputs.push_back(context.in(5).squeeze({1}));
  }
  if (op.hasInput(6)) {
    inputs.push_back(context.in(6).squeeze({0}));
  }
  if (op.hasInput(4)) {
    inputs.push_back(context.in(4));
  }
  auto data = context.emit("gruGrad", attributes, inputs);
  auto weights = context.emit("gruWeightGrad", kindAttributes(op, false),
                              {context.in(0), context.in(3), data[0]});
  context.setOut(0, wantsInputGradient(op)
                        ? data[2]
                        : context.addConstant(op.outInfo(0), 0));
  context.setOut(1, fromKindWeights(weights[0]));
  context.setOut(2, fromKindWeights(weights[1]));
  // Without linear_before_reset both biases are added to the same sums.
  poplar::Tensor biases = weights[2].flatten().expand({0});
  context.setOut(3, isResetAfter(op)
                        ? weights[2].dimShuffle({1, 0, 2}).flatten().expand({0})
                        : poplar::concat(biases, biases, 1));
  context.setOut(4, data[1].expand({0}));
}

} // namespace

std::vector<OpRule> gruRules() {
  return {{.domain = "ai.onnx",
           .type = "GRU",
           .schema = {{3, 7, 14}, types::floats()},
           .infer = inferGru,
           .differentiate = differentiateGru,
           .lower = lowerGru},
          {.domain = "aspen",
           .type = "GRUGrad",
           .infer = inferGrad,
           .lower = lowerGrad}};
}

} // namespace popart
