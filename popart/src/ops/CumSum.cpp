// Running sums along a dimension.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>
#include <popart/graph.hpp>

namespace popart {
namespace {

// From a constant input; from an attribute in the gradient.
std::int64_t axisOf(const Op &op) {
  auto axis = op.hasInput(1) ? static_cast<std::int64_t>(constantScalar(op, 1))
                             : op.attributes.getInt("axis", 0);
  return normaliseAxis(op, axis, op.inInfo(0).rank());
}

std::vector<TensorInfo> inferCumSum(const Op &op) {
  requireInputCount(op, 1, 2);
  axisOf(op);
  return {op.inInfo(0)};
}

// An element is in the totals from it on: the sum from the other end.
void differentiateCumSum(GradientBuilder &builder, const Op &op) {
  std::int64_t isReverse = op.attributes.getInt("reverse", 0) != 0 ? 0 : 1;
  builder.setGradient(
      0, builder.add("ai.onnx", "CumSum", {builder.outputGradient(0)},
                     Attributes()
                         .set("axis", axisOf(op))
                         .set("exclusive", op.attributes.getInt("exclusive", 0))
                         .set("reverse", isReverse)));
}

void lowerCumSum(LoweringContext &context, const Op &op) {
  kernels::Attributes attributes{
      {"op", std::string("ADD")},
      {"dim", axisOf(op)},
      {"exclusive", op.attributes.getInt("exclusive", 0)},
      {"reverse", op.attributes.getInt("reverse", 0)}};
  context.setOut(0, context.emit("cumulate", attributes, {context.in(0)})[0]);
}

} // namespace

std::vector<OpRule> cumSumRules() {
  return {{.domain = "ai.onnx",
           .type = "CumSum",
           .schema = {{11, 14}, types::numbers()},
           .infer = inferCumSum,
           .differentiate = differentiateCumSum,
           .lower = lowerCumSum}};
}

} // namespace popart
