// Slices at offsets that only the run knows: taken, overwritten, added to and
// cleared. What is outside a tensor goes on at its front, as in PopLibs.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace popart {
namespace {

using poplar::program::Copy;

struct Slicing {
  explicit Slicing(const Op &op)
      : axes(op.attributes.getInts("axes", {})),
        sizes(op.attributes.getInts("sizes", {})) {}

  Attributes::Ints axes;
  Attributes::Ints sizes;

  Shape sliceOf(Shape shape) const {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      shape[static_cast<std::size_t>(axes[i])] = sizes[i];
    }
    return shape;
  }
  kernels::Attributes kindAttributes() const {
    return {
        {"dims", axes}, {"sizes", sizes}, {"outOfRange", std::string("skip")}};
  }
};

Slicing checkedSlicing(const Op &op) {
  Slicing slicing(op);
  requireOp(
      op, !slicing.axes.empty() && slicing.axes.size() == slicing.sizes.size(),
      "axes are {} and sizes {}; one size for each axis is needed",
      support::toString(slicing.axes), support::toString(slicing.sizes));
  Shape seen;
  for (std::size_t i = 0; i < slicing.axes.size(); ++i) {
    std::int64_t axis = slicing.axes[i];
    requireOp(op,
              0 <= axis && axis < op.inInfo(0).rank() &&
                  std::find(seen.begin(), seen.end(), axis) == seen.end(),
              "axes {} do not name dimensions of {}, each once",
              support::toString(slicing.axes),
              support::toString(op.inShape(0)));
    seen.push_back(axis);
    std::int64_t size = op.inShape(0)[static_cast<std::size_t>(axis)];
    requireOp(op, 0 < slicing.sizes[i] && slicing.sizes[i] <= size,
              "a slice of size {} is not part of dimension {} of {}",
              slicing.sizes[i], axis, support::toString(op.inShape(0)));
  }
  DataType type = op.inInfo(1).dataType();
  requireOp(op, type == DataType::UINT32 || type == DataType::INT32,
            "offsets are {}; they must be UINT32", op.inInfo(1).data_type());
  requireOp(op,
            op.inInfo(1).nelms() ==
                static_cast<std::int64_t>(slicing.axes.size()),
            "there are {} offsets for {} axes", op.inInfo(1).nelms(),
            slicing.axes.size());
  return slicing;
}

std::vector<TensorInfo> inferSlice(const Op &op) {
  requireInputCount(op, 2, 2);
  return {TensorInfo(op.inInfo(0).dataType(),
                     checkedSlicing(op).sliceOf(op.inShape(0)))};
}

std::vector<TensorInfo> inferZero(const Op &op) {
  requireInputCount(op, 2, 2);
  checkedSlicing(op);
  return {op.inInfo(0)};
}

std::vector<TensorInfo> inferUpdate(const Op &op) {
  requireInputCount(op, 3, 3);
  Shape wanted = checkedSlicing(op).sliceOf(op.inShape(0));
  requireOp(op, op.inShape(2) == wanted,
            "the slice has shape {}; it must be {}",
            support::toString(op.inShape(2)), support::toString(wanted));
  requireOp(op, op.inInfo(2).dataType() == op.inInfo(0).dataType(),
            "the slice is {}, the tensor {}; they must have one type",
            op.inInfo(2).data_type(), op.inInfo(0).data_type());
  return {op.inInfo(0)};
}

TensorId addSameSlicing(GradientBuilder &builder, const Op &op,
                        const char *type, const TensorId &tensor) {
  return builder.add("ai.graphcore", type, {tensor, op.inputs[1]},
                     op.attributes);
}

void differentiateSlice(GradientBuilder &builder, const Op &op) {
  TensorId zeros = builder.addFill(op.inInfo(0), 0.0f);
  builder.setGradient(
      0, builder.add("ai.graphcore", "DynamicUpdate",
                     {zeros, op.inputs[1], builder.outputGradient(0)},
                     op.attributes));
}

void differentiateZero(GradientBuilder &builder, const Op &op) {
  builder.setGradient(
      0, addSameSlicing(builder, op, "DynamicZero", builder.outputGradient(0)));
}

