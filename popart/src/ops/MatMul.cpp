// Matrix products, plain and batched, by NumPy's rules.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>
#include <popart/graph.hpp>

#include <algorithm>
#include <numeric>

namespace popart {
namespace {

Shape batchDims(const Shape &shape) {
  return {shape.begin(), shape.end() - 2};
}

std::vector<TensorInfo> inferMatMul(const Op &op) {
  requireInputCount(op, 2, 2);
  requireFloat(op, 0);
  const Shape &a = op.inShape(0);
  const Shape &b = op.inShape(1);
  requireOp(op, a.size() >= 2 && b.size() >= 2,
            "shapes {} and {} must have rank 2 at least", support::toString(a),
            support::toString(b));
  requireOp(op, a.back() == b[b.size() - 2],
            "shapes {} and {} do not multiply: {} columns, {} rows",
            support::toString(a), support::toString(b), a.back(),
            b[b.size() - 2]);
  Shape result = broadcastShapes(op, batchDims(a), batchDims(b));
  result.push_back(a[a.size() - 2]);
  result.push_back(b.back());
  return {TensorInfo(op.inInfo(0).dataType(), result)};
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
  return {support::elementCount(shape) /
              std::max<std::int64_t>(1, shape.back()),
          shape.back()};
}

void differentiateMatMul(GradientBuilder &builder, const Op &op) {
  const TensorId &dy = builder.outputGradient(0);
  const Shape &a = op.inShape(0);
  const Shape &b = op.inShape(1);
  if (builder.isWanted(0)) {
    TensorId da = builder.add("ai.onnx", "MatMul",
                              {dy, transpose(builder, op.inputs[1])});
    builder.setGradient(0, builder.addReduceTo(da, a));
  }
  if (builder.isWanted(1)) {
    TensorId x = op.inputs[0];
    TensorId dz = dy;
    if (b.size() == 2) {
      // One product over all rows instead of one per batch and a sum.
      x = builder.addReshape(x, asMatrix(a));
      dz = builder.addReshape(dy, asMatrix(op.outShape(0)));
    }
    // Where b is a transposed weight, its gradient is made transposed too: the
    // weight's own gradient is then an array in the weight's order.
    TensorId db =
        isTransposed(op, 1)
            ? transpose(builder, builder.add("ai.onnx", "MatMul",
                                             {transpose(builder, dz), x}))
            : builder.add("ai.onnx", "MatMul", {transpose(builder, x), dz});
    builder.setGradient(1, builder.addReduceTo(db, b));
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

void lowerMatMul(LoweringContext &context, const Op &op) {
  kernels::Attributes attributes{{"bias", std::int64_t{0}},
                                 {"activation", std::string()}};
  poplar::OptionFlags flags;
  if (!context.options().partialsTypeMatMuls.empty()) {
    flags.set("partialsType", context.options().partialsTypeMatMuls);
  }
  for (const auto &[name, value] : context.options().matmulOptions) {
    flags.set(name, value);
  }
  poplar::Tensor a = context.in(0);
  poplar::Tensor b = context.in(1);
  if (b.rank() == 2) {
    a = a.reshape(poplarShape(asMatrix(op.inShape(0))));
  } else {
    Shape batch = batchDims(op.outShape(0));
    a = asGroups(a, batch);
    b = asGroups(b, batch);
  }
  poplar::Tensor result = context.emit("matmul", attributes, {a, b}, flags)[0];
  context.setOut(0, result.reshape(poplarShape(op.outShape(0))));
}

} // namespace

std::vector<OpRule> matMulRules() {
  return {{.domain = "ai.onnx",
           .type = "MatMul",
           .infer = inferMatMul,
           .differentiate = differentiateMatMul,
           .lower = lowerMatMul}};
}

} // namespace popart
