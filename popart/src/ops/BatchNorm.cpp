// Batch normalisation: with given statistics, or with those of the batch, which
// then also move the running ones.
#include <ops/Common.hpp>
#include <ops/Composer.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

namespace popart {
namespace {

// Inputs: x, scale, bias, mean, variance.
constexpr InIndex inputs = 5;

// Until ONNX 14 it trains if and only if it has five outputs.
bool isTraining(const Op &op) {
  return op.opid.version >= 14 ? op.attributes.getInt("training_mode", 0) != 0
                               : op.outputs.size() >= 5;
}

double epsilonOf(const Op &op) {
  return double{op.attributes.getFloat("epsilon", 1e-5f)};
}

// Outputs when training: y, the running mean and variance, until 14 the batch's
// own as well; then, private, the batch's mean and inverse deviation.
OutIndex publicOutputs(const Op &op) {
  return op.opid.version >= 14 ? 3 : 5;
}

std::vector<TensorInfo> inferBatchNorm(const Op &op) {
  requireInputCount(op, inputs, inputs);
  requireFloat(op, 0);
  const Shape &x = op.inShape(0);
  requireOp(op, x.size() >= 3, "shape {} has rank {}; it must be 3 at least",
            support::toString(x), x.size());
  for (InIndex i = 1; i < inputs; ++i) {
    requireOp(op, op.inShape(i) == Shape{x[1]},
              "input {} has shape {}; it must be {{{}}}", i,
              support::toString(op.inShape(i)), x[1]);
  }
  std::vector<TensorInfo> outputs = {op.inInfo(0)};
  if (isTraining(op)) {
    for (OutIndex i = 1; i < publicOutputs(op); ++i) {
      outputs.push_back(op.inInfo(i % 2 == 1 ? 3 : 4));
    }
    TensorInfo statistic(op.inInfo(0).dataType(), {x[1]});
    outputs.insert(outputs.end(), 2, statistic);
  }
  return outputs;
}

// A value for each channel, as it meets x.
Shape channelShape(const Op &op) {
  Shape shape(op.inShape(0).size(), 1);
  shape[1] = op.inShape(0)[1];
  return shape;
}

// x and scale by the batch's statistics.
void differentiateTraining(GradientBuilder &builder, const Op &op) {
  auto first = static_cast<std::size_t>(publicOutputs(op));
  auto gradients =
      builder.addAll("aspen", "BatchNormGrad",
                     {builder.outputGradient(0), op.inputs[0], op.inputs[1],
                      op.outputs[first], op.outputs[first + 1]});
  for (InIndex i : {0, 1, 2}) {
    builder.setGradient(i, gradients[static_cast<std::size_t>(i)]);
  }
}

void differentiateBatchNorm(GradientBuilder &builder, const Op &op) {
  if (builder.outputGradient(0).empty()) {
    return; // only the statistics are used
  }
  if (isTraining(op)) {
    differentiateTraining(builder, op);
    return;
  }
  const TensorId &g = builder.outputGradient(0);
  Shape channels = channelShape(op);
  auto channel = [&](InIndex i) {
    return builder.addReshape(op.inputs[static_cast<std::size_t>(i)], channels);
  };
  std::string inverse = fmt::format("*rsqrt(v+{})", epsilonOf(op));
  if (builder.isWanted(0)) {
    builder.setGradient(0, builder.addElementwise("g*s" + inverse, "g,s,v",
                                                  {g, channel(1), channel(4)},
                                                  op.inShape(0)));
  }
  if (builder.isWanted(1)) {
    TensorId product = builder.addElementwise(
        "g*(x-m)" + inverse, "g,x,m,v",
        {g, op.inputs[0], channel(3), channel(4)}, op.inShape(0));
    builder.setGradient(
        1, builder.addReshape(builder.addReduceTo(product, channels),
                              op.inShape(1)));
  }
  if (builder.isWanted(2)) {
    builder.setGradient(
        2, builder.addReshape(builder.addReduceTo(g, channels), op.inShape(2)));
  }
}

// PopART's own operator keeps the variance of a sample, over one less than its
// number of elements.
std::string sampleCorrection(const Op &op) {
  auto count = static_cast<double>(op.inInfo(0).nelms() / op.inShape(0)[1]);
  return op.opid.domain == "ai.graphcore" && count > 1
             ? fmt::format("*({:.17g})", count / (count - 1))
             : "";
}

// The running statistics keep `momentum` of themselves. Statistics may have a
// type of their own.
void lowerStatistics(LoweringContext &context, const Op &op,
                     const poplar::Tensor &mean,
                     const poplar::Tensor &inverse) {
  using kernels::Expression;
  double momentum = double{op.attributes.getFloat("momentum", 0.9f)};
  const std::string_view names[] = {"b", "r"};
  auto emit = [&](OutIndex i, const std::string &text,
                  const std::vector<poplar::Tensor> &operands) {
    auto value = Expression::parse(text, names);
    context.setOut(
        i, context.emit(
               Expression::cast(deviceType(op.outInfo(i).dataType()), value),
               operands));
  };
  std::string variance = fmt::format("(1/(b*b)-{})", epsilonOf(op));
  std::string running = variance + sampleCorrection(op);
  emit(1, fmt::format("r*{}+b*{}", momentum, 1 - momentum),
       {mean, context.in(3)});
  emit(2, fmt::format("r*{}+{}*{}", momentum, running, 1 - momentum),
       {inverse, context.in(4)});
  if (publicOutputs(op) == 5) {
    emit(3, "b", {mean});
    emit(4, variance, {inverse});
  }
  context.setOut(publicOutputs(op), mean);
  context.setOut(publicOutputs(op) + 1, inverse);
}

void lowerBatchNorm(LoweringContext &context, const Op &op) {
  if (isTraining(op)) {
    auto outputs = context.emit("batchNorm", {{"epsilon", epsilonOf(op)}},
                                {context.in(0), context.in(1), context.in(2)});
    context.setOut(0, outputs[0]);
    lowerStatistics(context, op, outputs[1], outputs[2]);
    return;
  }
  Shape channels = channelShape(op);
  std::vector<poplar::Tensor> operands = {context.in(0)};
  for (InIndex i = 1; i < inputs; ++i) {
    operands.push_back(context.in(i).reshape(
        std::vector<std::size_t>(channels.begin(), channels.end())));
  }
  const std::string_view names[] = {"x", "s", "b", "m", "v"};
  context.setOut(
      0, context.emit(
             kernels::Expression::parse(
                 fmt::format("(x-m)*(s*rsqrt(v+{}))+b", epsilonOf(op)), names),
             operands));
}

std::vector<TensorInfo> inferGrad(const Op &op) {
  return {op.inInfo(0), op.inInfo(2), op.inInfo(2)};
}

void lowerGrad(LoweringContext &context, const Op &) {
  auto outputs = context.emit("batchNormGrad", {},
                              {context.in(0), context.in(1), context.in(2),
                               context.in(3), context.in(4)});
  for (OutIndex i : {0, 1, 2}) {
    context.setOut(i, outputs[static_cast<std::size_t>(i)]);
  }
}

bool hasStatisticsOfElements(const Attributes &attributes) {
  return attributes.getInt("spatial", 1) == 0;
}

// Each element has statistics of its own, over the samples: a channel each.
void composeElementwise(Composer &composer, const Op &op) {
  requireInputCount(op, inputs, inputs);
  const Shape x = op.inShape(0);
  requireOp(op, x.size() >= 3, "batch norm requires X to have a rank >= 3");
  Shape elements(x.begin() + 1, x.end());
  std::int64_t count = support::elementCount(elements);
  Composer::Ids operands = {composer.reshape(op.inputs[0], {x[0], count, 1})};
  for (InIndex i = 1; i < inputs; ++i) {
    requireOp(op, op.inShape(i) == elements,
              "expected shape of input {} to be {}, not {}", i,
              support::toString(elements), support::toString(op.inShape(i)));
    operands.push_back(
        composer.reshape(op.inputs[static_cast<std::size_t>(i)], {count}));
  }
  Attributes attributes = op.attributes;
  attributes.set("spatial", Attributes::Int{1});
  auto results =
      composer.addSeveral(op.opid, operands, op.outputs.size(), attributes);
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    composer.setOutput(static_cast<OutIndex>(i),
                       composer.reshape(results[i], i == 0 ? x : elements));
  }
}

} // namespace

std::vector<OpRule> batchNormRules() {
  return {{.domain = "ai.onnx",
           .type = "BatchNormalization",
           .schema = {{6, 7, 9, 14, 15}, types::floats()},
           .infer = inferBatchNorm,
           .differentiate = differentiateBatchNorm,
           .lower = lowerBatchNorm,
           .compose = composeElementwise,
           .isComposed = hasStatisticsOfElements},
          {.domain = "ai.graphcore",
           .type = "BatchNormalization",
           .schema = {.types = types::floats(),
                      .attributes = {{"epsilon", 1e-5f}, {"momentum", 0.9f}},
                      .outputs = 0},
           .infer = inferBatchNorm,
           .differentiate = differentiateBatchNorm,
           .lower = lowerBatchNorm},
          {.domain = "aspen",
           .type = "BatchNormGrad",
           .infer = inferGrad,
           .lower = lowerGrad}};
}

} // namespace popart
