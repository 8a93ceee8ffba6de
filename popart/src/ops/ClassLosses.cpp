// ONNX's losses of classes: the negative of what the target's class has, by
// weights of classes, without the targets that are ignored.
#include <ops/Common.hpp>
#include <ops/Composer.hpp>
#include <ops/List.hpp>

namespace popart {
namespace {

// The weight of each target; empty where all count one.
TensorId weightsOf(Composer &composer, const Op &op, const TensorId &classes,
                   const TensorId &isIgnored, DataType type) {
  TensorId weights;
  if (op.hasInput(2)) {
    weights = composer.add("Gather", {op.inputs[2], classes});
  }
  if (isIgnored.empty()) {
    return weights;
  }
  return composer.add("Where",
                      {isIgnored, composer.scalar(0, type),
                       weights.empty() ? composer.scalar(1, type) : weights},
                      {}, 9);
}

TensorId reduced(Composer &composer, const Op &op, const TensorId &losses,
                 const TensorId &weights) {
  std::string reduction = op.attributes.getString("reduction", "mean");
  requireOp(op,
            reduction == "none" || reduction == "sum" || reduction == "mean",
            "reduction {} is none of none, sum and mean", reduction);
  auto all = Attributes().set("keepdims", Attributes::Int{0});
  if (reduction == "none") {
    return losses;
  }
  if (reduction == "mean" && weights.empty()) {
    return composer.add("ReduceMean", {losses}, all);
  }
  TensorId sum = composer.add("ReduceSum", {losses}, all);
  return reduction == "sum"
             ? sum
             : composer.add("Div",
                            {sum, composer.add("ReduceSum", {weights}, all)});
}

// `logs` are [samples, classes, ...]; input 1, the targets, has no classes.
TensorId classLoss(Composer &composer, const Op &op, const TensorId &logs) {
  Shape targets = composer.shape(logs);
  requireOp(op, targets.size() >= 2, "scores have shape {}, without classes",
            support::toString(targets));
  targets.erase(targets.begin() + 1);
  requireOp(op, op.inShape(1) == targets,
            "targets have shape {}; for scores of shape {} it must be {}",
            support::toString(op.inShape(1)),
            support::toString(composer.shape(logs)),
            support::toString(targets));
  TensorId classes = composer.cast(op.inputs[1], DataType::INT32);
  TensorId isIgnored;
  if (op.attributes.hasAttribute("ignore_index")) {
    TensorId ignored = composer.scalar(
        static_cast<double>(op.attributes.getInt("ignore_index", 0)),
        DataType::INT32);
    isIgnored = composer.add("Equal", {classes, ignored}, {}, 11);
    classes =
        composer.addFormula("select(a-a,a,a==b)", {"", ""}, {classes, ignored});
  }
  Shape one = composer.shape(logs);
  one[1] = 1;
  TensorId picked = composer.reshape(
      composer.add("GatherElements", {logs, composer.reshape(classes, one)},
                   Attributes().set("axis", Attributes::Int{1}), 11),
      targets);
  TensorId weights =
      weightsOf(composer, op, classes, isIgnored, composer.type(logs));
  TensorId losses = composer.add("Neg", {picked});
  if (!weights.empty()) {
    weights = composer.expand(weights, targets);
    losses = composer.add("Mul", {losses, weights});
  }
  return reduced(composer, op, losses, weights);
}

void composeNll(Composer &composer, const Op &op) {
  requireInputCount(op, 2, 3);
  composer.setOutput(0, classLoss(composer, op, op.inputs[0]));
}

void composeSoftmaxCrossEntropy(Composer &composer, const Op &op) {
  requireInputCount(op, 2, 3);
  TensorId logs =
      composer.add("LogSoftmax", {op.inputs[0]},
                   Attributes().set("axis", Attributes::Int{1}), 13);
  composer.setOutput(0, classLoss(composer, op, logs));
  composer.setOutput(1, logs);
}

} // namespace

std::vector<OpRule> classLossRules() {
  return {{.domain = "ai.onnx",
           .type = "NegativeLogLikelihoodLoss",
           .schema = {{12, 13}, types::floats()},
           .compose = composeNll},
          {.domain = "ai.onnx",
           .type = "SoftmaxCrossEntropyLoss",
           .schema = {{12, 13}, types::floats()},
           .compose = composeSoftmaxCrossEntropy}};
}

} // namespace popart
