// Reductions over dimensions. A row says what is reduced how; the gradients are
// formulas of one element x, the result y and its gradient g.
#include <ops/Axes.hpp>
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

namespace popart {
namespace {

// g times one over the number of elements.
constexpr std::string_view meanGradient = "g/n";

struct Row {
  std::string type;
  std::string operation;     // of the kind "reduce"
  std::string before = "x";  // what of each element is reduced
  std::string after = "y";   // what becomes of the result
  std::string gradient = ""; // empty: a function of its own
  bool isReal = false;       // integers are computed in FLOAT
  std::vector<int> versions = {1, 11, 13};
};

bool isPool(const std::string &type) {
  return type.starts_with("Global");
}

const Row &rowOf(const std::string &type) {
  static const std::vector<Row> rows = {
      {.type = "GlobalAveragePool",
       .operation = "ADD",
       .gradient = std::string(meanGradient),
       .isReal = true,
       .versions = {1}},
      {.type = "GlobalMaxPool", .operation = "MAX", .versions = {1}},
      {.type = "ReduceL1",
       .operation = "ADD",
       .before = "abs(x)",
       .gradient = "g*signum(x)"},
      {.type = "ReduceL2",
       .operation = "SQUARE_ADD",
       .after = "sqrt(y)",
       .gradient = "select(0,g*x/y,y==0)",
       .isReal = true},
      {.type = "ReduceLogSum",
       .operation = "ADD",
       .after = "log(y)",
       .gradient = "g*exp(-y)",
       .isReal = true},
      {.type = "ReduceLogSumExp",
       .operation = "LOG_ADD",
       .gradient = "g*exp(x-y)",
       .isReal = true},
      {.type = "ReduceMax", .operation = "MAX", .versions = {1, 11, 12, 13}},
      {.type = "ReduceMean",
       .operation = "ADD",
       .gradient = std::string(meanGradient),
       .isReal = true},
      {.type = "ReduceMin", .operation = "MIN", .versions = {1, 11, 12, 13}},
      {.type = "ReduceProd", .operation = "MUL"},
      {.type = "ReduceSum", .operation = "ADD", .gradient = "g"},
      {.type = "ReduceSumSquare",
       .operation = "SQUARE_ADD",
       .gradient = "2*g*x"},
  };
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const Row &row) { return row.type == type; });
}

// The dimensions reduced over, ascending. Global pools reduce each channel. An
// attribute that is an empty list is none of them, one that is left out all; of
// an empty input ONNX has another attribute say which.
Attributes::Ints axesOf(const Op &op) {
  if (isPool(op.opid.type)) {
    Attributes::Ints axes = allAxes(op.inInfo(0).rank());
    axes.erase(axes.begin(),
               axes.begin() + std::min<Rank>(2, op.inInfo(0).rank()));
    return axes;
  }
  Attributes::Ints axes = givenAxes(op, 1);
  bool isNone = (op.attributes.hasAttribute("axes") && !op.hasInput(1)) ||
                op.attributes.getInt("noop_with_empty_axes", 0) != 0;
  return axes.empty() && !isNone ? allAxes(op.inInfo(0).rank()) : axes;
}

// The input's shape with the reduced dimensions of size 1.
Shape keptShape(const Op &op) {
  return withAxes(op.inShape(0), axesOf(op), 1);
}

std::vector<TensorInfo> inferReduce(const Op &op) {
  requireInputCount(op, 1, 2);
  bool keeps = op.attributes.getInt("keepdims", 1) != 0;
  return {TensorInfo(op.inInfo(0).dataType(),
                     keeps ? keptShape(op)
                           : withoutAxes(op.inShape(0), axesOf(op)))};
}

// One over the number of elements that each result is made of.
double scaleOf(const Op &op) {
  std::int64_t count = 1;
  for (std::int64_t axis : axesOf(op)) {
    count *= op.inShape(0)[static_cast<std::size_t>(axis)];
  }
  return 1.0 / static_cast<double>(std::max<std::int64_t>(1, count));
}

void differentiateReduce(GradientBuilder &builder, const Op &op) {
  TensorId g = builder.addReshape(builder.outputGradient(0), keptShape(op));
  std::string text = rowOf(op.opid.type).gradient;
  if (text == meanGradient) {
    text = fmt::format("g*{}", scaleOf(op));
  }
  std::string names = "g";
  std::vector<TensorId> inputs = {g};
  if (text.find('x') != std::string::npos) {
    names += ",x";
    inputs.push_back(op.inputs[0]);
  }
  if (text.find('y') != std::string::npos) {
    names += ",y";
    inputs.push_back(builder.addReshape(op.outputs[0], keptShape(op)));
  }
  builder.setGradient(
      0, builder.addElementwise(text, names, inputs, op.inShape(0)));
}

