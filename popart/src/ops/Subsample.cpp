// Every n-th element of each dimension, and its gradient, which puts them back
// among zeros.
#include <ops/Common.hpp>
#include <ops/Indices.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>

namespace popart {
namespace {

std::vector<TensorInfo> inferSubsample(const Op &op) {
  requireInputCount(op, 1, 1);
  Shape shape = op.inShape(0);
  auto strides = intsOf(op, "strides", op.inInfo(0).rank(), 1);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    requireOp(op, strides[d] > 0,
              "Strides invalid. Unsupported stride of {} at index {}; it must "
              "be 1 or more",
              strides[d], d);
    shape[d] = (shape[d] + strides[d] - 1) / strides[d];
  }
  return {TensorInfo(op.inInfo(0).dataType(), shape)};
}

poplar::Tensor view(poplar::Tensor tensor, const Op &op) {
  unsigned dimension = 0;
  for (std::int64_t stride :
       op.attributes.getInts("strides", Shape(tensor.rank(), 1))) {
    tensor = tensor.subSample(static_cast<unsigned>(stride), dimension++);
  }
  return tensor;
}

void differentiateSubsample(GradientBuilder &builder, const Op &op) {
  Attributes attributes = op.attributes;
  attributes.set("shape", op.inShape(0));
  builder.setGradient(0, builder.add("aspen", "SubsampleGrad",
                                     {builder.outputGradient(0)}, attributes));
}

void lowerSubsample(LoweringContext &context, const Op &op) {
  context.setOut(0, view(context.in(0), op));
}

std::vector<TensorInfo> inferGrad(const Op &op) {
  return {
      TensorInfo(op.inInfo(0).dataType(), op.attributes.getInts("shape", {}))};
}

void lowerGrad(LoweringContext &context, const Op &op) {
  poplar::Tensor whole = filledVariable(context, op, op.outInfo(0), 0.0);
  context.program().add(poplar::program::Copy(context.in(0), view(whole, op),
                                              false, context.debugPath()));
  context.setOut(0, whole);
}

} // namespace

std::vector<OpRule> subsampleRules() {
  return {{.domain = "ai.graphcore",
           .type = "Subsample",
           .schema = {.types = types::all(),
                      .attributes = {{"strides", Attributes::Ints{}, true}}},
           .infer = inferSubsample,
           .differentiate = differentiateSubsample,
           .lower = lowerSubsample},
          {.domain = "aspen",
           .type = "SubsampleGrad",
           .infer = inferGrad,
           .lower = lowerGrad}};
}

} // namespace popart
