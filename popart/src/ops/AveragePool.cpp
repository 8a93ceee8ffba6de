// Means of windows. Where padding counts, it is made part of the input first:
// the kinds never count theirs.
#include <ops/Common.hpp>
#include <ops/List.hpp>
#include <ops/Window.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>

#include <popops/Pad.hpp>

#include <vector>

namespace popart {
namespace {

// The attributes of the operator and of its gradient, which has the input's
// shape from an attribute, are the same.
struct Pooling {
  Window window;
  // What becomes part of the input, for each dimension of the field.
  Attributes::Ints countedLower;
  Attributes::Ints countedUpper;
  Shape padded; // the input with it
};

Pooling poolingOf(const Op &op, const Shape &x) {
  requireOp(op, x.size() >= 3, "shape {} has no field", support::toString(x));
  Shape field = fieldOf(x);
  Pooling pooling{
      windowOf(op, field, op.attributes.getInts("kernel_shape", {})),
      Attributes::Ints(field.size(), 0), Attributes::Ints(field.size(), 0), x};
  if (op.attributes.getInt("count_include_pad", 0) == 0) {
    return pooling;
  }
  Window &window = pooling.window;
  auto count = static_cast<int>(field.size());
  bool isGiven = op.attributes.getString("auto_pad", "NOTSET") == "NOTSET";
  auto pads = isGiven ? intsOf(op, "pads", 2 * count, 0) : window.pads();
  for (std::size_t d = 0; d < field.size(); ++d) {
    // What ceil_mode adds behind the given padding does not count.
    std::int64_t upper = pads[d + field.size()];
    pooling.countedLower[d] = window.padLower[d];
    pooling.countedUpper[d] = upper;
    window.padLower[d] = 0;
    window.padUpper[d] -= upper;
    pooling.padded[2 + d] += pooling.countedLower[d] + upper;
  }
  return pooling;
}

std::vector<TensorInfo> inferAveragePool(const Op &op) {
  requireInputCount(op, 1, 1);
  requireFloat(op, 0);
  const Shape &x = op.inShape(0);
  Pooling pooling = poolingOf(op, x);
  return {TensorInfo(
      op.inInfo(0).dataType(),
      withField(x, pooling.window.places(op, fieldOf(pooling.padded))))};
}

void differentiateAveragePool(GradientBuilder &builder, const Op &op) {
  Attributes attributes = op.attributes;
  attributes.set("inputShape", op.inShape(0));
  builder.setGradient(0, builder.add("aspen", "AveragePoolGrad",
                                     {builder.outputGradient(0)}, attributes));
}

kernels::Attributes kindAttributes(const Window &window) {
  return {{"poolingType", std::string("AVG")},
          {"kernel", window.kernel},
          {"strides", window.strides},
          {"padLower", window.padLower},
          {"padUpper", window.padUpper}};
}

// The padding that counts, or the same taken away: one zero, seen many times.
poplar::Tensor counted(LoweringContext &context, const Op &op,
                       const poplar::Tensor &tensor, const Pooling &pooling,
                       std::ptrdiff_t sign) {
  poplar::Tensor zero =
      context.addConstant(TensorInfo(op.inInfo(0).dataType(), {}), 0);
  std::vector<std::ptrdiff_t> lower(tensor.rank(), 0);
  std::vector<std::ptrdiff_t> upper(tensor.rank(), 0);
  for (std::size_t d = 0; d < pooling.countedLower.size(); ++d) {
    lower[2 + d] = sign * pooling.countedLower[d];
    upper[2 + d] = sign * pooling.countedUpper[d];
  }
  return popops::pad(context.graph(), tensor, lower, upper, zero);
}

void lowerAveragePool(LoweringContext &context, const Op &op) {
  Pooling pooling = poolingOf(op, op.inShape(0));
  context.setOut(
      0, context.emit("pool", kindAttributes(pooling.window),
                      {counted(context, op, context.in(0), pooling, 1)})[0]);
}

std::vector<TensorInfo> inferAveragePoolGrad(const Op &op) {
  return {TensorInfo(op.inInfo(0).dataType(),
                     op.attributes.getInts("inputShape", {}))};
}

void lowerAveragePoolGrad(LoweringContext &context, const Op &op) {
  Pooling pooling = poolingOf(op, op.outShape(0));
  auto attributes = kindAttributes(pooling.window);
  attributes.set("inputShape", pooling.padded);
  attributes.set("scaled", std::int64_t{0});
  poplar::Tensor gradient =
      context.emit("poolGrad", attributes, {context.in(0)})[0];
  context.setOut(0, counted(context, op, gradient, pooling, -1));
}

} // namespace

std::vector<OpRule> averagePoolRules() {
  return {{.domain = "ai.onnx",
           .type = "AveragePool",
           .schema = {{1, 7, 10, 11}, types::floats()},
           .infer = inferAveragePool,
           .differentiate = differentiateAveragePool,
           .lower = lowerAveragePool},
          {.domain = "aspen",
           .type = "AveragePoolGrad",
           .infer = inferAveragePoolGrad,
           .lower = lowerAveragePoolGrad}};
}

} // namespace popart
