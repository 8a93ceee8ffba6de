// Negative log-likelihood of labels, given probabilities or their logarithms.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

namespace popart {
namespace {

// Probabilities below this count as this.
const char *smallestProbability(DataType type) {
  return type == DataType::FLOAT16 ? "6.104e-5" : "1e-7";
}

bool isLogProbability(const Op &op) {
  return op.attributes.getInt("inputIsLogProbability", 0) != 0;
}

std::vector<TensorInfo> inferNll(const Op &op) {
  requireInputCount(op, 2, 2);
  requireFloat(op, 0);
  const Shape &probabilities = op.inShape(0);
  const Shape &labels = op.inShape(1);
  requireOp(op,
            !probabilities.empty() &&
                labels == Shape(probabilities.begin(), probabilities.end() - 1),
            "labels of shape {} do not fit probabilities of shape {}",
            support::toString(labels), support::toString(probabilities));
  DataType labelType = op.inInfo(1).dataType();
  requireOp(op, labelType == DataType::INT32 || labelType == DataType::INT64,
            "labels are {}; they must be INT32", op.inInfo(1).data_type());
  return {TensorInfo(op.inInfo(0).dataType(),
                     reductionOf(op) == ReductionType::NoReduction ? labels
                                                                   : Shape{})};
}

void differentiateNll(GradientBuilder &builder, const Op &op) {
  Attributes attributes;
  attributes.set("reduction", static_cast<Attributes::Int>(reductionOf(op)))
      .set("ignoreIndex", op.attributes.getInt("ignoreIndex", -1))
      .set("classes", op.inShape(0).back());
  TensorId gradient =
      builder.add("aspen", "NlllossGrad",
                  {builder.outputGradient(0), op.inputs[1]}, attributes);
  if (!isLogProbability(op)) {
    const char *smallest = smallestProbability(op.inInfo(0).dataType());
    gradient = builder.addElementwise(
        fmt::format("g/max(p,{0})*step(p-{0})", smallest), "g,p",
        {gradient, op.inputs[0]}, op.inShape(0));
  }
  builder.setGradient(0, gradient);
}

kernels::Attributes kindAttributes(const Op &op) {
  ReductionType reduction = reductionOf(op);
  const char *name = reduction == ReductionType::Sum    ? "sum"
                     : reduction == ReductionType::Mean ? "mean"
                                                        : "none";
  return {{"reduction", std::string(name)},
          {"ignoreIndex", op.attributes.getInt("ignoreIndex", -1)}};
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
                    context.in(1).flatten()})[0]
             .reshape(poplarShape(op.outShape(0))));
}

std::vector<TensorInfo> inferNllGrad(const Op &op) {
  Shape shape = op.inShape(1);
  shape.push_back(op.attributes.getInt("classes", 0));
  return {TensorInfo(op.inInfo(0).dataType(), shape)};
}

void lowerNllGrad(LoweringContext &context, const Op &op) {
  auto attributes = kindAttributes(op);
  attributes.set("classes", op.attributes.getInt("classes", 0));
  poplar::Tensor gradient = context.in(0);
  if (reductionOf(op) == ReductionType::NoReduction) {
    gradient = gradient.flatten();
  }
  context.setOut(0, context
                        .emit("nllLossGrad", attributes,
                              {gradient, context.in(1).flatten()})[0]
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
       .lower = lowerNllGrad}};
}

} // namespace popart
