// Conversion between element types.
#include <ops/Common.hpp>
#include <ops/Composer.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

namespace popart {
namespace {

// "to" is the name of the type, or its number in ONNX.
std::vector<TensorInfo> inferCast(const Op &op) {
  requireInputCount(op, 1, 1);
  std::string name = op.attributes.getString("to", "");
  if (name.empty()) {
    return {TensorInfo(typeOfOnnx(op, op.attributes.getInt("to", 0)),
                       op.inShape(0))};
  }
  return {TensorInfo(name, op.inShape(0))};
}

void differentiateCast(GradientBuilder &builder, const Op &op) {
  builder.setGradient(
      0, builder.add("ai.onnx", "Cast", {builder.outputGradient(0)},
                     Attributes().set("to", op.inInfo(0).data_type())));
}

void lowerCast(LoweringContext &context, const Op &op) {
  support::DataType to = deviceType(op.outInfo(0).dataType());
  if (to == deviceType(op.inInfo(0).dataType())) {
    context.setOut(0, context.in(0));
    return;
  }
  context.setOut(0, context.emit(kernels::Expression::cast(
                                     to, kernels::Expression::input(0)),
                                 {context.in(0)}));
}

void composeCastLike(Composer &composer, const Op &op) {
  requireInputCount(op, 2, 2);
  composer.setOutput(0, composer.cast(op.inputs[0], op.inInfo(1).dataType()));
}

} // namespace

std::vector<OpRule> castRules() {
  return {{.domain = "ai.onnx",
           .type = "CastLike",
           .schema = {{15}, types::all()},
           .compose = composeCastLike},
          {.domain = "ai.onnx",
           .type = "Cast",
           .schema = {{6, 9, 13}, types::all()},
           .infer = inferCast,
           .differentiate = differentiateCast,
           .lower = lowerCast}};
}

} // namespace popart
