// Elements combined at indices along a dimension, with or without a first
// dimension of groups that have indices of their own.
#include <ops/Common.hpp>
#include <ops/Groups.hpp>
#include <ops/Indices.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>
#include <popart/operatorenums.hpp>

#include <array>
#include <limits>
#include <utility>

namespace popart {
namespace {

using kernels::Expression;
using poplar::program::Copy;

constexpr std::array types_ = {DataType::FLOAT, DataType::FLOAT16,
                               DataType::INT32};

// Inputs: source, index, initial values?.
constexpr InIndex initialInput = 2;

ScatterReduction reductionKind(const Op &op) {
  std::int64_t number = op.attributes.getInt("reduction", 0);
  requireOp(op,
            0 <= number && number <= static_cast<int>(ScatterReduction::None),
            "reduction {} is none of Sum, Max, Min, Mul and NoReduction (0 to "
            "4)",
            number);
  return static_cast<ScatterReduction>(number);
}

// The index in the source's rank: with ones where it is broadcast.
Shape alignedIndex(const Op &op, std::size_t axis) {
  const Shape &source = op.inShape(0);
  const Shape &index = op.inShape(1);
  if (index.size() == source.size()) {
    return index;
  }
  Shape aligned(source.size(), 1);
  std::size_t groups = isGrouped(op) ? 1 : 0;
  requireOp(op, index.size() == groups + 1,
            "an index of shape {} does not fit a source of shape {}",
            support::toString(index), support::toString(source));
  aligned[0] = groups == 1 ? index[0] : aligned[0];
  aligned[axis] = index.back();
  return aligned;
}

void checkIndex(const Op &op, std::size_t axis) {
  const Shape &source = op.inShape(0);
  Shape aligned = alignedIndex(op, axis);
  bool isBroadcast = op.attributes.getInt("enable_index_broadcast", 1) != 0;
  bool fits = isBroadcast || op.inShape(1) == source;
  for (std::size_t d = 0; fits && d < source.size(); ++d) {
    fits = aligned[d] == source[d] || (aligned[d] == 1 && d != axis);
  }
  requireOp(op, fits, "an index of shape {} does not fit a source of shape {}",
            support::toString(op.inShape(1)), support::toString(source));
}

std::vector<TensorInfo> inferScatter(const Op &op) {
  requireInputCount(op, 2, 3);
  requireIndices(op, 1);
  reductionKind(op);
  checkGroups(op);
  std::size_t axis = groupedAxis(op, -1);
  checkIndex(op, axis);
  std::int64_t size = op.attributes.getInt("axis_size", 0);
  requireOp(op, size > 0, "axis_size is {}; it must be 1 or more", size);
  Shape shape = op.inShape(0);
  shape[axis] = size;
  TensorInfo result(op.inInfo(0).dataType(), shape);
  requireOp(op, !op.hasInput(initialInput) || op.inInfo(initialInput) == result,
            "initial values must have the type of the source and shape {}",
            support::toString(shape));
  return {result};
}

// What is at the index, in the source's shape.
TensorId addElementsAt(GradientBuilder &builder, const Op &op,
                       const TensorId &tensor) {
  std::size_t axis = groupedAxis(op, -1);
  return builder.add(
      "aspen", "ElementsAt",
      {tensor, builder.addReshape(op.inputs[1], alignedIndex(op, axis))},
      Attributes()
          .set("axis", static_cast<Attributes::Int>(axis))
          .set("shape", op.inShape(0)));
}

// The operator again, of an expression of each of its factors x.
TensorId addScatterOf(GradientBuilder &builder, const Op &op,
                      const char *expression, ScatterReduction kind) {
  auto factors = [&](InIndex input) {
    return builder.addElementwise(expression, "x",
                                  {op.inputs[static_cast<std::size_t>(input)]},
                                  op.inShape(input));
  };
  std::vector<TensorId> inputs = {factors(0), op.inputs[1]};
  if (op.hasInput(initialInput)) {
    inputs.push_back(factors(initialInput));
  }
  Attributes attributes = op.attributes;
  attributes.set("reduction", static_cast<Attributes::Int>(kind));
  return builder.add(op.opid.domain, op.opid.type, inputs, attributes);
}

// A factor's share is the product of the others, of which one that is zero
// leaves nothing: p is the product of those that are not zero, z how many are.
void differentiateProduct(GradientBuilder &builder, const Op &op) {
  const TensorId &g = builder.outputGradient(0);
  TensorId p =
      addScatterOf(builder, op, "select(1,x,x==0)", ScatterReduction::Mul);
  // A constant alone would not have the type of x.
  TensorId z = addScatterOf(builder, op, "select(1,select(0,x,x!=0),x==0)",
                            ScatterReduction::Sum);
  const char *share = "select(select(g*p,0,z==1),select(g*p/x,0,z==0),x==0)";
  if (builder.isWanted(0)) {
    builder.setGradient(
        0, builder.addElementwise(share, "g,p,z,x",
                                  {addElementsAt(builder, op, g),
                                   addElementsAt(builder, op, p),
                                   addElementsAt(builder, op, z), op.inputs[0]},
                                  op.inShape(0)));
  }
  if (op.hasInput(initialInput) && builder.isWanted(initialInput)) {
    builder.setGradient(
        initialInput, builder.addElementwise(share, "g,p,z,x",
                                             {g, p, z, op.inputs[initialInput]},
                                             op.outShape(0)));
  }
}

void differentiateScatter(GradientBuilder &builder, const Op &op) {
  const TensorId &g = builder.outputGradient(0);
  ScatterReduction kind = reductionKind(op);
  if (kind == ScatterReduction::Mul) {
    differentiateProduct(builder, op);
    return;
  }
  bool isSum = kind == ScatterReduction::Sum;
  // Of those that met, the ones that were chosen get the gradient.
  const char *share = "select(g,0,x==y)";
  if (builder.isWanted(0)) {
    TensorId gradient = addElementsAt(builder, op, g);
    if (!isSum && kind != ScatterReduction::None) {
      gradient = builder.addElementwise(
          share, "g,x,y",
          {gradient, op.inputs[0], addElementsAt(builder, op, op.outputs[0])},
          op.inShape(0));
    }
    builder.setGradient(0, gradient);
  }
  if (!op.hasInput(initialInput) || !builder.isWanted(initialInput)) {
    return;
  }
  if (kind == ScatterReduction::None) {
    Attributes attributes = op.attributes;
    builder.setGradient(
        initialInput,
        builder.add("ai.graphcore", "ScatterReduce",
                    {builder.addFill(op.inInfo(0), 0.0f), op.inputs[1], g},
                    attributes));
  } else {
    builder.setGradient(initialInput,
                        isSum ? g
                              : builder.addElementwise(
                                    share, "g,x,y",
                                    {g, op.inputs[initialInput], op.outputs[0]},
                                    op.outShape(0)));
  }
}

// [rows, elements along the axis].
poplar::Tensor toRows(const poplar::Tensor &tensor, std::size_t axis) {
  poplar::Tensor rolled =
      tensor.dimRoll(static_cast<unsigned>(axis), tensor.rank() - 1);
  std::size_t length = rolled.dim(rolled.rank() - 1);
  return rolled.reshape({rolled.numElements() / length, length});
}

poplar::Tensor apply(LoweringContext &context, std::string_view text,
                     const std::vector<poplar::Tensor> &inputs) {
  const std::string_view names[] = {"x", "y"};
  return context.emit(Expression::parse(text, names), inputs);
}

double lowest(DataType type) {
  return type == DataType::FLOAT16 ? -65504.0
         : type == DataType::FLOAT
             ? double{std::numeric_limits<float>::lowest()}
             : double{std::numeric_limits<std::int32_t>::min() + 1};
}

// The index in the source's shape, or where all rows share it, once for all.
void emitUpdates(LoweringContext &context, const Op &op, const char *how,
                 const poplar::Tensor &result, const poplar::Tensor &source) {
  std::size_t axis = groupedAxis(op, -1);
  Shape aligned = alignedIndex(op, axis);
  bool isShared = support::elementCount(aligned) == aligned[axis];
  poplar::Tensor index =
      broadcastTo(context.in(1).reshape(poplarShape(aligned)),
                  isShared ? aligned : op.inShape(0));
  poplar::Tensor rows = toRows(result, axis);
  poplar::Tensor values = toRows(source, axis);
  poplar::Tensor offsets = toRows(index, axis).expand({2});
  if (isShared) {
    rows = rows.transpose().expand({0});
    values = values.transpose().expand({0, 1});
  } else {
    values = values.expand({2});
  }
  context.emit("dynamicUpdate", updateAttributes(how), {rows, values, offsets});
}

void lowerScatter(LoweringContext &context, const Op &op) {
  ScatterReduction kind = reductionKind(op);
  bool isMin = kind == ScatterReduction::Min;
  bool isExtreme = isMin || kind == ScatterReduction::Max;
  DataType type = op.inInfo(0).dataType();
  // The least is the negative of the greatest of negatives.
  poplar::Tensor source = context.in(0);
  poplar::Tensor result;
  if (op.hasInput(initialInput)) {
    result =
        context.addVariable(op.outInfo(0), op.settings.vgraphId, op.outputs[0]);
    context.program().add(
        Copy(context.in(initialInput), result, false, context.debugPath()));
    result = isMin ? apply(context, "-x", {result}) : result;
  } else {
    double start = isExtreme                       ? lowest(type)
                   : kind == ScatterReduction::Mul ? 1.0
                                                   : 0.0;
    result = filledVariable(context, op, op.outInfo(0), start);
  }
  source = isMin ? apply(context, "-x", {source}) : source;
  emitUpdates(context, op,
              isExtreme                        ? "MAX"
              : kind == ScatterReduction::Mul  ? "MUL"
              : kind == ScatterReduction::None ? "COPY"
                                               : "ADD",
              result, source);
  if (isExtreme && !op.hasInput(initialInput)) {
    // Where nothing arrived there is zero.
    result = apply(
        context, "select(x-x,x,x==y)",
        {result, context.addConstant(TensorInfo(type, {}), lowest(type))});
  }
  context.setOut(0, isMin ? apply(context, "-x", {result}) : result);
}

std::vector<TensorInfo> inferElementsAt(const Op &op) {
  return {
      TensorInfo(op.inInfo(0).dataType(), op.attributes.getInts("shape", {}))};
}

void lowerElementsAt(LoweringContext &context, const Op &op) {
  auto axis = static_cast<std::size_t>(op.attributes.getInt("axis", 0));
  poplar::Tensor index =
      toRows(broadcastTo(context.in(1), op.outShape(0)), axis).expand({2});
  poplar::Tensor elements =
      context.emit("dynamicSlice", sliceAttributes(),
                   {toRows(context.in(0), axis), index})[0];
  unsigned last = static_cast<unsigned>(op.outInfo(0).rank() - 1);
  std::vector<std::size_t> shape = poplarShape(op.outShape(0));
  std::size_t length = shape[axis];
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.push_back(length);
  context.setOut(
      0, elements.reshape(shape).dimRoll(last, static_cast<unsigned>(axis)));
}

OpRule scatterRule(const char *type, bool hasGroups) {
  std::vector<AttributeSpec> attributes = {
      {"axis_size", Attributes::Int{0}, true},
      {"axis", Attributes::Int{-1}},
      {"reduction", Attributes::Int{0}}};
  attributes.push_back(
      hasGroups ? AttributeSpec{"group_size", Attributes::Int{1}}
                : AttributeSpec{"enable_index_broadcast", Attributes::Int{1}});
  if (hasGroups) {
    attributes.insert(attributes.end() - 1,
                      {"enable_index_broadcast", Attributes::Int{1}});
  }
  return {.domain = "ai.graphcore",
          .type = type,
          .schema = {.types = types_, .attributes = std::move(attributes)},
          .infer = inferScatter,
          .differentiate = differentiateScatter,
          .lower = lowerScatter};
}

} // namespace

std::vector<OpRule> scatterReduceRules() {
  return {scatterRule("ScatterReduce", false),
          scatterRule("GroupedScatterReduce", true),
          {.domain = "aspen",
           .type = "ElementsAt",
           .infer = inferElementsAt,
           .lower = lowerElementsAt}};
}

} // namespace popart
