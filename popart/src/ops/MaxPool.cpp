// Max pooling over two spatial dimensions. The winner's place in each window is
// a private output that the gradient routes by.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>

#include <algorithm>

namespace popart {
namespace {

struct Window {
  Attributes::Ints kernel;
  Attributes::Ints strides;
  Attributes::Ints padLower;
  Attributes::Ints padUpper;
};

Window windowOf(const Op &op, const Shape &x) {
  Window window;
  window.kernel = op.attributes.getInts("kernel_shape", {});
  requireOp(op, window.kernel.size() == 2, "kernel_shape must have 2 values");
  window.strides = intsOf(op, "strides", 2, 1);
  auto dilations = intsOf(op, "dilations", 2, 1);
  requireOp(op, dilations == Attributes::Ints({1, 1}),
            "dilations other than 1 are not supported");
  auto pads = intsOf(op, "pads", 4, 0);
  window.padLower = {pads[0], pads[1]};
  window.padUpper = {pads[2], pads[3]};
  if (op.attributes.getInt("ceil_mode", 0) != 0) {
    for (std::size_t d = 0; d < 2; ++d) {
      // Pad until the last, partial window is whole; it must start before the
      // upper padding.
      std::int64_t stride = window.strides[d];
      std::int64_t size = x[2 + d] + window.padLower[d] + window.padUpper[d];
      std::int64_t steps = (size - window.kernel[d] + stride - 1) / stride;
      if (steps * stride >= x[2 + d] + window.padLower[d]) {
        --steps;
      }
      window.padUpper[d] +=
          std::max<std::int64_t>(0, steps * stride + window.kernel[d] - size);
    }
  }
  return window;
}

std::vector<TensorInfo> inferMaxPool(const Op &op) {
  requireInputCount(op, 1, 1);
  requireFloat(op, 0);
  requireRank(op, 0, 4);
  const Shape &x = op.inShape(0);
  Window window = windowOf(op, x);
  Shape y = x;
  for (std::size_t d = 0; d < 2; ++d) {
    std::int64_t padded = x[2 + d] + window.padLower[d] + window.padUpper[d];
    requireOp(op, padded >= window.kernel[d],
              "the kernel covers {} elements of dimension {}, the padded input "
              "has {}",
              window.kernel[d], 2 + d, padded);
    y[2 + d] = (padded - window.kernel[d]) / window.strides[d] + 1;
  }
  return {TensorInfo(op.inInfo(0).dataType(), y),
          TensorInfo(DataType::UINT8, y)};
}

void differentiateMaxPool(GradientBuilder &builder, const Op &op) {
  Window window = windowOf(op, op.inShape(0));
  Attributes::Ints pads = window.padLower;
  pads.insert(pads.end(), window.padUpper.begin(), window.padUpper.end());
  Attributes attributes;
  attributes.set("kernel_shape", window.kernel)
      .set("strides", window.strides)
      .set("pads", pads)
      .set("inputShape", op.inShape(0));
  builder.setGradient(0, builder.add("aspen", "MaxPoolGrad",
                                     {builder.outputGradient(0), op.outputs[1]},
                                     attributes));
}

kernels::Attributes kindAttributes(const Window &window) {
  return {{"kernel", window.kernel},
          {"strides", window.strides},
          {"padLower", window.padLower},
          {"padUpper", window.padUpper},
          {"activation", std::string()}};
}

void lowerMaxPool(LoweringContext &context, const Op &op) {
  auto outputs = context.emit(
      "maxPool", kindAttributes(windowOf(op, op.inShape(0))), {context.in(0)});
  context.setOut(0, outputs[0]);
  context.setOut(1, outputs[1]);
}

std::vector<TensorInfo> inferMaxPoolGrad(const Op &op) {
  return {TensorInfo(op.inInfo(0).dataType(),
                     op.attributes.getInts("inputShape", {}))};
}

void lowerMaxPoolGrad(LoweringContext &context, const Op &op) {
  auto attributes = kindAttributes(windowOf(op, op.outShape(0)));
  attributes.set("inputShape", op.outShape(0));
  context.setOut(0, context.emit("maxPoolGrad", attributes,
                                 {context.in(0), context.in(1)})[0]);
}

} // namespace

std::vector<OpRule> maxPoolRules() {
  return {{.domain = "ai.onnx",
           .type = "MaxPool",
           .infer = inferMaxPool,
           .differentiate = differentiateMaxPool,
           .lower = lowerMaxPool},
          {.domain = "aspen",
           .type = "MaxPoolGrad",
           .infer = inferMaxPoolGrad,
           .lower = lowerMaxPoolGrad}};
}

} // namespace popart
