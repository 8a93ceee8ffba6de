// Negative log-likelihood of labels, given probabilities or their logarithms.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

namespace popart {
namespace {

// Probabilities below this count as this in the loss.
const char *smallestProbability(DataType type) {
  return type == DataType::FLOAT16 ? "6.104e-5" : "1e-7";
}

// The same where the gradient divides by them. It is not 0 below: what is
// least likely has the most to learn.
const char *smallestDivisor(DataType type) {
  return type == DataType::FLOAT16 ? "6.104e-5" : "1e-10";
}

bool isFixedPoint(DataType type) {
  return !isFloat(type) && type != DataType::BOOL;
}

bool isLogProbability(const Op &op) {
  return op.attributes.getInt("inputIsLogProbability", 0) != 0;
}

// One label for each row of classes.
Shape labelShape(const Shape &probabilities) {
  return {probabilities.begin(), probabilities.end() - 1};
}

std::vector<TensorInfo> inferNll(const Op &op) {
  requireInputCount(op, 2, 2);
  requireFloat(op, 0);
  requireOp(op, !op.inShape(0).empty(),
            "probabilities are a scalar; classes are their last dimension");
  const Shape labels = labelShape(op.inShape(0));
  requireOp(op, op.inShape(1) == labels,
            "The label tensor ({}) must have shape {} to match the "
            "probabilities ({}), but has shape {}",
            op.inputs[1], support::toString(labels), op.inputs[0],
            support::toString(op.inShape(1)));
  requireOp(op, isFixedPoint(op.inInfo(1).dataType()),
            "labels are {}; they must be integers, such as INT32 or UINT32",
            op.inInfo(1).data_type());
  return {TensorInfo(op.inInfo(0).dataType(),
                     reductionOf(op) == ReductionType::NoReduction ? labels
                                                                   : Shape{})};
}

void differentiateNll(GradientBuilder &builder, const Op &op) {
  Attributes attributes;
  attributes.set("reduction", static_cast<Attributes::Int>(reductionOf(op)))
      .set("ignoreIndex", op.attributes.getInt("ignoreIndex", -1))
      .set("classes", op.inShape(0).back());
  std::vector<TensorId> inputs = {builder.outputGradient(0), op.inputs[1]};
  if (!isLogProbability(op)) {
    inputs.push_back(op.inputs[0]);
  }
  builder.setGradient(0,
                      builder.add("aspen", "NlllossGrad", inputs, attributes));
}

kernels::Attributes kindAttributes(const Op &op) {
  ReductionType reduction = reductionOf(op);
  const char *name = reduction == ReductionType::Sum    ? "sum"
                     : reduction == ReductionType::Mean ? "mean"
                                                        : "none";
  return {{"reduction", std::string(name)},
          {"ignoreIndex", op.attributes.getInt("ignoreIndex", -1)}};
}

// The kinds take INT.
poplar::Tensor labelsOf(LoweringContext &context) {
  poplar::Tensor labels = context.in(1).flatten();
  return labels.elementType() == poplar::INT
             ? labels
             : context.emit(
                   kernels::Expression::cast(support::DataType::Int,
                                             kernels::Expression::input(0)),
                   {labels});
}

void lowerNll(LoweringContext &context, const Op &op) {
  std::int64_t classes = op.inShape(0).back();
  std::int64_t samples = op.inInfo(1).nelms();
  poplar::Tensor logProbabilities = context.in(0);
  if (!isLogProbability(op)) {
    std::string text = fmt::format(
        "log(max(p,{}))", smallestProbability(op.inInfo(0).dataType()));
    const std::string_view names[] = {"p"};
    logProbabilities = context.emit(kernels::Expression::parse(text, names),
                                    {logProbabilities});
  }
  context.setOut(
      0, context
             .emit("nllLoss", kindAttributes(op),
                   {logProbabilities.reshape(poplarShape({samples, classes})),
                    labelsOf(context)})[0]
             .reshape(poplarShape(op.outShape(0))));
}

std::vector<TensorInfo> inferNllGrad(const Op &op) {
  Shape shape = op.inShape(1);
  shape.push_back(op.attributes.getInt("classes", 0));
  return {TensorInfo(op.inInfo(0).dataType(), shape)};
}

// By logarithms of probabilities: one row for each sample.
poplar::Tensor gradientOfLogarithms(LoweringContext &context, const Op &op) {
  auto attributes = kindAttributes(op);
  attributes.set("classes", op.attributes.getInt("classes", 0));
  poplar::Tensor gradient = context.in(0);
  if (reductionOf(op) == ReductionType::NoReduction) {
    gradient = gradient.flatten();
  }
  return context.emit("nllLossGrad", attributes,
                      {gradient, labelsOf(context)})[0];
}

void lowerNllGrad(LoweringContext &context, const Op &op) {
  poplar::Tensor gradient =
      gradientOfLogarithms(context, op).reshape(poplarShape(op.outShape(0)));
  if (op.hasInput(2)) {
    std::string text =
        fmt::format("g/max(p,{})", smallestDivisor(op.outInfo(0).dataType()));
    const std::string_view names[] = {"g", "p"};
    gradient = context.emit(kernels::Expression::parse(text, names),
                            {gradient, context.in(2)});
  }
  context.setOut(0, gradient);
}

// By what the softmax got: its probabilities less one at the label. No
// probability is divided by, so none is too small.
void lowerSoftmaxNllGrad(LoweringContext &context, const Op &op) {
  poplar::Tensor gradient = gradientOfLogarithms(context, op);
  poplar::Tensor sums = context.emit("reduce",
                                     {{"op", std::string("ADD")},
                                      {"dims", Attributes::Ints{1}},
                                      {"scale", 1.0}},
                                     {gradient})[0];
  const std::string_view names[] = {"g", "p", "sum"};
  context.setOut(0,
                 context
                     .emit(kernels::Expression::parse("g-p*sum", names),
                           {gradient, context.in(2).reshape(gradient.shape()),
                            sums.expand({1})})
                     .reshape(poplarShape(op.outShape(0))));
}

} // namespace

std::vector<OpRule> lossRules() {
  return {
      {.domain = "ai.graphcore",
       .type = "Nllloss",
       .schema = {.attributes = {{"reduction", Attributes::Int{static_cast<int>(
                                                   ReductionType::Mean)}},
                                 {"ignoreIndex", std::monostate{}},
                                 {"inputIsLogProbability",
                                  Attributes::Int{0}}}},
       .infer = inferNll,
       .differentiate = differentiateNll,
       .lower = lowerNll},
      {.domain = "aspen",
       .type = "NlllossGrad",
       .infer = inferNllGrad,
       .lower = lowerNllGrad},
      // transforms/FuseLossGradients.cpp puts it in the place of two.
      {.domain = "aspen",
       .type = "SoftmaxNlllossGrad",
       .infer = inferNllGrad,
       .lower = lowerSoftmaxNllGrad}};
}

} // namespace popart
