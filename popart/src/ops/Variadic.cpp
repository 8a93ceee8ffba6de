// The greatest, the least, the sum and the mean of any number of tensors.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>

namespace popart {
namespace {

using kernels::ElementwiseOp;

InIndex countOf(const Op &op) {
  return static_cast<InIndex>(op.inputs.size());
}

std::vector<TensorInfo> inferVariadic(const Op &op) {
  requireOp(op, !op.inputs.empty(), "needs an input");
  for (InIndex i = 0; i < countOf(op); ++i) {
    requireOp(op, op.hasInput(i), "needs input {}", i);
    requireOp(op, op.inInfo(i).dataType() == op.inInfo(0).dataType(),
              "inputs are {} and {}; they must have one type",
              op.inInfo(0).data_type(), op.inInfo(i).data_type());
  }
  return {TensorInfo(op.inInfo(0).dataType(), broadcastInputs(op))};
}

void differentiateSum(GradientBuilder &builder, const Op &op) {
  TensorId gradient = builder.outputGradient(0);
  if (meaningOf(op) == "Mean") {
    gradient = builder.addElementwise(
        fmt::format("g*{}", 1.0 / static_cast<double>(countOf(op))), "g",
        {gradient}, op.outShape(0));
  }
  for (InIndex i = 0; i < countOf(op); ++i) {
    if (builder.isWanted(i)) {
      builder.setGradient(i, builder.addReduceTo(gradient, op.inShape(i)));
    }
  }
}

// The gradient goes to the operand that was chosen; equals share it.
void differentiateExtremum(GradientBuilder &builder, const Op &op) {
  const char *text = meaningOf(op) == "Max" ? "*(0.5+0.5*signum(x-x{}))"
                                            : "*(0.5+0.5*signum(x{}-x))";
  for (InIndex i = 0; i < countOf(op); ++i) {
    if (!builder.isWanted(i)) {
      continue;
    }
    std::string expression = "g";
    std::string names = "g,x";
    std::vector<TensorId> inputs = {builder.outputGradient(0),
                                    op.inputs[static_cast<std::size_t>(i)]};
    for (InIndex other = 0; other < countOf(op); ++other) {
      if (other != i) {
        expression += fmt::format(fmt::runtime(text), other);
        names += fmt::format(",x{}", other);
        inputs.push_back(op.inputs[static_cast<std::size_t>(other)]);
      }
    }
    TensorId gradient =
        builder.addElementwise(expression, names, inputs, op.outShape(0));
    builder.setGradient(i, builder.addReduceTo(gradient, op.inShape(i)));
  }
}

ElementwiseOp operationOf(const Op &op) {
  return meaningOf(op) == "Max"   ? ElementwiseOp::MAXIMUM
         : meaningOf(op) == "Min" ? ElementwiseOp::MINIMUM
                                  : ElementwiseOp::ADD;
}

void lowerVariadic(LoweringContext &context, const Op &op) {
  using kernels::Expression;
  if (op.inputs.size() == 1) {
    context.setOut(0, context.in(0));
    return;
  }
  std::vector<poplar::Tensor> inputs = {context.in(0)};
  Expression value = Expression::input(0);
  for (unsigned i = 1; i < op.inputs.size(); ++i) {
    inputs.push_back(context.in(static_cast<InIndex>(i)));
    value = Expression::apply(operationOf(op), {value, Expression::input(i)});
  }
  if (meaningOf(op) == "Mean") {
    value = Expression::apply(ElementwiseOp::DIVIDE,
                              {value, Expression::constant(countOf(op))});
  }
  context.setOut(0, context.emit(value, inputs));
}

} // namespace

std::vector<OpRule> variadicRules() {
  return {{.domain = "ai.onnx",
           .type = "Max",
           .schema = {{6, 8, 12, 13}, types::allNumbers()},
           .infer = inferVariadic,
           .differentiate = differentiateExtremum,
           .lower = lowerVariadic},
          {.domain = "ai.onnx",
           .type = "Min",
           .schema = {{6, 8, 12, 13}, types::allNumbers()},
           .infer = inferVariadic,
           .differentiate = differentiateExtremum,
           .lower = lowerVariadic},
          {.domain = "ai.onnx",
           .type = "Mean",
           .schema = {{6, 8, 13}, types::floats()},
           .infer = inferVariadic,
           .differentiate = differentiateSum,
           .lower = lowerVariadic},
          {.domain = "ai.onnx",
           .type = "Sum",
           .schema = {{6, 8, 13}, types::floats()},
           .infer = inferVariadic,
           .differentiate = differentiateSum,
           .lower = lowerVariadic}};
}

} // namespace popart