// Elements that equal the extremum share its gradient.
void differentiateExtremum(GradientBuilder &builder, const Op &op) {
  Shape kept = keptShape(op);
  TensorId g = builder.addReshape(builder.outputGradient(0), kept);
  TensorId y = builder.addReshape(op.outputs[0], kept);
  TensorId one = builder.addFill(TensorInfo(op.inInfo(0).dataType(), {}), 1.0f);
  TensorId chosen = builder.addElementwise(
      "select(o,0,x==y)", "o,x,y", {one, op.inputs[0], y}, op.inShape(0));
  TensorId count = builder.addReduceTo(chosen, kept);
  builder.setGradient(0, builder.addElementwise("g*m/n", "g,m,n",
                                                {g, chosen, count},
                                                op.inShape(0)));
}

void differentiateProd(GradientBuilder &builder, const Op &op) {
  builder.setGradient(0, builder.add("aspen", "ReduceProdGrad",
                                     {builder.outputGradient(0), op.inputs[0]},
                                     Attributes().set("axes", axesOf(op))));
}

kernels::Expression parse(const std::string &text, std::string_view name) {
  const std::string_view names[] = {name};
  return kernels::Expression::parse(text, names);
}

// The type that the reduction works in.
support::DataType workType(const Row &row, support::DataType given) {
  using support::DataType;
  if (given == DataType::Float || given == DataType::Half) {
    return given;
  }
  return row.isReal                       ? DataType::Float
         : given == DataType::UnsignedInt ? given
                                          : DataType::Int;
}

void lowerReduce(LoweringContext &context, const Op &op) {
  using kernels::Expression;
  using support::DataType;
  const Row &row = rowOf(op.opid.type);
  DataType given = deviceType(op.inInfo(0).dataType());
  DataType work = workType(row, given);
  poplar::Tensor x = context.in(0);
  Expression before = parse(row.before, "x");
  if (work != given) {
    const Expression cast[] = {Expression::cast(work, Expression::input(0))};
    before = before.substitute(cast);
  }
  if (before.steps().size() > 1) {
    x = context.emit(before, {x});
  }
  kernels::Attributes attributes{
      {"op", row.operation},
      {"dims", axesOf(op)},
      {"scale", row.gradient == meanGradient ? scaleOf(op) : 1.0}};
  bool hasAfter = row.after != "y";
  if (hasAfter && work == DataType::Half) {
    work = DataType::Float; // the sum may be too large for HALF
    attributes.set("outType", static_cast<std::int64_t>(work));
  }
  poplar::Tensor y = context.emit("reduce", attributes, {x})[0];
  if (hasAfter || work != given) {
    y = context.emit(work == given
                         ? parse(row.after, "y")
                         : Expression::cast(given, parse(row.after, "y")),
                     {y});
  }
  context.setOut(0, y.reshape(poplarShape(op.outShape(0))));
}

std::vector<TensorInfo> inferProdGrad(const Op &op) {
  return {op.inInfo(1)};
}

// g times the product of all others: of those before and those after, so that
// zeros need no special care.
void lowerProdGrad(LoweringContext &context, const Op &op) {
  Attributes::Ints axes = op.attributes.getInts("axes", {});
  std::vector<unsigned> order = axesLast(axes, op.inInfo(1).rank());
  poplar::Tensor x = context.in(1).dimShuffle(order);
  std::size_t rows = context.in(0).numElements();
  std::vector<std::size_t> matrix = {rows,
                                     rows == 0 ? 0 : x.numElements() / rows};
  auto product = [&](std::int64_t isReverse) {
    return context.emit("cumulate",
                        {{"op", std::string("MUL")},
                         {"dim", std::int64_t{1}},
                         {"exclusive", std::int64_t{1}},
                         {"reverse", isReverse}},
                        {x.reshape(matrix)})[0];
  };
  const std::string_view names[] = {"g", "a", "b"};
  poplar::Tensor gradient =
      context.emit(kernels::Expression::parse("g*(a*b)", names),
                   {context.in(0).reshape({rows, 1}), product(0), product(1)});
  context.setOut(0,
                 gradient.reshape(x.shape()).dimShuffle(inverseOrder(order)));
}

OpRule ruleOf(const char *type,
              void (*differentiate)(GradientBuilder &, const Op &)) {
  return {.domain = "ai.onnx",
          .type = type,
          .schema = {rowOf(type).versions,
                     isPool(type) ? types::floats() : types::allNumbers()},
          .infer = inferReduce,
          .differentiate = differentiate,
          .lower = lowerReduce};
}

} // namespace

std::vector<OpRule> reduceRules() {
  return {ruleOf("GlobalAveragePool", differentiateReduce),
          ruleOf("GlobalMaxPool", differentiateExtremum),
          ruleOf("ReduceL1", differentiateReduce),
          ruleOf("ReduceL2", differentiateReduce),
          ruleOf("ReduceLogSum", differentiateReduce),
          ruleOf("ReduceLogSumExp", differentiateReduce),
          ruleOf("ReduceMax", differentiateExtremum),
          ruleOf("ReduceMean", differentiateReduce),
          ruleOf("ReduceMin", differentiateExtremum),
          ruleOf("ReduceProd", differentiateProd),
          ruleOf("ReduceSum", differentiateReduce),
          ruleOf("ReduceSumSquare", differentiateReduce),
          {.domain = "aspen",
           .type = "ReduceProdGrad",
           .infer = inferProdGrad,
           .lower = lowerProdGrad}};
}

} // namespace popart
