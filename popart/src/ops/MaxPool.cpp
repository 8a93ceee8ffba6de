// Max pooling. The winner's place in each window is a private output that the
// gradient routes by.
#include <ops/MaxPool.hpp>

#include <ops/Common.hpp>
#include <ops/Indices.hpp>
#include <ops/List.hpp>
#include <ops/Window.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <popops/Pad.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <limits>

namespace popart {
namespace {

Window poolWindow(const Op &op, const Shape &x) {
  requireOp(op, x.size() >= 3, "shape {} has no field", support::toString(x));
  return windowOf(op, fieldOf(x), op.attributes.getInts("kernel_shape", {}));
}

std::vector<TensorInfo> inferMaxPool(const Op &op) {
  requireInputCount(op, 1, 1);
  requireFloat(op, 0);
  const Shape &x = op.inShape(0);
  Window window = poolWindow(op, x);
  Shape y = withField(x, window.places(op, fieldOf(x)));
  return {TensorInfo(op.inInfo(0).dataType(), y),
          TensorInfo(DataType::UINT8, y)};
}

void differentiateMaxPool(GradientBuilder &builder, const Op &op) {
  Window window = poolWindow(op, op.inShape(0));
  Attributes attributes;
  attributes.set("kernel_shape", window.kernel)
      .set("strides", window.strides)
      .set("dilations", window.dilations)
      .set("pads", window.pads())
      .set("inputShape", op.inShape(0));
  builder.setGradient(0, builder.add("aspen", "MaxPoolGrad",
                                     {builder.outputGradient(0), op.outputs[1]},
                                     attributes));
}

// The kinds take two dimensions without dilation.
bool isPlain(const Window &window) {
  return window.kernel.size() == 2 &&
         std::all_of(window.dilations.begin(), window.dilations.end(),
                     [](std::int64_t d) { return d == 1; });
}

kernels::Attributes kindAttributes(const Window &window) {
  return {{"kernel", window.kernel},
          {"strides", window.strides},
          {"padLower", window.padLower},
          {"padUpper", window.padUpper},
          {"activation", std::string()}};
}

// Any other window is spread out: a view [N, C, places, elements of a window]
// of the padded input, over which rows are pooled whole.
Window rowWindow(const Window &window) {
  std::int64_t size = support::elementCount(window.kernel);
  return {{1, size}, {1, size}, {1, 1}, {0, 0}, {0, 0}};
}

// Element `index` of every window, row-major, as a view of the padded input.
poplar::Tensor elementOfWindows(poplar::Tensor padded, const Window &window,
                                const Shape &places, std::int64_t index) {
  for (std::size_t d = places.size(); d-- > 0;) {
    auto dimension = static_cast<unsigned>(2 + d);
    std::int64_t first = index % window.kernel[d] * window.dilations[d];
    index /= window.kernel[d];
    std::int64_t end = first + (places[d] - 1) * window.strides[d] + 1;
    padded =
        padded
            .slice(static_cast<std::size_t>(first),
                   static_cast<std::size_t>(end), dimension)
            .subSample(static_cast<unsigned>(window.strides[d]), dimension);
  }
  return padded;
}

// [N, C, places...] as [N, C, number of places].
poplar::Tensor placesInOne(const poplar::Tensor &tensor) {
  return tensor.flatten(2, tensor.rank());
}

poplar::Tensor spreadWindows(LoweringContext &context, poplar::Tensor x,
                             const Window &window, const Shape &places) {
  poplar::Tensor lowest = context.addConstant(
      x.elementType(), {-std::numeric_limits<float>::infinity()});
  for (std::size_t d = 0; d < places.size(); ++d) {
    x = popops::pad(context.graph(), x, window.padLower[d], window.padUpper[d],
                    static_cast<unsigned>(2 + d), lowest.squeeze({0}));
  }
  std::vector<poplar::Tensor> elements;
  for (std::int64_t i = 0; i < support::elementCount(window.kernel); ++i) {
    elements.push_back(
        placesInOne(elementOfWindows(x, window, places, i)).expand({3}));
  }
  return poplar::concat(elements, 3);
}

void lowerMaxPool(LoweringContext &context, const Op &op) {
  Window window = poolWindow(op, op.inShape(0));
  support::requireInternal(support::elementCount(window.kernel) <=
                               mostPooledElements,
                           "{} has a window of {} elements", op.str(),
                           support::elementCount(window.kernel));
  bool isWhole = isPlain(window);
  auto outputs = context.emit(
      "maxPool", kindAttributes(isWhole ? window : rowWindow(window)),
      {isWhole ? context.in(0)
               : spreadWindows(context, context.in(0), window,
                               fieldOf(op.outShape(0)))});
  for (OutIndex i : {0, 1}) {
    context.setOut(i, outputs[static_cast<std::size_t>(i)].reshape(
                          poplarShape(op.outShape(i))));
  }
}

std::vector<TensorInfo> inferMaxPoolGrad(const Op &op) {
  return {TensorInfo(op.inInfo(0).dataType(),
                     op.attributes.getInts("inputShape", {}))};
}

// Every element of the windows adds its gradient where it came from.
void lowerSpreadGrad(LoweringContext &context, const Op &op,
                     const Window &window) {
  Shape places = fieldOf(op.inShape(0));
  Shape padded = op.outShape(0);
  for (std::size_t d = 0; d < places.size(); ++d) {
    padded[2 + d] += window.padLower[d] + window.padUpper[d];
  }
  poplar::Tensor dy = placesInOne(context.in(0)).expand({3});
  auto attributes = kindAttributes(rowWindow(window));
  std::int64_t size = support::elementCount(window.kernel);
  attributes.set(
      "inputShape",
      Shape{padded[0], padded[1], static_cast<std::int64_t>(dy.dim(2)), size});
  poplar::Tensor rows =
      context.emit("maxPoolGrad", attributes,
                   {dy, placesInOne(context.in(1)).expand({3})})[0];
  poplar::Tensor dx = filledVariable(
      context, op, TensorInfo(op.outInfo(0).dataType(), padded), 0.0);
  const std::string_view names[] = {"a", "b"};
  auto sum = kernels::Expression::parse("a+b", names);
  for (std::int64_t i = 0; i < size; ++i) {
    poplar::Tensor target =
        placesInOne(elementOfWindows(dx, window, places, i));
    auto column = static_cast<std::size_t>(i);
    context.emitTo(
        sum, {target, rows.slice(column, column + 1, 3).squeeze({3})}, target);
  }
  for (std::size_t d = 0; d < places.size(); ++d) {
    auto lower = static_cast<std::size_t>(window.padLower[d]);
    auto end = lower + static_cast<std::size_t>(op.outShape(0)[2 + d]);
    dx = dx.slice(lower, end, static_cast<unsigned>(2 + d));
  }
  context.setOut(0, dx);
}

void lowerMaxPoolGrad(LoweringContext &context, const Op &op) {
  Window window = poolWindow(op, op.outShape(0));
  if (!isPlain(window)) {
    lowerSpreadGrad(context, op, window);
    return;
  }
  auto attributes = kindAttributes(window);
  attributes.set("inputShape", op.outShape(0));
  context.setOut(0, context.emit("maxPoolGrad", attributes,
                                 {context.in(0), context.in(1)})[0]);
}

} // namespace

std::vector<OpRule> maxPoolRules() {
  return {{.domain = "ai.onnx",
           .type = "MaxPool",
           // ONNX's second are indices into the input.
           .schema = {.versions = {1, 8, 10, 11, 12},
                      .types = types::floats(),
                      .mostOutputs = 1},
           .infer = inferMaxPool,
           .differentiate = differentiateMaxPool,
           .lower = lowerMaxPool},
          {.domain = "aspen",
           .type = "MaxPoolGrad",
           .infer = inferMaxPoolGrad,
           .lower = lowerMaxPoolGrad}};
}

} // namespace popart
