// ONNX's simple recurrent layer, forward in time, unrolled: the products with
// the inputs of all steps are one, those with the states follow each other.
#include <ops/Common.hpp>
#include <ops/List.hpp>
#include <ops/MatMul.hpp>
#include <ops/Recurrent.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <algorithm>

namespace popart {
namespace {

// Behind y and the last state: the states of all steps, [steps, batch, hidden],
// which are y but for samples that have ended.
constexpr OutIndex savedOutput = 2;

struct Activation {
  const char *value;      // of x
  const char *derivative; // over the value y
};

Activation activationOf(const Op &op) {
  std::string name = kindNameOf(activationsOf(op).values);
  return name == "TANH"      ? Activation{"tanh(x)", "(1-y*y)"}
         : name == "SIGMOID" ? Activation{"sigmoid(x)", "y*(1-y)"}
                             : Activation{"relu(x)", "step(y)"};
}

std::vector<TensorInfo> inferRnn(const Op &op) {
  RecurrentLayer layer = checkedLayer(op, 1);
  requireInputCount(op, 3, recurrentH + 1);
  activationsOf(op);
  DataType type = op.inInfo(0).dataType();
  return {TensorInfo(type, {layer.steps, 1, layer.batch, layer.hidden}),
          TensorInfo(type, {1, layer.batch, layer.hidden}),
          TensorInfo(type, {layer.steps, layer.batch, layer.hidden})};
}

void differentiateRnn(GradientBuilder &builder, const Op &op) {
  auto gradients = builder.addAll(
      "aspen", "RNNGrad",
      {op.inputs[0], op.inputs[1], op.inputs[2], op.outputs[savedOutput],
       optionalInput(op, recurrentLengths), optionalInput(op, recurrentH),
       builder.outputGradient(0), builder.outputGradient(1)},
      op.attributes);
  const InIndex inputs[] = {0, 1, 2, recurrentB, recurrentH};
  for (std::size_t i = 0; i < std::size(inputs); ++i) {
    if (op.hasInput(inputs[i])) {
      builder.setGradient(inputs[i], gradients[i]);
    }
  }
}

// One step's share of [steps, ...].
poplar::Tensor at(const poplar::Tensor &tensor, std::int64_t step) {
  return tensor[static_cast<std::size_t>(step)];
}

poplar::Tensor compute(LoweringContext &context, const std::string &text,
                       const std::vector<std::string_view> &names,
                       const std::vector<poplar::Tensor> &inputs) {
  return context.emit(kernels::Expression::parse(text, names), inputs);
}

// `yes` for the samples that have a step `t`, `no` for those that have ended.
poplar::Tensor choose(LoweringContext &context, const poplar::Tensor &yes,
                      const poplar::Tensor &no, const poplar::Tensor &lengths,
                      std::int64_t t) {
  return compute(context, fmt::format("select(yes,no,n>{})", t),
                 {"yes", "no", "n"}, {yes, no, lengths.expand({1})});
}

void lowerRnn(LoweringContext &context, const Op &op) {
  RecurrentLayer layer(op, 1);
  bool hasLengths = op.hasInput(recurrentLengths);
  TensorInfo state(op.inInfo(0).dataType(), {layer.batch, layer.hidden});
  poplar::Tensor zeros = context.addConstant(state, 0);
  poplar::Tensor recurrent = context.in(2).squeeze({0}).transpose();
  poplar::Tensor driven =
      emitMatMul(context, op,
                 context.in(0).reshape(
                     poplarShape({layer.steps * layer.batch, layer.features})),
                 context.in(1).squeeze({0}).transpose())
          .reshape(poplarShape({layer.steps, layer.batch, layer.hidden}));
  driven = compute(context, "x+b", {"x", "b"},
                   {driven, biasSums(context, op, layer)});
  std::string activation = activationOf(op).value;
  activation.replace(activation.find("(x)"), 3, "(d+r)");
  poplar::Tensor last = firstState(context, op, recurrentH, layer);
  std::vector<poplar::Tensor> states;
  std::vector<poplar::Tensor> results;
  for (std::int64_t t = 0; t < layer.steps; ++t) {
    poplar::Tensor next =
        compute(context, activation, {"d", "r"},
                {at(driven, t), emitMatMul(context, op, last, recurrent)});
    poplar::Tensor result = next;
    if (hasLengths) {
      poplar::Tensor lengths = context.in(recurrentLengths);
      result = choose(context, next, zeros, lengths, t);
      next = choose(context, next, last, lengths, t);
    }
    states.push_back(next.expand({0}));
    results.push_back(result.expand({0}));
    last = next;
  }
  context.setOut(0, poplar::concat(results).expand({1}));
  context.setOut(1, last.expand({0}));
  context.setOut(savedOutput, poplar::concat(states));
}

// Inputs: x, w, r, states, lengths?, first h?, dy?, dh?.
constexpr InIndex gradLengths = 4;
constexpr InIndex gradFirst = 5;
constexpr InIndex gradDy = 6;
constexpr InIndex gradDh = 7;

std::vector<TensorInfo> inferGrad(const Op &op) {
  RecurrentLayer layer(op, 1);
  DataType type = op.inInfo(0).dataType();
  return {op.inInfo(0), op.inInfo(1), op.inInfo(2),
          TensorInfo(type, {1, 2 * layer.hidden}),
          TensorInfo(type, {1, layer.batch, layer.hidden})};
}

// Gradients of what the activations were of, last step first, and of the first
// state.
struct StepGradients {
  poplar::Tensor sums; // [steps, batch, hidden]
  poplar::Tensor first;
};

StepGradients lowerSteps(LoweringContext &context, const Op &op,
                         const RecurrentLayer &layer,
                         const poplar::Tensor &zeros) {
  std::string derivative = activationOf(op).derivative;
  poplar::Tensor weights = context.in(2).squeeze({0});
  poplar::Tensor carried =
      op.hasInput(gradDh) ? context.in(gradDh).squeeze({0}) : zeros;
  std::vector<poplar::Tensor> sums;
  for (std::int64_t t = layer.steps - 1; t >= 0; --t) {
    poplar::Tensor dy =
        op.hasInput(gradDy) ? at(context.in(gradDy).squeeze({1}), t) : zeros;
    poplar::Tensor sum =
        compute(context, "(c+dy)*" + derivative, {"c", "dy", "y"},
                {carried, dy, at(context.in(3), t)});
    if (op.hasInput(gradLengths)) {
      poplar::Tensor lengths = context.in(gradLengths);
      sum = choose(context, sum, zeros, lengths, t);
      poplar::Tensor kept = choose(context, zeros, carried, lengths, t);
      carried = compute(context, "k+d", {"k", "d"},
                        {kept, emitMatMul(context, op, sum, weights)});
    } else {
      carried = emitMatMul(context, op, sum, weights);
    }
    sums.push_back(sum.expand({0}));
  }
  std::reverse(sums.begin(), sums.end());
  return {poplar::concat(sums), carried};
}

void lowerGrad(LoweringContext &context, const Op &op) {
  RecurrentLayer layer(op, 1);
  std::int64_t rows = layer.steps * layer.batch;
  poplar::Tensor zeros = context.addConstant(
      TensorInfo(op.inInfo(0).dataType(), {layer.batch, layer.hidden}), 0);
  StepGradients gradients = lowerSteps(context, op, layer, zeros);
  poplar::Tensor sums =
      gradients.sums.reshape(poplarShape({rows, layer.hidden}));
  poplar::Tensor first =
      op.hasInput(gradFirst) ? context.in(gradFirst).squeeze({0}) : zeros;
  poplar::Tensor before =
      poplar::concat(
          first.expand({0}),
          context.in(3).slice(0, static_cast<std::size_t>(layer.steps - 1), 0))
          .reshape(poplarShape({rows, layer.hidden}));
  poplar::Tensor x = context.in(0).reshape(poplarShape({rows, layer.features}));
  context.setOut(0, emitMatMul(context, op, sums, context.in(1).squeeze({0}))
                        .reshape(poplarShape(op.inShape(0))));
  context.setOut(1, emitMatMul(context, op, sums.transpose(), x).expand({0}));
  context.setOut(2,
                 emitMatMul(context, op, sums.transpose(), before).expand({0}));
  poplar::Tensor bias =
      context
          .emit(
              "reduce",
              {{"op", std::string("ADD")}, {"dims", Shape{0}}, {"scale", 1.0}},
              {sums})[0]
          .expand({0});
  // Both biases are added to the same sums.
  context.setOut(3, poplar::concat(bias, bias, 1));
  context.setOut(4, gradients.first.expand({0}));
}

} // namespace

std::vector<OpRule> rnnRules() {
  return {{.domain = "ai.onnx",
           .type = "RNN",
           .schema = {.versions = {7, 14},
                      .types = types::floats(),
                      .mostOutputs = 2},
           .infer = inferRnn,
           .differentiate = differentiateRnn,
           .lower = lowerRnn},
          {.domain = "aspen",
           .type = "RNNGrad",
           .infer = inferGrad,
           .lower = lowerGrad}};
}

} // namespace popart
