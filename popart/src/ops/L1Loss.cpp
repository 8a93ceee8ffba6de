// The sum or the mean of absolute values, times a number.
#include <ops/Axes.hpp>
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>

#include <algorithm>

namespace popart {
namespace {

// What every element's absolute value is multiplied by.
double shareOf(const Op &op) {
  double lambda = double{op.attributes.getFloat("lambda", 1.0f)};
  auto count =
      static_cast<double>(std::max<std::int64_t>(1, op.inInfo(0).nelms()));
  return reductionOf(op) == ReductionType::Mean ? lambda / count : lambda;
}

std::vector<TensorInfo> inferL1(const Op &op) {
  requireInputCount(op, 1, 1);
  requireFloat(op, 0);
  requireOp(op, op.attributes.hasAttribute("lambda"),
            "the attribute lambda is missing");
  return {reductionOf(op) == ReductionType::NoReduction
              ? op.inInfo(0)
              : TensorInfo(op.inInfo(0).dataType(), {})};
}

void differentiateL1(GradientBuilder &builder, const Op &op) {
  builder.setGradient(0, builder.addElementwise(
                             fmt::format("g*({:.17g})*signum(x)", shareOf(op)),
                             "g,x", {builder.outputGradient(0), op.inputs[0]},
                             op.inShape(0)));
}

void lowerL1(LoweringContext &context, const Op &op) {
  const std::string_view names[] = {"x"};
  bool isReduced = reductionOf(op) != ReductionType::NoReduction;
  poplar::Tensor result = context.emit(
      kernels::Expression::parse(
          isReduced ? "abs(x)" : fmt::format("({:.17g})*abs(x)", shareOf(op)),
          names),
      {context.in(0)});
  if (isReduced) {
    result = context.emit("reduce",
                          {{"op", std::string("ADD")},
                           {"dims", allAxes(op.inInfo(0).rank())},
                           {"scale", shareOf(op)}},
                          {result})[0];
  }
  context.setOut(0, result);
}

} // namespace

std::vector<OpRule> l1LossRules() {
  return {
      {.domain = "ai.graphcore",
       .type = "L1loss",
       .schema = {.types = types::floats(),
                  .attributes = {{"lambda", 1.0f, true},
                                 {"reduction", Attributes::Int{static_cast<int>(
                                                   ReductionType::Mean)}}}},
       .infer = inferL1,
       .differentiate = differentiateL1,
       .lower = lowerL1}};
}

} // namespace popart
