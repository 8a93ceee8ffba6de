// Local response normalisation: an element over a power of the squares of its
// neighbours among the channels.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>

namespace popart {
namespace {

std::vector<TensorInfo> inferLrn(const Op &op) {
  requireInputCount(op, 1, 1);
  requireFloat(op, 0);
  requireOp(op, op.inInfo(0).rank() >= 2, "shape {} has no channels",
            support::toString(op.inShape(0)));
  requireOp(op, op.attributes.getInt("size", 0) > 0, "size is {}",
            op.attributes.getInt("size", 0));
  return {op.inInfo(0)};
}

void differentiateLrn(GradientBuilder &builder, const Op &op) {
  builder.setGradient(0, builder.add("aspen", "LRNGrad",
                                     {builder.outputGradient(0), op.inputs[0]},
                                     op.attributes));
}

// The sum over the channels from (size-1)/2 before to size/2 behind; in the
// gradient the other way round.
poplar::Tensor channelSums(LoweringContext &context, const Op &op,
                           const poplar::Tensor &x, bool isReversed) {
  std::int64_t size = op.attributes.getInt("size", 0);
  std::int64_t before = (size - 1) / 2;
  std::int64_t behind = size / 2;
  std::size_t rest = 1;
  for (unsigned d = 2; d < x.rank(); ++d) {
    rest *= x.dim(d);
  }
  kernels::Attributes attributes{
      {"poolingType", std::string("SUM")},
      {"kernel", Shape{size, 1}},
      {"strides", Shape{1, 1}},
      {"padLower", Shape{isReversed ? behind : before, 0}},
      {"padUpper", Shape{isReversed ? before : behind, 0}}};
  return context
      .emit("pool", attributes, {x.reshape({x.dim(0), 1, x.dim(1), rest})})[0]
      .reshape(x.shape());
}

poplar::Tensor emit(LoweringContext &context, const std::string &text,
                    const std::vector<poplar::Tensor> &inputs) {
  const std::string_view names[] = {"x", "s", "g"};
  return context.emit(kernels::Expression::parse(text, names), inputs);
}

double number(const Op &op, const char *name, float fallback) {
  return double{op.attributes.getFloat(name, fallback)};
}

// alpha over the size of the window.
double shareOf(const Op &op) {
  return number(op, "alpha", 1e-4f) /
         static_cast<double>(op.attributes.getInt("size", 1));
}

// What the power is taken of, for sums s of squares.
std::string baseOf(const Op &op) {
  return fmt::format("({}+{}*s)", number(op, "bias", 1), shareOf(op));
}

void lowerLrn(LoweringContext &context, const Op &op) {
  poplar::Tensor x = context.in(0);
  poplar::Tensor sums =
      channelSums(context, op, emit(context, "x*x", {x}), false);
  context.setOut(0, emit(context,
                         fmt::format("x*pow({},-{})", baseOf(op),
                                     number(op, "beta", 0.75f)),
                         {x, sums}));
}

std::vector<TensorInfo> inferGrad(const Op &op) {
  return {op.inInfo(1)};
}

void lowerGrad(LoweringContext &context, const Op &op) {
  poplar::Tensor g = context.in(0);
  poplar::Tensor x = context.in(1);
  double beta = number(op, "beta", 0.75f);
  poplar::Tensor sums =
      channelSums(context, op, emit(context, "x*x", {x}), false);
  // Every element is in the sums of its neighbours.
  poplar::Tensor shares = channelSums(
      context, op,
      emit(context, fmt::format("g*x*pow({},-{})", baseOf(op), beta + 1),
           {x, sums, g}),
      true);
  const std::string_view names[] = {"x", "s", "g", "h"};
  context.setOut(
      0, context.emit(kernels::Expression::parse(
                          fmt::format("g*pow({},-{})-{}*x*h", baseOf(op), beta,
                                      2 * beta * shareOf(op)),
                          names),
                      {x, sums, g, shares}));
}

} // namespace

std::vector<OpRule> lrnRules() {
  return {{.domain = "ai.onnx",
           .type = "LRN",
           .schema = {{1, 13}, types::floats()},
           .infer = inferLrn,
           .differentiate = differentiateLrn,
           .lower = lowerLrn},
          {.domain = "aspen",
           .type = "LRNGrad",
           .infer = inferGrad,
           .lower = lowerGrad}};
}

} // namespace popart
