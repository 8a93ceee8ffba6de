// The sum of any number of tensors.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>

namespace popart {
namespace {

std::vector<TensorInfo> inferSum(const Op &op) {
  requireOp(op, !op.inputs.empty(), "needs an input");
  Shape shape;
  for (InIndex i = 0; i < static_cast<InIndex>(op.inputs.size()); ++i) {
    requireOp(op, op.inInfo(i).dataType() == op.inInfo(0).dataType(),
              "inputs are {} and {}; they must have one type",
              op.inInfo(0).data_type(), op.inInfo(i).data_type());
    shape = broadcastShapes(op, shape, op.inShape(i));
  }
  return {TensorInfo(op.inInfo(0).dataType(), shape)};
}

void differentiateSum(GradientBuilder &builder, const Op &op) {
  for (InIndex i = 0; i < static_cast<InIndex>(op.inputs.size()); ++i) {
    if (builder.isWanted(i)) {
      builder.setGradient(
          i, builder.addReduceTo(builder.outputGradient(0), op.inShape(i)));
    }
  }
}

void lowerSum(LoweringContext &context, const Op &op) {
  using kernels::Expression;
  if (op.inputs.size() == 1) {
    context.setOut(0, context.in(0));
    return;
  }
  std::vector<poplar::Tensor> inputs = {context.in(0)};
  Expression sum = Expression::input(0);
  for (unsigned i = 1; i < op.inputs.size(); ++i) {
    inputs.push_back(context.in(static_cast<InIndex>(i)));
    sum = Expression::apply(kernels::ElementwiseOp::ADD,
                            {sum, Expression::input(i)});
  }
  context.setOut(0, context.emit(sum, inputs));
}

} // namespace

std::vector<OpRule> sumRules() {
  return {{.domain = "ai.onnx",
           .type = "Sum",
           .infer = inferSum,
           .differentiate = differentiateSum,
           .lower = lowerSum}};
}

} // namespace popart
