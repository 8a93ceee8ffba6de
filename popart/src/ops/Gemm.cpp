// alpha * A * B + beta * C, with A and B transposed where that is asked for.
#include <ops/Common.hpp>
#include <ops/List.hpp>
#include <ops/MatMul.hpp>
#include <ops/PlanOptions.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

namespace popart {
namespace {

bool isTransposed(const Op &op, const char *attribute) {
  return op.attributes.getInt(attribute, 0) != 0;
}

std::vector<TensorInfo> inferGemm(const Op &op) {
  requireInputCount(op, 2, 3);
  requireFloat(op, 0);
  requireRank(op, 0, 2);
  requireRank(op, 1, 2);
  Shape a = op.inShape(0);
  Shape b = op.inShape(1);
  if (isTransposed(op, "transA")) {
    std::swap(a[0], a[1]);
  }
  if (isTransposed(op, "transB")) {
    std::swap(b[0], b[1]);
  }
  requireOp(op, a[1] == b[0],
            "shapes {} and {} do not multiply: {} columns, {} rows",
            support::toString(op.inShape(0)), support::toString(op.inShape(1)),
            a[1], b[0]);
  Shape y = {a[0], b[1]};
  requireOp(op, !op.hasInput(2) || broadcastShapes(op, y, op.inShape(2)) == y,
            "C of shape {} does not broadcast to {}",
            op.hasInput(2) ? support::toString(op.inShape(2)) : "",
            support::toString(y));
  return {TensorInfo(op.inInfo(0).dataType(), y)};
}

TensorId product(GradientBuilder &builder, const Op &op, const TensorId &a,
                 bool transA, const TensorId &b, bool transB) {
  auto operand = [&](const TensorId &id, bool isTransposed) {
    return isTransposed ? builder.add("ai.onnx", "Transpose", {id}) : id;
  };
  return builder.add("ai.onnx", "MatMul",
                     {operand(a, transA), operand(b, transB)},
                     withPlanOf(op.attributes));
}

TensorId scaled(GradientBuilder &builder, const TensorId &id, float scale) {
  return scale == 1.0f
             ? id
             : builder.addElementwise(fmt::format("g*({:.9g})", scale), "g",
                                      {id}, builder.shapeOf(id));
}

void differentiateGemm(GradientBuilder &builder, const Op &op) {
  const TensorId &a = op.inputs[0];
  const TensorId &b = op.inputs[1];
  bool transA = isTransposed(op, "transA");
  bool transB = isTransposed(op, "transB");
  TensorId g = scaled(builder, builder.outputGradient(0),
                      op.attributes.getFloat("alpha", 1));
  if (builder.isWanted(0)) {
    builder.setGradient(0, transA ? product(builder, op, b, transB, g, true)
                                  : product(builder, op, g, false, b, !transB));
  }
  if (builder.isWanted(1)) {
    builder.setGradient(1, transB ? product(builder, op, g, true, a, transA)
                                  : product(builder, op, a, !transA, g, false));
  }
  if (op.hasInput(2) && builder.isWanted(2)) {
    TensorId sum =
        builder.addReduceTo(builder.outputGradient(0), op.inShape(2));
    builder.setGradient(
        2, scaled(builder, sum, op.attributes.getFloat("beta", 1)));
  }
}

void lowerGemm(LoweringContext &context, const Op &op) {
  auto operand = [&](InIndex i, const char *attribute) {
    return isTransposed(op, attribute) ? context.in(i).transpose()
                                       : context.in(i);
  };
  poplar::Tensor y =
      emitMatMul(context, op, operand(0, "transA"), operand(1, "transB"));
  float alpha = op.attributes.getFloat("alpha", 1);
  float beta = op.attributes.getFloat("beta", 1);
  std::string text = alpha == 1 ? "y" : fmt::format("({:.9g})*y", alpha);
  std::vector<poplar::Tensor> inputs = {y};
  if (op.hasInput(2)) {
    text += beta == 1 ? "+c" : fmt::format("+({:.9g})*c", beta);
    inputs.push_back(context.in(2));
  }
  if (text != "y") {
    const std::string_view names[] = {"y", "c"};
    y = context.emit(kernels::Expression::parse(text, names), inputs);
  }
  context.setOut(0, y);
}

} // namespace

std::vector<OpRule> gemmRules() {
  return {{.domain = "ai.onnx",
           .type = "Gemm",
           .schema = {{6, 7, 9, 11, 13}, types::floats()},
           .infer = inferGemm,
           .differentiate = differentiateGemm,
           .lower = lowerGemm}};
}

} // namespace popart
