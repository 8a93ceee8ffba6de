// Entries of a tensor along a dimension, by indices, and their gradient, which
// adds them up where they came from.
#include <ops/Axes.hpp>
#include <ops/Common.hpp>
#include <ops/Indices.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

namespace popart {
namespace {

std::size_t axisOf(const Op &op, Rank rank) {
  return static_cast<std::size_t>(
      normaliseAxis(op, op.attributes.getInt("axis", 0), rank));
}

std::vector<TensorInfo> inferGather(const Op &op) {
  requireInputCount(op, 2, 2);
  requireIndices(op, 1);
  const Shape &data = op.inShape(0);
  const Shape &indices = op.inShape(1);
  std::size_t axis = axisOf(op, op.inInfo(0).rank());
  auto split = data.begin() + static_cast<std::ptrdiff_t>(axis);
  Shape shape(data.begin(), split);
  shape.insert(shape.end(), indices.begin(), indices.end());
  shape.insert(shape.end(), split + 1, data.end());
  return {TensorInfo(op.inInfo(0).dataType(), shape)};
}

void differentiateGather(GradientBuilder &builder, const Op &op) {
  builder.setGradient(
      0, builder.add("aspen", "GatherGrad",
                     {builder.outputGradient(0), op.inputs[1]},
                     Attributes()
                         .set("axis", static_cast<Attributes::Int>(
                                          axisOf(op, op.inInfo(0).rank())))
                         .set("shape", op.inShape(0))));
}

// The kinds see the data as [1, entries, elements of one] and what is gathered
// as [1, indices, 1, elements of one].
struct Layout {
  Shape data;
  std::size_t axis;
  std::size_t indices; // dimensions of the indices

  std::size_t entries() const { return static_cast<std::size_t>(data[axis]); }

  poplar::Tensor toRows(const poplar::Tensor &tensor) const {
    std::size_t size = 1;
    for (std::size_t d = 0; d < data.size(); ++d) {
      size *= d == axis ? 1 : static_cast<std::size_t>(data[d]);
    }
    return tensor.dimRoll(static_cast<unsigned>(axis), 0)
        .reshape({1, entries(), size});
  }
  // The gathered tensor's dimensions with those of the indices first.
  std::vector<unsigned> indicesFirst() const {
    std::vector<unsigned> order;
    for (std::size_t d = 0; d < indices; ++d) {
      order.push_back(static_cast<unsigned>(axis + d));
    }
    for (std::size_t d = 0; d + 1 < data.size(); ++d) {
      order.push_back(static_cast<unsigned>(d < axis ? d : d + indices));
    }
    return order;
  }
};

poplar::Tensor offsetsOf(LoweringContext &context, std::size_t entries) {
  poplar::Tensor indices = positiveIndices(context, context.in(1),
                                           static_cast<std::int64_t>(entries));
  return indices.reshape({1, indices.numElements(), 1});
}

void lowerGather(LoweringContext &context, const Op &op) {
  Layout layout{op.inShape(0), axisOf(op, op.inInfo(0).rank()),
                op.inShape(1).size()};
  poplar::Tensor slices = context.emit(
      "dynamicSlice", sliceAttributes(),
      {layout.toRows(context.in(0)), offsetsOf(context, layout.entries())})[0];
  std::vector<unsigned> order = layout.indicesFirst();
  std::vector<std::size_t> shape;
  for (unsigned d : order) {
    shape.push_back(static_cast<std::size_t>(op.outShape(0)[d]));
  }
  context.setOut(0, slices.reshape(shape).dimShuffle(inverseOrder(order)));
}

std::vector<TensorInfo> inferGatherGrad(const Op &op) {
  return {
      TensorInfo(op.inInfo(0).dataType(), op.attributes.getInts("shape", {}))};
}

void lowerGatherGrad(LoweringContext &context, const Op &op) {
  Layout layout{op.outShape(0), axisOf(op, op.outInfo(0).rank()),
                op.inShape(1).size()};
  poplar::Tensor offsets = offsetsOf(context, layout.entries());
  poplar::Tensor sum = filledVariable(context, op, op.outInfo(0), 0.0);
  poplar::Tensor rows = layout.toRows(sum);
  poplar::Tensor slices = context.in(0)
                              .dimShuffle(layout.indicesFirst())
                              .reshape({1, offsets.dim(1), 1, rows.dim(2)});
  context.emit("dynamicUpdate", updateAttributes("ADD"),
               {rows, slices, offsets});
  context.setOut(0, sum);
}

} // namespace

std::vector<OpRule> gatherRules() {
  return {{.domain = "ai.onnx",
           .type = "Gather",
           .schema = {{1, 11, 13}, types::all()},
           .infer = inferGather,
           .differentiate = differentiateGather,
           .lower = lowerGather},
          {.domain = "aspen",
           .type = "GatherGrad",
           .infer = inferGatherGrad,
           .lower = lowerGatherGrad}};
}

} // namespace popart
