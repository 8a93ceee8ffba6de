// The greatest or least elements along a dimension, and where they are.
#include <ops/TopK.hpp>

#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

namespace popart {
namespace {

using kernels::Expression;

unsigned axisOf(const Op &op, std::int64_t fallback) {
  return static_cast<unsigned>(normaliseAxis(
      op, op.attributes.getInt("axis", fallback), op.inInfo(0).rank()));
}

// From an attribute, since 10 from a constant input.
std::int64_t countOf(const Op &op) {
  return op.hasInput(1) ? static_cast<std::int64_t>(constantScalar(op, 1))
                        : op.attributes.getInt("k", 0);
}

std::vector<TensorInfo> inferTopK(const Op &op) {
  requireInputCount(op, 1, 2);
  unsigned axis = axisOf(op, -1);
  Shape shape = op.inShape(0);
  std::int64_t k = countOf(op);
  requireOp(op, 0 <= k && k <= shape[axis],
            "k is {}; dimension {} of {} has no so many elements", k, axis,
            support::toString(shape));
  shape[axis] = k;
  return {TensorInfo(op.inInfo(0).dataType(), shape),
          TensorInfo(DataType::INT64, shape)};
}

void differentiateTopK(GradientBuilder &builder, const Op &op) {
  builder.setGradient(
      0,
      builder.add("ai.onnx", "ScatterElements",
                  {builder.addFill(op.inInfo(0), 0.0f), op.outputs[1],
                   builder.outputGradient(0)},
                  Attributes().set("axis", Attributes::Int{axisOf(op, -1)})));
}

void lowerTopK(LoweringContext &context, const Op &op) {
  unsigned axis = axisOf(op, -1);
  auto last = static_cast<unsigned>(op.inInfo(0).rank() - 1);
  bool isLargest = op.attributes.getInt("largest", 1) != 0;
  auto outputs = emitTopK(context, context.in(0).dimRoll(axis, last),
                          countOf(op), isLargest);
  auto type = deviceType(op.outInfo(0).dataType());
  if (outputs[0].elementType() != context.in(0).elementType()) {
    outputs[0] = context.emit(Expression::cast(type, Expression::input(0)),
                              {outputs[0]});
  }
  context.setOut(0, outputs[0].dimRoll(last, axis));
  context.setOut(1, outputs[1].dimRoll(last, axis));
}

std::vector<TensorInfo> inferArg(const Op &op) {
  requireInputCount(op, 1, 1);
  unsigned axis = axisOf(op, 0);
  Shape shape = op.inShape(0);
  requireOp(op, shape[axis] > 0, "dimension {} of {} has no elements", axis,
            support::toString(shape));
  shape[axis] = 1;
  if (op.attributes.getInt("keepdims", 1) == 0) {
    shape.erase(shape.begin() + axis);
  }
  return {TensorInfo(DataType::INT32, shape)}; // ONNX has INT64
}

void lowerArg(LoweringContext &context, const Op &op) {
  unsigned axis = axisOf(op, 0);
  auto last = static_cast<unsigned>(op.inInfo(0).rank() - 1);
  poplar::Tensor rows = context.in(0).dimRoll(axis, last);
  // The last of equals is the first from the other end.
  bool isFromEnd = op.attributes.getInt("select_last_index", 0) != 0;
  if (isFromEnd) {
    rows = rows.reverse(last);
  }
  poplar::Tensor index =
      emitTopK(context, rows, 1, meaningOf(op) == "ArgMax")[1];
  if (isFromEnd) {
    const std::string_view names[] = {"i"};
    index = context.emit(
        Expression::parse(fmt::format("{}-i", rows.dim(last) - 1), names),
        {index});
  }
  context.setOut(0, index.reshape(poplarShape(op.outShape(0))));
}

} // namespace

std::vector<poplar::Tensor> emitTopK(LoweringContext &context,
                                     poplar::Tensor rows, std::int64_t k,
                                     bool isLargest) {
  auto given = rows.elementType();
  bool isKey = given == poplar::FLOAT || given == poplar::HALF ||
               given == poplar::INT || given == poplar::UNSIGNED_INT;
  if (!isKey) {
    rows = context.emit(
        Expression::cast(support::DataType::Int, Expression::input(0)), {rows});
  }
  auto outputs = context.emit(
      "topK",
      {{"k", k},
       {"largest", std::int64_t{isLargest}},
       {"order", std::string(isLargest ? "DESCENDING" : "ASCENDING")},
       {"payload", std::string("permutation")}},
      {rows});
  outputs[1] = context.emit(
      Expression::cast(support::DataType::Int, Expression::input(0)),
      {outputs[1]});
  return outputs;
}

std::vector<OpRule> topKRules() {
  return {{.domain = "ai.onnx",
           .type = "ArgMax",
           .schema = {{1, 11, 12, 13}, types::allNumbers()},
           .infer = inferArg,
           .lower = lowerArg},
          {.domain = "ai.onnx",
           .type = "ArgMin",
           .schema = {{1, 11, 12, 13}, types::allNumbers()},
           .infer = inferArg,
           .lower = lowerArg},
          {.domain = "ai.onnx",
           .type = "TopK",
           .schema = {{1, 10, 11}, types::allNumbers()},
           .infer = inferTopK,
           .differentiate = differentiateTopK,
           .lower = lowerTopK}};
}

} // namespace popart
