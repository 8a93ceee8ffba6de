// Elements in order along a dimension, the one in the middle, and the interval
// that each lies in.
#include <ops/Axes.hpp>
#include <ops/Common.hpp>
#include <ops/List.hpp>
#include <ops/TopK.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <array>

namespace popart {
namespace {

constexpr std::array keyTypes = {DataType::FLOAT, DataType::FLOAT16,
                                 DataType::INT32, DataType::UINT32};

unsigned axisOf(const Op &op) {
  return static_cast<unsigned>(
      normaliseAxis(op, op.attributes.getInt("axis", -1), op.inInfo(0).rank()));
}

std::vector<TensorInfo> inferSort(const Op &op) {
  requireInputCount(op, 1, 1);
  axisOf(op);
  return {op.inInfo(0), TensorInfo(DataType::INT32, op.inShape(0))};
}

void differentiateSort(GradientBuilder &builder, const Op &op) {
  builder.setGradient(
      0, builder.add("ai.onnx", "ScatterElements",
                     {builder.addFill(op.inInfo(0), 0.0f), op.outputs[1],
                      builder.outputGradient(0)},
                     Attributes().set("axis", Attributes::Int{axisOf(op)})));
}

void lowerSort(LoweringContext &context, const Op &op) {
  unsigned axis = axisOf(op);
  auto last = static_cast<unsigned>(op.inInfo(0).rank() - 1);
  auto outputs =
      emitTopK(context, context.in(0).dimRoll(axis, last), op.inShape(0)[axis],
               op.attributes.getInt("descending", 0) != 0);
  for (OutIndex i : {0, 1}) {
    context.setOut(i, outputs[static_cast<std::size_t>(i)].dimRoll(last, axis));
  }
}

// Dimensions that the median is of; all where none are given.
Attributes::Ints medianAxes(const Op &op) {
  return op.attributes.hasAttribute("axes") ? givenAxes(op, 1)
                                            : allAxes(op.inInfo(0).rank());
}

std::vector<TensorInfo> inferMedian(const Op &op) {
  requireInputCount(op, 1, 1);
  Attributes::Ints axes = medianAxes(op);
  bool isKept = op.attributes.getInt("keepdims", 1) != 0;
  requireOp(op, op.inInfo(0).nelms() > 0, "there are no elements in {}",
            support::toString(op.inShape(0)));
  Shape shape = isKept ? withAxes(op.inShape(0), axes, 1)
                       : withoutAxes(op.inShape(0), axes);
  return {TensorInfo(op.inInfo(0).dataType(), shape),
          TensorInfo(DataType::INT32, shape)};
}

// [rows, elements], with the elements that a median is of in the last
// dimension.
struct Rows {
  explicit Rows(const Op &op, const Shape &shape)
      : order(axesLast(medianAxes(op), static_cast<Rank>(shape.size()))) {
    for (std::int64_t axis : medianAxes(op)) {
      elements *= shape[static_cast<std::size_t>(axis)];
    }
    count = support::elementCount(shape) / elements;
  }

  std::vector<unsigned> order;
  std::int64_t count = 1;
  std::int64_t elements = 1;
};

// The gradient goes to the element that was chosen.
void differentiateMedian(GradientBuilder &builder, const Op &op) {
  Rows rows(op, op.inShape(0));
  Shape flat = {rows.count, 1};
  TensorId scattered =
      builder.add("ai.onnx", "ScatterElements",
                  {builder.addFill(TensorInfo(op.inInfo(0).dataType(),
                                              {rows.count, rows.elements}),
                                   0.0f),
                   builder.addReshape(op.outputs[1], flat),
                   builder.addReshape(builder.outputGradient(0), flat)},
                  Attributes().set("axis", Attributes::Int{1}));
  Shape between;
  for (unsigned d : rows.order) {
    between.push_back(op.inShape(0)[d]);
  }
  auto back = inverseOrder(rows.order);
  builder.setGradient(
      0, builder.add("ai.onnx", "Transpose",
                     {builder.addReshape(scattered, between)},
                     Attributes().set(
                         "perm", Attributes::Ints(back.begin(), back.end()))));
}

// Of an even number of elements it is the lower of the two in the middle.
void lowerMedian(LoweringContext &context, const Op &op) {
  Rows rows(op, op.inShape(0));
  std::int64_t middle = (rows.elements - 1) / 2;
  auto sorted = emitTopK(context,
                         context.in(0)
                             .dimShuffle(rows.order)
                             .reshape(poplarShape({rows.count, rows.elements})),
                         middle + 1, false);
  for (OutIndex i : {0, 1}) {
    auto first = static_cast<std::size_t>(middle);
    context.setOut(i, sorted[static_cast<std::size_t>(i)]
                          .slice(first, first + 1, 1)
                          .reshape(poplarShape(op.outShape(i))));
  }
}

std::vector<TensorInfo> inferBucketize(const Op &op) {
  requireInputCount(op, 2, 2);
  requireRank(op, 1, 1);
  requireOp(op, op.inInfo(0).dataType() == op.inInfo(1).dataType(),
            "boundaries are {} and elements {}; they must have one type",
            op.inInfo(1).data_type(), op.inInfo(0).data_type());
  return {TensorInfo(DataType::INT32, op.inShape(0))};
}

// As many boundaries as lie below.
void lowerBucketize(LoweringContext &context, const Op &op) {
  using kernels::Expression;
  const std::string_view names[] = {"x", "b"};
  bool isRight = op.attributes.getInt("right", 0) != 0;
  auto isBelow = Expression::parse(isRight ? "x>=b" : "x>b", names);
  poplar::Tensor x = context.in(0);
  poplar::Tensor below =
      context.emit(Expression::cast(support::DataType::Int, isBelow),
                   {x.expand({x.rank()}), context.in(1)});
  context.setOut(0, context.emit("reduce",
                                 {{"op", std::string("ADD")},
                                  {"dims", Shape{x.rank()}},
                                  {"scale", 1.0}},
                                 {below})[0]);
}

} // namespace

std::vector<OpRule> sortRules() {
  return {{.domain = "ai.graphcore",
           .type = "Sort",
           .schema = {.types = keyTypes,
                      .attributes = {{"axis", Attributes::Int{-1}},
                                     {"descending", Attributes::Int{0}},
                                     {"stable", Attributes::Int{0}}},
                      .outputs = 2},
           .infer = inferSort,
           .differentiate = differentiateSort,
           .lower = lowerSort},
          {.domain = "ai.graphcore",
           .type = "ReduceMedian",
           .schema = {.types = keyTypes,
                      .attributes = {{"axes", Attributes::Ints{}},
                                     {"keepdims", Attributes::Int{1}}},
                      .outputs = 2},
           .infer = inferMedian,
           .differentiate = differentiateMedian,
           .lower = lowerMedian},
          {.domain = "ai.graphcore",
           .type = "Bucketize",
           .schema = {.types = keyTypes,
                      .attributes = {{"right", Attributes::Int{0}}}},
           .infer = inferBucketize,
           .lower = lowerBucketize}};
}

} // namespace popart
