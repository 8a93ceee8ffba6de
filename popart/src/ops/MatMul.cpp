// Matrix products, plain and batched, by NumPy's rules.
#include <ops/MatMul.hpp>

#include <ops/Common.hpp>
#include <ops/List.hpp>
#include <ops/PlanOptions.hpp>
#include <ops/SerializedMatMul.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>
#include <popart/graph.hpp>

#include <poplin/MatMul.hpp>

#include <algorithm>
#include <numeric>

namespace popart {
namespace {

Shape batchDims(const Shape &shape) {
  return {shape.begin(), shape.end() - 2};
}

// The operands as matrices: a vector on the left is a row, on the right a
// column.
Shape leftShape(const Op &op) {
  Shape shape = op.inShape(0);
  if (shape.size() == 1) {
    shape.insert(shape.begin(), 1);
  }
  return shape;
}
Shape rightShape(const Op &op) {
  Shape shape = op.inShape(1);
  if (shape.size() == 1) {
    shape.push_back(1);
  }
  return shape;
}
Shape resultShape(const Op &op) {
  Shape a = leftShape(op);
  Shape b = rightShape(op);
  Shape result = broadcastShapes(op, batchDims(a), batchDims(b));
  result.push_back(a[a.size() - 2]);
  result.push_back(b.back());
  return result;
}

std::vector<TensorInfo> inferMatMul(const Op &op) {
  requireInputCount(op, 2, 2);
  requireOp(op, op.inInfo(0).rank() > 0 && op.inInfo(1).rank() > 0,
            "a scalar is no matrix");
  requireOp(op, op.inInfo(0).dataType() == op.inInfo(1).dataType(),
            "inputs are {} and {}; they must have one type",
            op.inInfo(0).data_type(), op.inInfo(1).data_type());
  Shape a = leftShape(op);
  Shape b = rightShape(op);
  requireOp(op, a.back() == b[b.size() - 2],
            "shapes {} and {} do not multiply: {} columns, {} rows",
            support::toString(op.inShape(0)), support::toString(op.inShape(1)),
            a.back(), b[b.size() - 2]);
  Shape result = resultShape(op);
  if (op.inInfo(1).rank() == 1) {
    result.pop_back();
  }
  if (op.inInfo(0).rank() == 1) {
    result.erase(result.end() - (op.inInfo(1).rank() == 1 ? 1 : 2));
  }
  // Pieces of a serialised product may be wider than their operands.
  std::string type =
      op.attributes.getString("outputType", op.inInfo(0).data_type());
  return {TensorInfo(type, result)};
}

TensorId transpose(GradientBuilder &builder, const TensorId &id) {
  Attributes::Ints perm(builder.shapeOf(id).size());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return builder.add("ai.onnx", "Transpose", {id},
                     Attributes().set("perm", perm));
}

bool isTransposed(const Op &op, InIndex input) {
  const Op *producer =
      op.getGraph()
          .getTensor(op.inputs[static_cast<std::size_t>(input)])
          .producer;
  return producer && producer->opid.type == "Transpose" &&
         producer->outInfo(0).rank() == 2;
}

// All dimensions but the last as one.
Shape asMatrix(const Shape &shape) {
  return {support::elementCount(std::span(shape).first(shape.size() - 1)),
          shape.back()};
}

void differentiateMatMul(GradientBuilder &builder, const Op &op) {
  Shape a = leftShape(op);
  Shape b = rightShape(op);
  Shape y = resultShape(op);
  Attributes plan = withPlanOf(op.attributes);
  // A forward product that is serialised has serialised gradients: what was
  // cut is another dimension in each of them.
  auto serialized = [&](const MatMulDim(&dims)[3]) {
    return withSerializationOf(op.attributes, dims, plan);
  };
  using enum MatMulDim;
  TensorId dy = builder.addReshape(builder.outputGradient(0), y);
  if (builder.isWanted(0)) {
    TensorId right = builder.addReshape(op.inputs[1], b);
    TensorId da =
        builder.add("ai.onnx", "MatMul", {dy, transpose(builder, right)},
                    serialized({Rows, Columns, Reduced}));
    builder.setGradient(
        0, builder.addReshape(builder.addReduceTo(da, a), op.inShape(0)));
  }
  if (builder.isWanted(1)) {
    TensorId x = builder.addReshape(op.inputs[0], a);
    if (b.size() == 2) {
      // One product over all rows instead of one per batch and a sum.
      x = builder.addReshape(x, asMatrix(a));
      dy = builder.addReshape(dy, asMatrix(y));
    }
    // Where b is a transposed weight, its gradient is made transposed too: the
    // weight's own gradient is then an array in the weight's order.
    TensorId db =
        isTransposed(op, 1)
            ? transpose(builder,
                        builder.add("ai.onnx", "MatMul",
                                    {transpose(builder, dy), x},
                                    serialized({Reduced, Columns, Rows})))
            : builder.add("ai.onnx", "MatMul", {transpose(builder, x), dy},
                          serialized({Reduced, Rows, Columns}));
    builder.setGradient(
        1, builder.addReshape(builder.addReduceTo(db, b), op.inShape(1)));
  }
}

// [batch..., rows, columns] as [groups, rows, columns], broadcast to `batch`.
poplar::Tensor asGroups(const poplar::Tensor &tensor, Shape batch) {
  std::size_t rows = tensor.dim(tensor.rank() - 2);
  std::size_t columns = tensor.dim(tensor.rank() - 1);
  auto groups = static_cast<std::size_t>(support::elementCount(batch));
  batch.push_back(static_cast<std::int64_t>(rows));
  batch.push_back(static_cast<std::int64_t>(columns));
  return broadcastTo(tensor, batch).reshape({groups, rows, columns});
}

// Integers have no unit that multiplies matrices: all products, then sums.
poplar::Tensor emitProducts(LoweringContext &context, const poplar::Tensor &a,
                            const poplar::Tensor &b) {
  unsigned rank = a.rank();
  const std::string_view names[] = {"a", "b"};
  poplar::Tensor products =
      context.emit(kernels::Expression::parse("a*b", names),
                   {a.expand({rank}), b.expand({rank - 2})});
  return context.emit(
      "reduce",
      {{"op", std::string("ADD")}, {"dims", Shape{rank - 1}}, {"scale", 1.0}},
      {products})[0];
}

void lowerMatMul(LoweringContext &context, const Op &op) {
  poplar::Tensor a = context.in(0).reshape(poplarShape(leftShape(op)));
  poplar::Tensor b = context.in(1).reshape(poplarShape(rightShape(op)));
  if (b.rank() == 2) {
    a = a.reshape(poplarShape(asMatrix(leftShape(op))));
  } else {
    Shape batch = batchDims(resultShape(op));
    a = asGroups(a, batch);
    b = asGroups(b, batch);
  }
  poplar::Tensor result =
      isFloat(op.inInfo(0).dataType())
          ? emitMatMul(context, op, a, b, op.outInfo(0).dataType())
          : emitProducts(context, a, b);
  context.setOut(0, result.reshape(poplarShape(op.outShape(0))));
}

// createMatMulInputLHS and createMatMulInputRHS.
using Creator = poplar::Tensor (*)(poplar::Graph &, const poplar::Type &,
                                   const poplar::Type &,
                                   const std::vector<std::size_t> &,
                                   const std::vector<std::size_t> &,
                                   const poplar::DebugContext &,
                                   const poplar::OptionFlags &,
                                   poplin::PlanningCache *);

} // namespace

poplar::Tensor emitMatMul(LoweringContext &context, const Op &op,
                          const poplar::Tensor &a, const poplar::Tensor &b,
                          DataType outputType) {
  kernels::Attributes attributes{{"bias", std::int64_t{0}},
                                 {"activation", std::string()}};
  if (outputType != DataType::UNDEFINED &&
      outputType != op.inInfo(0).dataType()) {
    attributes.set("outType",
                   static_cast<std::int64_t>(deviceType(outputType)));
  }
  return context.emit("matmul", attributes, {a, b},
                      matMulOptions(context, op.attributes))[0];
}

std::optional<poplar::Tensor> createMatMulOperand(LoweringContext &context,
                                                  poplar::Graph &graph,
                                                  const Op &op, InIndex index,
                                                  const std::string &name) {
  bool isGemm = op.opid.type == "Gemm";
  if (op.opid.domain != "ai.onnx" || (!isGemm && op.opid.type != "MatMul") ||
      !isFloat(op.inInfo(0).dataType()) || index > 1 ||
      rightShape(op).size() != 2 || (index == 0 && op.inInfo(0).rank() > 2)) {
    return std::nullopt;
  }
  Shape a = asMatrix(leftShape(op));
  Shape b = rightShape(op);
  auto isTurned = [&](const char *attribute) {
    return isGemm && op.attributes.getInt(attribute, 0) != 0;
  };
  if (isTurned("transA")) {
    std::swap(a[0], a[1]);
  }
  if (isTurned("transB")) {
    std::swap(b[0], b[1]);
  }
  auto create = index == 0 ? static_cast<Creator>(poplin::createMatMulInputLHS)
                           : static_cast<Creator>(poplin::createMatMulInputRHS);
  poplar::Tensor operand = create(
      graph, poplarType(op.inInfo(0).dataType()),
      poplarType(op.outInfo(0).dataType()), poplarShape(a), poplarShape(b),
      name, matMulOptions(context, op.attributes), nullptr);
  if (isTurned(index == 0 ? "transA" : "transB")) {
    operand = operand.transpose();
  }
  return operand.reshape(poplarShape(op.inShape(index)));
}

std::vector<OpRule> matMulRules() {
  return {{.domain = "ai.onnx",
           .type = "MatMul",
           .schema = {{1, 9, 13}, types::numbers()},
           .infer = inferMatMul,
           .differentiate = differentiateMatMul,
           .lower = lowerMatMul}};
}

} // namespace popart
