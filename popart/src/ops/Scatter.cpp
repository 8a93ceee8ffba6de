// Updates of elements of a copy of a tensor, each at an index along one
// dimension and at its own place in the others.
#include <ops/Axes.hpp>
#include <ops/Common.hpp>
#include <ops/Indices.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

namespace popart {
namespace {

bool isLastDimension(const Op &op) {
  return meaningOf(op) == "FastGatherLastDim";
}

std::size_t axisOf(const Op &op) {
  std::int64_t axis =
      isLastDimension(op) ? -1 : op.attributes.getInt("axis", 0);
  return static_cast<std::size_t>(normaliseAxis(op, axis, op.inInfo(0).rank()));
}

bool isSum(const Op &op) {
  return op.attributes.getString("reduction", "none") == "add";
}

void checkShapes(const Op &op) {
  const Shape &data = op.inShape(0);
  const Shape &indices = op.inShape(1);
  bool fits = data.size() == indices.size();
  for (std::size_t d = 0; fits && d < data.size(); ++d) {
    fits = indices[d] <= data[d] || d == axisOf(op);
  }
  requireOp(op, fits, "indices of shape {} do not fit data of shape {}",
            support::toString(indices), support::toString(data));
}

std::vector<TensorInfo> inferScatter(const Op &op) {
  requireInputCount(op, 3, 3);
  requireIndices(op, 1);
  checkShapes(op);
  requireOp(op, op.inShape(1) == op.inShape(2),
            "updates of shape {} need indices of that shape, not {}",
            support::toString(op.inShape(2)), support::toString(op.inShape(1)));
  requireOp(op, op.inInfo(0).dataType() == op.inInfo(2).dataType(),
            "updates are {}; the data is {}", op.inInfo(2).data_type(),
            op.inInfo(0).data_type());
  std::string reduction = op.attributes.getString("reduction", "none");
  requireOp(op, reduction == "none" || isSum(op),
            "reduction {} is not supported; none and add are", reduction);
  return {op.inInfo(0)};
}

// What was replaced gets no gradient; what replaced it gets it.
void differentiateScatter(GradientBuilder &builder, const Op &op) {
  const TensorId &g = builder.outputGradient(0);
  Attributes attributes;
  attributes.set("axis", static_cast<Attributes::Int>(axisOf(op)));
  if (builder.isWanted(0)) {
    builder.setGradient(
        0, isSum(op) ? g
                     : builder.add("ai.onnx", "ScatterElements",
                                   {g, op.inputs[1],
                                    builder.addFill(op.inInfo(2), 0.0f)},
                                   attributes));
  }
  if (builder.isWanted(2)) {
    builder.setGradient(2, builder.add("ai.onnx", "GatherElements",
                                       {g, op.inputs[1]}, attributes));
  }
}

// The kinds see the elements along the axis as [rows, elements], with rows of
// their own for the other places that there are indices for.
poplar::Tensor toRows(const poplar::Tensor &tensor, const Shape &indices,
                      std::size_t axis) {
  std::vector<std::size_t> begin(tensor.rank(), 0);
  std::vector<std::size_t> end = tensor.shape();
  for (std::size_t d = 0; d < end.size(); ++d) {
    end[d] = d == axis ? end[d] : static_cast<std::size_t>(indices[d]);
  }
  poplar::Tensor rows =
      tensor.slice(begin, end)
          .dimRoll(static_cast<unsigned>(axis), tensor.rank() - 1);
  std::size_t length = tensor.dim(static_cast<unsigned>(axis));
  return rows.reshape({length == 0 ? 0 : rows.numElements() / length, length});
}

poplar::Tensor offsetsOf(LoweringContext &context, const Op &op) {
  std::size_t axis = axisOf(op);
  return positiveIndices(context, toRows(context.in(1), op.inShape(1), axis),
                         op.inShape(0)[axis])
      .expand({2});
}

void lowerScatter(LoweringContext &context, const Op &op) {
  std::size_t axis = axisOf(op);
  poplar::Tensor result = context.duplicate(context.in(0), context.debugPath());
  context.setOut(0, result);
  if (op.inInfo(1).nelms() == 0) {
    return;
  }
  context.emit("dynamicUpdate", updateAttributes(isSum(op) ? "ADD" : "COPY"),
               {toRows(result, op.inShape(1), axis),
                toRows(context.in(2), op.inShape(1), axis).expand({2}),
                offsetsOf(context, op)});
}

std::vector<TensorInfo> inferLastDimension(const Op &op) {
  requireInputCount(op, 2, 2);
  requireIndices(op, 1);
  Shape data = op.inShape(0);
  Shape indices = op.inShape(1);
  bool fits = !data.empty() && data.size() == indices.size();
  for (std::size_t d = 0; fits && d + 1 < data.size(); ++d) {
    fits = data[d] == indices[d];
  }
  requireOp(op, fits,
            "indices of shape {} do not fit data of shape {}: all dimensions "
            "but the last must be equal",
            support::toString(indices), support::toString(data));
  return {TensorInfo(op.inInfo(0).dataType(), indices)};
}

std::vector<TensorInfo> inferGatherElements(const Op &op) {
  requireInputCount(op, 2, 2);
  requireIndices(op, 1);
  checkShapes(op);
  return {TensorInfo(op.inInfo(0).dataType(), op.inShape(1))};
}

void differentiateGatherElements(GradientBuilder &builder, const Op &op) {
  builder.setGradient(
      0, builder.add("ai.onnx", "ScatterElements",
                     {builder.addFill(op.inInfo(0), 0.0f), op.inputs[1],
                      builder.outputGradient(0)},
                     Attributes()
                         .set("axis", static_cast<Attributes::Int>(axisOf(op)))
                         .set("reduction", std::string("add"))));
}

void lowerGatherElements(LoweringContext &context, const Op &op) {
  std::size_t axis = axisOf(op);
  poplar::Tensor elements = context.emit(
      "dynamicSlice", sliceAttributes(),
      {toRows(context.in(0), op.inShape(1), axis), offsetsOf(context, op)})[0];
  std::vector<std::size_t> shape =
      context.in(1)
          .dimRoll(static_cast<unsigned>(axis), context.in(1).rank() - 1)
          .shape();
  context.setOut(0, elements.reshape(shape).dimRoll(
                        context.in(1).rank() - 1, static_cast<unsigned>(axis)));
}

} // namespace

std::vector<OpRule> scatterRules() {
  return {{.domain = "ai.onnx",
           .type = "Scatter",
           .schema = {{9, 11}, types::all()},
           .infer = inferScatter,
           .differentiate = differentiateScatter,
           .lower = lowerScatter},
          {.domain = "ai.onnx",
           .type = "ScatterElements",
           .schema = {{11, 13, 16}, types::all()},
           .infer = inferScatter,
           .differentiate = differentiateScatter,
           .lower = lowerScatter},
          {.domain = "ai.onnx",
           .type = "GatherElements",
           .schema = {{11, 13}, types::all()},
           .infer = inferGatherElements,
           .differentiate = differentiateGatherElements,
           .lower = lowerGatherElements},
          // What PopTorch's programs ask for as a custom operator.
          {.domain = "poptorch.custom_ops",
           .type = "FastGatherLastDim",
           .infer = inferLastDimension,
           .differentiate = differentiateGatherElements,
           .lower = lowerGatherElements}};
}

} // namespace popart
