// Softmax and its logarithm along one axis. Before ONNX 13 the axis splits the
// shape in two: everything from it on is one row.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

namespace popart {
namespace {

bool isOneAxis(const Op &op) {
  return op.opid.version >= 13;
}

std::int64_t axisOf(const Op &op) {
  Rank rank = op.inInfo(0).rank();
  std::int64_t fallback = isOneAxis(op) || rank == 1 ? -1 : 1;
  return normaliseAxis(op, op.attributes.getInt("axis", fallback), rank);
}

std::vector<TensorInfo> inferSoftmax(const Op &op) {
  requireInputCount(op, 1, 1);
  requireFloat(op, 0);
  axisOf(op);
  return {op.inInfo(0)};
}

void differentiateSoftmax(GradientBuilder &builder, const Op &op) {
  Attributes attributes;
  attributes.set("axis", axisOf(op));
  attributes.set("isOneAxis", Attributes::Int{isOneAxis(op)});
  builder.setGradient(0, builder.add("aspen", meaningOf(op) + "Grad",
                                     {builder.outputGradient(0), op.outputs[0]},
                                     attributes));
}

std::vector<TensorInfo> inferSoftmaxGrad(const Op &op) {
  return {op.inInfo(0)};
}

// Views with the rows that the kinds work on as the last dimension, and back.
struct Rows {
  bool isOneAxis;
  unsigned axis;
  Shape shape;

  poplar::Tensor toRows(const poplar::Tensor &tensor) const {
    if (isOneAxis) {
      return tensor.dimRoll(axis, tensor.rank() - 1);
    }
    std::span<const std::int64_t> dims = shape;
    return tensor.reshape(
        poplarShape({support::elementCount(dims.first(axis)),
                     support::elementCount(dims.subspan(axis))}));
  }
  poplar::Tensor fromRows(const poplar::Tensor &tensor) const {
    return isOneAxis ? tensor.dimRoll(tensor.rank() - 1, axis)
                     : tensor.reshape(poplarShape(shape));
  }
};

void lowerForward(LoweringContext &context, const Op &op) {
  Rows rows{isOneAxis(op), static_cast<unsigned>(axisOf(op)), op.outShape(0)};
  const char *kind = meaningOf(op) == "Softmax" ? "softmax" : "logSoftmax";
  context.setOut(0, rows.fromRows(context.emit(
                        kind, {}, {rows.toRows(context.in(0))})[0]));
}

void lowerGrad(LoweringContext &context, const Op &op) {
  Rows rows{op.attributes.getInt("isOneAxis", 0) != 0,
            static_cast<unsigned>(op.attributes.getInt("axis", 0)),
            op.outShape(0)};
  const char *kind =
      meaningOf(op) == "SoftmaxGrad" ? "softmaxGrad" : "logSoftmaxGrad";
  context.setOut(0,
                 rows.fromRows(context.emit(kind, {},
                                            {rows.toRows(context.in(0)),
                                             rows.toRows(context.in(1))})[0]));
}

} // namespace

std::vector<OpRule> softmaxRules() {
  std::vector<OpRule> rules;
  for (std::string type : {"Softmax", "LogSoftmax"}) {
    rules.push_back({.domain = "ai.onnx",
                     .type = type,
                     .schema = {{1, 11, 13}, types::floats()},
                     .infer = inferSoftmax,
                     .differentiate = differentiateSoftmax,
                     .lower = lowerForward});
    rules.push_back({.domain = "aspen",
                     .type = type + "Grad",
                     .infer = inferSoftmaxGrad,
                     .lower = lowerGrad});
  }
  return rules;
}

} // namespace popart