void differentiateUpdate(GradientBuilder &builder, const Op &op) {
  const TensorId &gradient = builder.outputGradient(0);
  if (builder.isWanted(0)) {
    builder.setGradient(0,
                        addSameSlicing(builder, op, "DynamicZero", gradient));
  }
  if (builder.isWanted(2)) {
    builder.setGradient(2,
                        addSameSlicing(builder, op, "DynamicSlice", gradient));
  }
}

void differentiateAdd(GradientBuilder &builder, const Op &op) {
  const TensorId &gradient = builder.outputGradient(0);
  if (builder.isWanted(2)) {
    builder.setGradient(2,
                        addSameSlicing(builder, op, "DynamicSlice", gradient));
  }
  builder.setGradient(0, gradient);
}

poplar::Tensor offsetsOf(LoweringContext &context) {
  poplar::Tensor offsets = context.in(1);
  return offsets.reshape({1, 1, offsets.numElements()});
}

void lowerSlice(LoweringContext &context, const Op &op) {
  auto attributes = Slicing(op).kindAttributes();
  attributes.set("missing", std::string("zero"));
  context.setOut(0,
                 context
                     .emit("dynamicSlice", attributes,
                           {context.in(0).expand({0}), offsetsOf(context)})[0]
                     .reshape(poplarShape(op.outShape(0))));
}

// The tensor stays what it is, for others may read it: a copy changes.
void lowerChange(LoweringContext &context, const Op &op, const std::string &how,
                 const poplar::Tensor &slice) {
  poplar::Tensor changed =
      context.addVariable(op.outInfo(0), op.settings.vgraphId, op.outputs[0]);
  context.program().add(
      Copy(context.in(0), changed, false, context.debugPath()));
  auto attributes = Slicing(op).kindAttributes();
  attributes.set("op", how);
  attributes.set("scaled", std::int64_t{0});
  context.emit(
      "dynamicUpdate", attributes,
      {changed.expand({0}), slice.expand({0}).expand({0}), offsetsOf(context)});
  context.setOut(0, changed);
}

void lowerUpdate(LoweringContext &context, const Op &op) {
  lowerChange(context, op, "COPY", context.in(2));
}

void lowerAdd(LoweringContext &context, const Op &op) {
  lowerChange(context, op, "ADD", context.in(2));
}

void lowerZero(LoweringContext &context, const Op &op) {
  lowerChange(
      context, op, "COPY",
      context.addConstant(TensorInfo(op.inInfo(0).dataType(),
                                     Slicing(op).sliceOf(op.inShape(0))),
                          0));
}

OpRule rule(const char *type, std::span<const DataType> types,
            std::vector<TensorInfo> (*infer)(const Op &),
            void (*differentiate)(GradientBuilder &, const Op &),
            void (*lower)(LoweringContext &, const Op &)) {
  std::vector<AttributeSpec> attributes = {{"axes", Attributes::Ints{}, true},
                                           {"sizes", Attributes::Ints{}, true}};
  if (infer != inferZero) {
    // A promise that makes no difference to the values.
    attributes.push_back({"noOverlap", Attributes::Int{0}});
  }
  return {.domain = "ai.graphcore",
          .type = type,
          .schema = {.types = types, .attributes = std::move(attributes)},
          .infer = infer,
          .differentiate = differentiate,
          .lower = lower};
}

} // namespace

std::vector<OpRule> dynamicSliceRules() {
  static const std::array added = {DataType::FLOAT, DataType::FLOAT16,
                                   DataType::INT32, DataType::UINT32};
  return {rule("DynamicSlice", types::all(), inferSlice, differentiateSlice,
               lowerSlice),
          rule("DynamicUpdate", types::all(), inferUpdate, differentiateUpdate,
               lowerUpdate),
          rule("DynamicAdd", added, inferUpdate, differentiateAdd, lowerAdd),
          rule("DynamicZero", types::all(), inferZero, differentiateZero,
               lowerZero)};
}

} // namespace popart
