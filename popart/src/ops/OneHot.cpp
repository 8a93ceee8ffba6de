// A new dimension that is "on" at an index and "off" elsewhere.
#include <ops/Axes.hpp>
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <numeric>

namespace popart {
namespace {

using kernels::Expression;

// Where the new dimension is in the result.
std::size_t axisOf(const Op &op) {
  return static_cast<std::size_t>(normaliseAxis(
      op, op.attributes.getInt("axis", -1), op.inInfo(0).rank() + 1));
}

// Inputs: indices, depth (a constant), the values [off, on].
std::vector<TensorInfo> inferOneHot(const Op &op) {
  requireInputCount(op, 3, 3);
  requireOp(op, op.inShape(2) == Shape{2},
            "values have shape {}; they must be {{off, on}}",
            support::toString(op.inShape(2)));
  auto depth = static_cast<std::int64_t>(constantScalar(op, 1));
  requireOp(op, depth >= 0, "depth is {}", depth);
  Shape shape = op.inShape(0);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axisOf(op)), depth);
  return {TensorInfo(op.inInfo(2).dataType(), shape)};
}

// The sum of the gradients of what is off, and of what is on.
void differentiateOneHot(GradientBuilder &builder, const Op &op) {
  const TensorId &g = builder.outputGradient(0);
  std::vector<TensorId> sums;
  for (float value : {0.0f, 1.0f}) {
    TensorInfo element(op.inInfo(2).dataType(), {1});
    TensorId values = builder.add(
        "ai.onnx", "Concat",
        {builder.addFill(element, 1 - value), builder.addFill(element, value)},
        Attributes().set("axis", Attributes::Int{0}));
    TensorId mask =
        builder.add("ai.onnx", "OneHot", {op.inputs[0], op.inputs[1], values},
                    op.attributes);
    TensorId chosen =
        builder.addElementwise("g*m", "g,m", {g, mask}, op.outShape(0));
    sums.push_back(builder.addReshape(builder.addReduceTo(chosen, {}), {1}));
  }
  builder.setGradient(
      2, builder.add("ai.onnx", "Concat", sums,
                     Attributes().set("axis", Attributes::Int{0})));
}

void lowerOneHot(LoweringContext &context, const Op &op) {
  std::size_t axis = axisOf(op);
  std::int64_t depth = op.outShape(0)[axis];
  std::vector<int> numbers(static_cast<std::size_t>(depth));
  std::iota(numbers.begin(), numbers.end(), 0);
  Shape along(op.outShape(0).size(), 1);
  along[axis] = depth;
  poplar::Tensor places =
      context.addConstant(numbers).reshape(poplarShape(along));
  // Indices may be of any type of numbers, and count from the end.
  const std::string_view names[] = {"on", "off", "i", "k"};
  auto value = Expression::parse(
      fmt::format("select(on,off,select(i+{},i,i<0)==k)", depth), names);
  const Expression operands[] = {
      Expression::input(0), Expression::input(1),
      Expression::cast(support::DataType::Int, Expression::input(2)),
      Expression::input(3)};
  context.setOut(
      0, context.emit(value.substitute(operands),
                      {context.in(2).slice(1, 2), context.in(2).slice(0, 1),
                       context.in(0).expand({axis}), places}));
}

} // namespace

std::vector<OpRule> oneHotRules() {
  return {{.domain = "ai.onnx",
           .type = "OneHot",
           .schema = {{9, 11}, types::allNumbers()},
           .infer = inferOneHot,
           .differentiate = differentiateOneHot,
           .lower = lowerOneHot}};
}

} // namespace popart
