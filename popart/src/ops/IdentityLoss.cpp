// The loss that marks any tensor as one, summed, averaged or as it is.
#include <ops/Axes.hpp>
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>

#include <algorithm>

namespace popart {
namespace {

double scaleOf(const Op &op) {
  return reductionOf(op) == ReductionType::Mean
             ? 1.0 / static_cast<double>(
                         std::max<std::int64_t>(1, op.inInfo(0).nelms()))
             : 1.0;
}

std::vector<TensorInfo> inferIdentityLoss(const Op &op) {
  requireInputCount(op, 1, 1);
  return {reductionOf(op) == ReductionType::NoReduction
              ? op.inInfo(0)
              : TensorInfo(op.inInfo(0).dataType(), {})};
}

void differentiateIdentityLoss(GradientBuilder &builder, const Op &op) {
  if (reductionOf(op) == ReductionType::NoReduction) {
    builder.setGradient(0, builder.outputGradient(0));
    return;
  }
  // Every element has the same share.
  double scale = scaleOf(op);
  builder.setGradient(0, builder.addElementwise(
                             scale == 1.0 ? "g" : fmt::format("g*{}", scale),
                             "g", {builder.outputGradient(0)}, op.inShape(0)));
}

void lowerIdentityLoss(LoweringContext &context, const Op &op) {
  if (reductionOf(op) == ReductionType::NoReduction) {
    context.setOut(0, context.in(0));
    return;
  }
  bool isScaled = isFloat(op.inInfo(0).dataType());
  poplar::Tensor sum = context.emit("reduce",
                                    {{"op", std::string("ADD")},
                                     {"dims", allAxes(op.inInfo(0).rank())},
                                     {"scale", isScaled ? scaleOf(op) : 1.0}},
                                    {context.in(0)})[0];
  if (!isScaled && reductionOf(op) == ReductionType::Mean) {
    const std::string_view names[] = {"a"};
    sum = context.emit(kernels::Expression::parse(
                           fmt::format("a/{}", std::max<std::int64_t>(
                                                   1, op.inInfo(0).nelms())),
                           names),
                       {sum});
  }
  context.setOut(0, sum);
}

} // namespace

std::vector<OpRule> identityLossRules() {
  return {
      {.domain = "ai.graphcore",
       .type = "IdentityLoss",
       .schema = {.types = types::allNumbers(),
                  .attributes = {{"reduction", Attributes::Int{static_cast<int>(
                                                   ReductionType::Mean)}}}},
       .infer = inferIdentityLoss,
       .differentiate = differentiateIdentityLoss,
       .lower = lowerIdentityLoss}};
}

} // namespace popart
