// Convolution over two spatial dimensions, and its gradients.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>

namespace popart {
namespace {

constexpr std::size_t spatial = 2;

// ONNX gives pads as all begins, then all ends.
Attributes::Ints pads(const Op &op) {
  std::string autoPad = op.attributes.getString("auto_pad", "NOTSET");
  requireOp(op, autoPad == "NOTSET" || autoPad == "VALID",
            "auto_pad {} is not supported; give pads", autoPad);
  return autoPad == "VALID" ? Attributes::Ints(2 * spatial, 0)
                            : intsOf(op, "pads", 4, 0);
}

std::vector<TensorInfo> inferConv(const Op &op) {
  requireInputCount(op, 2, 3);
  requireFloat(op, 0);
  requireRank(op, 0, 4);
  requireRank(op, 1, 4);
  const Shape &x = op.inShape(0);
  const Shape &w = op.inShape(1);
  auto group = op.attributes.getInt("group", 1);
  requireOp(op, group > 0 && x[1] == w[1] * group && w[0] % group == 0,
            "input {} and weights {} do not fit {} groups",
            support::toString(x), support::toString(w), group);
  requireOp(op, !op.hasInput(2) || op.inShape(2) == Shape{w[0]},
            "the bias must have shape {{{}}}", w[0]);
  auto strides = intsOf(op, "strides", 2, 1);
  auto dilations = intsOf(op, "dilations", 2, 1);
  auto pad = pads(op);
  Shape y = {x[0], w[0], 0, 0};
  for (std::size_t d = 0; d < spatial; ++d) {
    std::int64_t kernel = (w[2 + d] - 1) * dilations[d] + 1;
    std::int64_t padded = x[2 + d] + pad[d] + pad[d + spatial];
    requireOp(op, padded >= kernel,
              "the kernel covers {} elements of dimension {}, the padded input "
              "has {}",
              kernel, 2 + d, padded);
    y[2 + d] = (padded - kernel) / strides[d] + 1;
  }
  return {TensorInfo(op.inInfo(0).dataType(), y)};
}

// The window of a convolution, as its gradients repeat it.
Attributes window(const Op &op) {
  Attributes result;
  result.set("strides", intsOf(op, "strides", 2, 1));
  result.set("dilations", intsOf(op, "dilations", 2, 1));
  result.set("pads", pads(op));
  result.set("group", op.attributes.getInt("group", 1));
  return result;
}

void differentiateConv(GradientBuilder &builder, const Op &op) {
  const TensorId &dy = builder.outputGradient(0);
  if (builder.isWanted(0)) {
    builder.setGradient(
        0, builder.add("aspen", "ConvDataGrad", {dy, op.inputs[1]},
                       window(op).set("inputShape", op.inShape(0))));
  }
  if (builder.isWanted(1)) {
    const Shape &w = op.inShape(1);
    builder.setGradient(
        1, builder.add("aspen", "ConvWeightGrad", {dy, op.inputs[0]},
                       window(op).set("kernelShape", Shape{w[2], w[3]})));
  }
  if (op.hasInput(2) && builder.isWanted(2)) {
    builder.setGradient(2,
                        builder.add("ai.onnx", "ReduceSum", {dy},
                                    Attributes()
                                        .set("axes", Shape{0, 2, 3})
                                        .set("keepdims", Attributes::Int{0})));
  }
}

kernels::Attributes kindAttributes(const Op &op) {
  auto pad = pads(op);
  return {{"strides", intsOf(op, "strides", 2, 1)},
          {"dilations", intsOf(op, "dilations", 2, 1)},
          {"padLower", Shape{pad[0], pad[1]}},
          {"padUpper", Shape{pad[2], pad[3]}},
          {"groups", op.attributes.getInt("group", 1)}};
}

poplar::OptionFlags convOptions(const LoweringContext &context) {
  poplar::OptionFlags flags;
  for (const auto &[name, value] : context.options().convolutionOptions) {
    flags.set(name, value);
  }
  return flags;
}

void lowerConv(LoweringContext &context, const Op &op) {
  auto attributes = kindAttributes(op);
  attributes.set("bias", std::int64_t{op.hasInput(2)});
  attributes.set("activation", std::string());
  std::vector<poplar::Tensor> inputs = {context.in(0), context.in(1)};
  if (op.hasInput(2)) {
    inputs.push_back(context.in(2));
  }
  context.setOut(0, context.emit("convolution", attributes, inputs,
                                 convOptions(context))[0]);
}

std::vector<TensorInfo> inferDataGrad(const Op &op) {
  return {TensorInfo(op.inInfo(0).dataType(),
                     op.attributes.getInts("inputShape", {}))};
}

void lowerDataGrad(LoweringContext &context, const Op &op) {
  auto attributes = kindAttributes(op);
  attributes.set("inputShape", op.attributes.getInts("inputShape", {}));
  context.setOut(0, context.emit("convolutionDataGrad", attributes,
                                 {context.in(0), context.in(1)},
                                 convOptions(context))[0]);
}

std::vector<TensorInfo> inferWeightGrad(const Op &op) {
  auto kernel = op.attributes.getInts("kernelShape", {});
  auto group = op.attributes.getInt("group", 1);
  return {TensorInfo(
      op.inInfo(0).dataType(),
      {op.inShape(0)[1], op.inShape(1)[1] / group, kernel[0], kernel[1]})};
}

void lowerWeightGrad(LoweringContext &context, const Op &op) {
  auto attributes = kindAttributes(op);
  attributes.set("kernelShape", op.attributes.getInts("kernelShape", {}));
  context.setOut(0, context.emit("convolutionWeightGrad", attributes,
                                 {context.in(0), context.in(1)},
                                 convOptions(context))[0]);
}

} // namespace

std::vector<OpRule> convRules() {
  return {{.domain = "ai.onnx",
           .type = "Conv",
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
           .lower = lowerWeightGrad}};
}

} // namespace popart
