// A tensor side by side with itself: Expand, by NumPy's rules, and Tile.
#include <ops/Axes.hpp>
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

namespace popart {
namespace {

std::vector<TensorInfo> inferExpand(const Op &op) {
  requireInputCount(op, 2, 2);
  return {TensorInfo(op.inInfo(0).dataType(),
                     broadcastShapes(op, op.inShape(0), constantInts(op, 1)))};
}

void differentiateExpand(GradientBuilder &builder, const Op &op) {
  builder.setGradient(
      0, builder.addReduceTo(builder.outputGradient(0), op.inShape(0)));
}

void lowerExpand(LoweringContext &context, const Op &op) {
  context.setOut(0, broadcastTo(context.in(0), op.outShape(0)));
}

// How often each dimension is repeated. Version 1 names one dimension, in a
// third input.
Attributes::Ints repeatsOf(const Op &op) {
  Rank rank = op.inInfo(0).rank();
  Attributes::Ints given = constantInts(op, 1);
  if (op.hasInput(2)) {
    auto axis = normaliseAxis(op, constantInts(op, 2).at(0), rank);
    Attributes::Ints repeats(static_cast<std::size_t>(rank), 1);
    repeats[static_cast<std::size_t>(axis)] = given.at(0);
    return repeats;
  }
  requireOp(op, given.size() == static_cast<std::size_t>(rank),
            "{} repeats for a tensor of rank {}", given.size(), rank);
  return given;
}

std::vector<TensorInfo> inferTile(const Op &op) {
  requireInputCount(op, 2, 3);
  Shape shape = op.inShape(0);
  Attributes::Ints repeats = repeatsOf(op);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    requireOp(op, repeats[d] >= 0, "dimension {} is repeated {} times", d,
              repeats[d]);
    shape[d] *= repeats[d];
  }
  return {TensorInfo(op.inInfo(0).dataType(), shape)};
}

// With [repeats, size] for each dimension, the sum over the repeats.
void differentiateTile(GradientBuilder &builder, const Op &op) {
  Attributes::Ints repeats = repeatsOf(op);
  Shape shape;
  Attributes::Ints axes;
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    axes.push_back(static_cast<std::int64_t>(shape.size()));
    shape.push_back(repeats[d]);
    shape.push_back(op.inShape(0)[d]);
  }
  TensorId gradient = builder.addReshape(builder.outputGradient(0), shape);
  if (!axes.empty()) {
    gradient = builder.add(
        "ai.onnx", "ReduceSum", {gradient},
        Attributes().set("axes", axes).set("keepdims", Attributes::Int{0}));
  }
  builder.setGradient(0, gradient);
}

void lowerTile(LoweringContext &context, const Op &op) {
  poplar::Tensor tensor = context.in(0);
  Attributes::Ints repeats = repeatsOf(op);
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    tensor = tensor.broadcast(static_cast<unsigned>(repeats[d]),
                              static_cast<unsigned>(d));
  }
  context.setOut(0, tensor);
}

} // namespace

std::vector<OpRule> repeatRules() {
  return {{.domain = "ai.onnx",
           .type = "Expand",
           .schema = {{8, 13}, types::all()},
           .infer = inferExpand,
           .differentiate = differentiateExpand,
           .lower = lowerExpand},
          {.domain = "ai.onnx",
           .type = "Tile",
           .schema = {{1, 6, 13}, types::all()},
           .infer = inferTile,
           .differentiate = differentiateTile,
           .lower = lowerTile}};
}

} // namespace popart
