// Tensors one after another along a dimension, and one tensor cut into several.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>
#include <popart/graph.hpp>

namespace popart {
namespace {

std::size_t axisOf(const Op &op, std::int64_t fallback) {
  return static_cast<std::size_t>(normaliseAxis(
      op, op.attributes.getInt("axis", fallback), op.inInfo(0).rank()));
}

std::vector<TensorInfo> inferConcat(const Op &op) {
  requireInputCount(op, 1, static_cast<int>(op.inputs.size()));
  std::size_t axis = axisOf(op, 1);
  Shape shape = op.inShape(0);
  for (InIndex i = 1; i < static_cast<InIndex>(op.inputs.size()); ++i) {
    requireOp(op, op.hasInput(i), "needs input {}", i);
    Shape other = op.inShape(i);
    requireOp(op, op.inInfo(i).dataType() == op.inInfo(0).dataType(),
              "inputs are {} and {}; they must have one type",
              op.inInfo(0).data_type(), op.inInfo(i).data_type());
    std::int64_t size = other.size() > axis ? other[axis] : 0;
    if (other.size() > axis) {
      other[axis] = shape[axis];
    }
    requireOp(op, other == shape,
              "shapes {} and {} differ in more than dimension {}",
              support::toString(op.inShape(0)),
              support::toString(op.inShape(i)), axis);
    shape[axis] += size;
  }
  return {TensorInfo(op.inInfo(0).dataType(), shape)};
}

// Elements [begin, end) along the axis.
TensorId addSlice(GradientBuilder &builder, const TensorId &id,
                  std::size_t axis, std::int64_t begin, std::int64_t end) {
  return builder.add("ai.onnx", "Slice", {id},
                     Attributes()
                         .set("axes", Shape{static_cast<std::int64_t>(axis)})
                         .set("starts", Shape{begin})
                         .set("ends", Shape{end}));
}

void differentiateConcat(GradientBuilder &builder, const Op &op) {
  std::size_t axis = axisOf(op, 1);
  std::int64_t begin = 0;
  for (InIndex i = 0; i < static_cast<InIndex>(op.inputs.size()); ++i) {
    std::int64_t end = begin + op.inShape(i)[axis];
    if (builder.isWanted(i)) {
      builder.setGradient(
          i, addSlice(builder, builder.outputGradient(0), axis, begin, end));
    }
    begin = end;
  }
}

void lowerConcat(LoweringContext &context, const Op &op) {
  std::vector<poplar::Tensor> parts;
  for (InIndex i = 0; i < static_cast<InIndex>(op.inputs.size()); ++i) {
    parts.push_back(context.in(i));
  }
  context.setOut(0,
                 poplar::concat(parts, static_cast<unsigned>(axisOf(op, 1))));
}

// The size of each part, from "split" as an attribute or a constant input;
// without it there are as many equal parts as outputs.
Attributes::Ints partsOf(const Op &op) {
  std::int64_t size = op.inShape(0)[axisOf(op, 0)];
  Attributes::Ints parts =
      op.hasInput(1) ? constantInts(op, 1) : op.attributes.getInts("split", {});
  if (parts.empty()) {
    auto count = static_cast<std::int64_t>(op.outputs.size());
    requireOp(op, count > 0 && size % count == 0,
              "dimension {} of {} does not split into {} equal parts",
              axisOf(op, 0), support::toString(op.inShape(0)), count);
    parts.assign(static_cast<std::size_t>(count), size / count);
  }
  std::int64_t total = 0;
  for (std::int64_t part : parts) {
    requireOp(op, part >= 0, "a part has {} elements", part);
    total += part;
  }
  requireOp(op, total == size,
            "parts of {} elements do not fill dimension {} "
            "of {}",
            total, axisOf(op, 0), support::toString(op.inShape(0)));
  return parts;
}

std::vector<TensorInfo> inferSplit(const Op &op) {
  requireInputCount(op, 1, 2);
  std::vector<TensorInfo> outputs;
  for (std::int64_t part : partsOf(op)) {
    Shape shape = op.inShape(0);
    shape[axisOf(op, 0)] = part;
    outputs.emplace_back(op.inInfo(0).dataType(), shape);
  }
  return outputs;
}

// Parts that nothing was made of count as zeros.
void differentiateSplit(GradientBuilder &builder, const Op &op) {
  std::vector<TensorId> parts;
  for (OutIndex i = 0; i < static_cast<OutIndex>(op.outputs.size()); ++i) {
    const TensorId &gradient = builder.outputGradient(i);
    parts.push_back(gradient.empty() ? builder.addFill(op.outInfo(i), 0.0f)
                                     : gradient);
  }
  builder.setGradient(
      0, builder.add("ai.onnx", "Concat", parts,
                     Attributes().set(
                         "axis", static_cast<Attributes::Int>(axisOf(op, 0)))));
}

void lowerSplit(LoweringContext &context, const Op &op) {
  auto axis = static_cast<unsigned>(axisOf(op, 0));
  std::size_t begin = 0;
  for (OutIndex i = 0; i < static_cast<OutIndex>(op.outputs.size()); ++i) {
    std::size_t end = begin + static_cast<std::size_t>(op.outShape(i)[axis]);
    context.setOut(i, context.in(0).slice(begin, end, axis));
    begin = end;
  }
}

} // namespace

std::vector<OpRule> concatRules() {
  return {{.domain = "ai.onnx",
           .type = "Concat",
           .schema = {{1, 4, 11, 13}, types::all()},
           .infer = inferConcat,
           .differentiate = differentiateConcat,
           .lower = lowerConcat},
          {.domain = "ai.onnx",
           .type = "Split",
           .schema = {{2, 11, 13}, types::all()},
           .infer = inferSplit,
           .differentiate = differentiateSplit,
           .lower = lowerSplit}};
}

} // namespace popart
