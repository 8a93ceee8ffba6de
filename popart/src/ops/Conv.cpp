// Convolution over a field of any number of dimensions, and its gradients.
#include <ops/Conv.hpp>

#include <ops/Axes.hpp>
#include <ops/Common.hpp>
#include <ops/List.hpp>
#include <ops/PlanOptions.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>

namespace popart {
namespace {

std::int64_t groupOf(const Op &op) {
  return op.attributes.getInt("group", 1);
}

// The kernel is what the weights say; an attribute may repeat it.
Window convWindow(const Op &op) {
  Shape kernel = fieldOf(op.inShape(1));
  requireOp(op, op.attributes.getInts("kernel_shape", kernel) == kernel,
            "kernel_shape is {}; the weights have {}",
            support::toString(op.attributes.getInts("kernel_shape", kernel)),
            support::toString(kernel));
  return windowOf(op, fieldOf(op.inShape(0)), kernel);
}

std::vector<TensorInfo> inferConv(const Op &op) {
  requireInputCount(op, 2, 3);
  requireFloat(op, 0);
  const Shape &x = op.inShape(0);
  const Shape &w = op.inShape(1);
  requireOp(op, x.size() >= 3 && x.size() == w.size(),
            "input {} and weights {} need one rank, 3 at least",
            support::toString(x), support::toString(w));
  auto group = groupOf(op);
  requireOp(op, group > 0 && x[1] == w[1] * group && w[0] % group == 0,
            "input {} and weights {} do not fit {} groups",
            support::toString(x), support::toString(w), group);
  requireOp(op, !op.hasInput(2) || op.inShape(2) == Shape{w[0]},
            "the bias must have shape {{{}}}", w[0]);
  Shape y = convWindow(op).places(op, fieldOf(x));
  y.insert(y.begin(), {x[0], w[0]});
  return {TensorInfo(op.inInfo(0).dataType(), y)};
}

Attributes gradientAttributes(const Op &op, const Window &window) {
  return withPlanOf(op.attributes, convAttributes(window, groupOf(op)));
}

void differentiateConv(GradientBuilder &builder, const Op &op) {
  const TensorId &dy = builder.outputGradient(0);
  Window window = convWindow(op);
  if (builder.isWanted(0)) {
    builder.setGradient(
        0,
        builder.add(
            "aspen", "ConvDataGrad", {dy, op.inputs[1]},
            gradientAttributes(op, window).set("inputShape", op.inShape(0))));
  }
  if (builder.isWanted(1)) {
    builder.setGradient(
        1,
        builder.add(
            "aspen", "ConvWeightGrad", {dy, op.inputs[0]},
            gradientAttributes(op, window).set("kernelShape", window.kernel)));
  }
  if (op.hasInput(2) && builder.isWanted(2)) {
    builder.setGradient(2, addBiasGradient(builder, dy));
  }
}

// Of a gradient operation, whose attributes are all there.
kernels::Attributes gradAttributes(const Op &op, std::size_t fieldRank) {
  auto count = static_cast<int>(fieldRank);
  auto pads = intsOf(op, "pads", 2 * count, 0);
  return {{"strides", intsOf(op, "strides", count, 1)},
          {"dilations", intsOf(op, "dilations", count, 1)},
          {"padLower", Shape(pads.begin(), pads.begin() + count)},
          {"padUpper", Shape(pads.begin() + count, pads.end())},
          {"groups", groupOf(op)}};
}

void lowerConv(LoweringContext &context, const Op &op) {
  auto attributes = convWindow(op).kindAttributes();
  attributes.set("groups", groupOf(op));
  attributes.set("bias", std::int64_t{op.hasInput(2)});
  attributes.set("activation", std::string());
  std::vector<poplar::Tensor> inputs = {context.in(0), context.in(1)};
  if (op.hasInput(2)) {
    inputs.push_back(context.in(2));
  }
  context.setOut(0, context.emit("convolution", attributes, inputs,
                                 convOptions(context, op.attributes))[0]);
}

std::vector<TensorInfo> inferDataGrad(const Op &op) {
  return {TensorInfo(op.inInfo(0).dataType(),
                     op.attributes.getInts("inputShape", {}))};
}

void lowerDataGrad(LoweringContext &context, const Op &op) {
  auto attributes = gradAttributes(op, op.inShape(0).size() - 2);
  attributes.set("inputShape", op.attributes.getInts("inputShape", {}));
  context.setOut(0, context.emit("convolutionDataGrad", attributes,
                                 {context.in(0), context.in(1)},
                                 convOptions(context, op.attributes))[0]);
}

std::vector<TensorInfo> inferWeightGrad(const Op &op) {
  Shape w = {op.inShape(0)[1], op.inShape(1)[1] / groupOf(op)};
  return {TensorInfo(op.inInfo(0).dataType(),
                     withField(w, op.attributes.getInts("kernelShape", {})))};
}

void lowerWeightGrad(LoweringContext &context, const Op &op) {
  auto attributes = gradAttributes(op, op.inShape(0).size() - 2);
  attributes.set("kernelShape", op.attributes.getInts("kernelShape", {}));
  context.setOut(0, context.emit("convolutionWeightGrad", attributes,
                                 {context.in(0), context.in(1)},
                                 convOptions(context, op.attributes))[0]);
}

} // namespace

Attributes convAttributes(const Window &window, std::int64_t group) {
  Attributes attributes;
  attributes.set("strides", window.strides)
      .set("dilations", window.dilations)
      .set("pads", window.pads())
      .set("group", group);
  return attributes;
}

TensorId addBiasGradient(GradientBuilder &builder, const TensorId &dy) {
  Attributes::Ints axes =
      allAxes(static_cast<Rank>(builder.shapeOf(dy).size()));
  axes.erase(axes.begin() + 1);
  return builder.add(
      "ai.onnx", "ReduceSum", {dy},
      Attributes().set("axes", axes).set("keepdims", Attributes::Int{0}));
}

std::vector<OpRule> convRules() {
  return {{.domain = "ai.onnx",
           .type = "Conv",
           .schema = {{1, 11}, types::floats()},
           .infer = inferConv,
           .differentiate = differentiateConv,
           .lower = lowerConv},
          {.domain = "aspen",
           .type = "ConvDataGrad",
           .infer = inferDataGrad,
           .lower = lowerDataGrad},
          {.domain = "aspen",
           .type = "ConvWeightGrad",
           .infer = inferWeightGrad,
           .lower = lowerWeightGrad},
          multiConvRule()};
}

} // namespace popart
