// Transposed convolution: the gradient of a convolution by its data, as an
// operator; its own gradients are the convolution and that one's gradient.
#include <ops/Common.hpp>
#include <ops/Conv.hpp>
#include <ops/List.hpp>
#include <ops/PlanOptions.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>

namespace popart {
namespace {

std::int64_t groupOf(const Op &op) {
  return op.attributes.getInt("group", 1);
}

struct Transposed {
  Window window; // of the convolution that this is the gradient of
  Shape field;   // of the result
};

// The result's size is given, or follows from the padding; the padding is
// given, or follows from the result's size.
Transposed transposedOf(const Op &op) {
  Shape x = fieldOf(op.inShape(0));
  Shape kernel = fieldOf(op.inShape(1));
  auto count = static_cast<int>(x.size());
  std::string autoPad = op.attributes.getString("auto_pad", "NOTSET");
  bool isSame = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  // The padding of windowOf counts windows of x, which is not what is padded.
  Transposed result{windowOf(op, x, kernel), {}};
  Window &window = result.window;
  auto extra = intsOf(op, "output_padding", count, 0);
  Attributes::Ints wanted = op.attributes.getInts("output_shape", {});
  if (wanted.size() == x.size() + 2) {
    wanted = fieldOf(wanted);
  }
  for (std::size_t d = 0; d < x.size(); ++d) {
    std::int64_t whole =
        window.strides[d] * (x[d] - 1) + extra[d] + window.extent(d);
    std::int64_t size = !wanted.empty() ? wanted.at(d)
                        : isSame
                            ? x[d] * window.strides[d]
                            : whole - window.padLower[d] - window.padUpper[d];
    if (!wanted.empty() || isSame) {
      std::int64_t total = std::max<std::int64_t>(0, whole - size);
      window.padLower[d] =
          autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
      window.padUpper[d] = total - window.padLower[d];
    }
    requireOp(op, size > 0, "dimension {} of the result has {} elements", 2 + d,
              size);
    result.field.push_back(size);
  }
  return result;
}

std::vector<TensorInfo> inferTransposed(const Op &op) {
  requireInputCount(op, 2, 3);
  requireFloat(op, 0);
  const Shape &x = op.inShape(0);
  const Shape &w = op.inShape(1);
  requireOp(op, x.size() >= 3 && x.size() == w.size(),
            "input {} and weights {} need one rank, 3 at least",
            support::toString(x), support::toString(w));
  auto group = groupOf(op);
  requireOp(op, group > 0 && x[1] == w[0] && w[0] % group == 0,
            "input {} and weights {} do not fit {} groups",
            support::toString(x), support::toString(w), group);
  std::int64_t channels = w[1] * group;
  requireOp(op, !op.hasInput(2) || op.inShape(2) == Shape{channels},
            "the bias must have shape {{{}}}", channels);
  return {TensorInfo(op.inInfo(0).dataType(),
                     withField({x[0], channels}, transposedOf(op).field))};
}

void differentiateTransposed(GradientBuilder &builder, const Op &op) {
  const TensorId &g = builder.outputGradient(0);
  Window window = transposedOf(op).window;
  Attributes attributes =
      withPlanOf(op.attributes, convAttributes(window, groupOf(op)));
  if (builder.isWanted(0)) {
    builder.setGradient(
        0, builder.add("ai.onnx", "Conv", {g, op.inputs[1]}, attributes));
  }
  if (builder.isWanted(1)) {
    builder.setGradient(
        1, builder.add("aspen", "ConvWeightGrad", {op.inputs[0], g},
                       attributes.set("kernelShape", window.kernel)));
  }
  if (op.hasInput(2) && builder.isWanted(2)) {
    builder.setGradient(2, addBiasGradient(builder, g));
  }
}

void lowerTransposed(LoweringContext &context, const Op &op) {
  auto attributes = transposedOf(op).window.kindAttributes();
  attributes.set("groups", groupOf(op));
  attributes.set("inputShape", op.outShape(0));
  poplar::Tensor y = context.emit("convolutionDataGrad", attributes,
                                  {context.in(0), context.in(1)},
                                  convOptions(context, op.attributes))[0];
  if (op.hasInput(2)) {
    std::vector<std::size_t> shape(y.rank(), 1);
    shape[1] = y.dim(1);
    const std::string_view names[] = {"y", "b"};
    y = context.emit(kernels::Expression::parse("y+b", names),
                     {y, context.in(2).reshape(shape)});
  }
  context.setOut(0, y);
}

} // namespace

std::vector<OpRule> convTransposeRules() {
  return {{.domain = "ai.onnx",
           .type = "ConvTranspose",
           .schema = {{1, 11}, types::floats()},
           .infer = inferTransposed,
           .differentiate = differentiateTransposed,
           .lower = lowerTransposed}};
}

} // namespace popart
