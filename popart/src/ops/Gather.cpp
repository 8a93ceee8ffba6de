// Entries of a tensor along a dimension, by indices, which groups may have each
// for itself; and their gradient, which adds them up where they came from.
#include <ops/Axes.hpp>
#include <ops/Common.hpp>
#include <ops/Groups.hpp>
#include <ops/Indices.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>

namespace popart {
namespace {

// Inputs: data, indices; with groups both have them first.
std::vector<TensorInfo> inferGather(const Op &op) {
  requireInputCount(op, 2, 2);
  requireIndices(op, 1);
  checkGroups(op);
  std::size_t axis = groupedAxis(op, 0);
  const Shape &data = op.inShape(0);
  const Shape &indices = op.inShape(1);
  Shape shape(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), indices.begin() + (isGrouped(op) ? 1 : 0),
               indices.end());
  shape.insert(shape.end(),
               data.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
               data.end());
  return {TensorInfo(op.inInfo(0).dataType(), shape)};
}

// The kinds see [groups, entries, elements of one], and what is gathered as
// [groups, indices, 1, elements of one].
struct GatherLayout {
  GatherLayout(const Op &op, const Shape &data, std::size_t axisOfData)
      : axis(axisOfData), groups(isGrouped(op) ? 1 : 0),
        indexDims(op.inShape(1).size() - groups) {
    for (std::size_t d = 0; d < data.size(); ++d) {
      auto dim = static_cast<std::size_t>(data[d]);
      (d == axis ? entries : d < groups ? count : size) *= dim;
    }
  }

  poplar::Tensor toEntries(const poplar::Tensor &data) const {
    return data
        .dimRoll(static_cast<unsigned>(axis), static_cast<unsigned>(groups))
        .reshape({count, entries, size});
  }
  // Of what was gathered: groups, dimensions of the indices, then the others.
  std::vector<unsigned> indicesFirst(std::size_t rank) const {
    std::vector<unsigned> order;
    for (std::size_t d = 0; d < groups; ++d) {
      order.push_back(static_cast<unsigned>(d));
    }
    for (std::size_t d = 0; d < indexDims; ++d) {
      order.push_back(static_cast<unsigned>(axis + d));
    }
    for (std::size_t d = groups; d < rank; ++d) {
      if (d < axis || d >= axis + indexDims) {
        order.push_back(static_cast<unsigned>(d));
      }
    }
    return order;
  }

  std::size_t axis;
  std::size_t groups; // 0 or 1 dimension
  std::size_t indexDims;
  std::size_t count = 1;
  std::size_t entries = 1;
  std::size_t size = 1; // of an entry
};

poplar::Tensor groupOffsets(LoweringContext &context,
                            const GatherLayout &layout) {
  poplar::Tensor indices = positiveIndices(
      context, context.in(1), static_cast<std::int64_t>(layout.entries));
  return indices.reshape(
      {layout.count, indices.numElements() / layout.count, 1});
}

void differentiateGather(GradientBuilder &builder, const Op &op) {
  Attributes attributes = op.attributes;
  attributes.set("axis", static_cast<Attributes::Int>(groupedAxis(op, 0)))
      .set("shape", op.inShape(0));
  builder.setGradient(0, builder.add("aspen", "GatherGrad",
                                     {builder.outputGradient(0), op.inputs[1]},
                                     attributes));
}

void lowerGather(LoweringContext &context, const Op &op) {
  GatherLayout layout(op, op.inShape(0), groupedAxis(op, 0));
  poplar::Tensor slices = context.emit(
      "dynamicSlice", sliceAttributes(),
      {layout.toEntries(context.in(0)), groupOffsets(context, layout)})[0];
  std::vector<unsigned> order = layout.indicesFirst(op.outShape(0).size());
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
  auto axis = static_cast<std::size_t>(op.attributes.getInt("axis", 0));
  GatherLayout layout(op, op.outShape(0), axis);
  poplar::Tensor sum = filledVariable(context, op, op.outInfo(0), 0.0);
  poplar::Tensor rows = layout.toEntries(sum);
  poplar::Tensor offsets = groupOffsets(context, layout);
  poplar::Tensor slices =
      context.in(0)
          .dimShuffle(layout.indicesFirst(op.inShape(0).size()))
          .reshape({layout.count, offsets.dim(1), 1, rows.dim(2)});
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

// ONNX's is one of a single group.
std::vector<OpRule> groupedGatherRules() {
  return {{.domain = "ai.graphcore",
           .type = "GroupedGather",
           .schema = {.types = types::all(),
                      .attributes = {{"axis", Attributes::Int{0}},
                                     {"group_size", Attributes::Int{1}}}},
           .infer = inferGather,
           .differentiate = differentiateGather,
           .lower = lowerGather}};
}

} // namespace popart
