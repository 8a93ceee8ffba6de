// Variables that gather values over micro-batches or steps: the accumulators of
// gradients, and what patterns make (popart/op/accumulate.hpp).
#include <ops/Common.hpp>
#include <ops/Indices.hpp>
#include <ops/List.hpp>

#include <lowering/LoweringContext.hpp>
#include <popart/op/accumulate.hpp>

#include <algorithm>
#include <numeric>

namespace popart {
namespace {

constexpr InIndex factorInput = 2;
constexpr InIndex ratioInput = 3;
constexpr InIndex indicesInput = 3;

// Accumulators of gradients do not name a formula: they add up, or with a
// counter of the micro-batches so far they average and count.
bool isCounting(const Op &op) {
  return !op.attributes.hasAttribute("accumulationType") &&
         op.hasInput(factorInput);
}

AccumulationType typeOf(const Op &op) {
  if (!op.attributes.hasAttribute("accumulationType")) {
    return op.hasInput(factorInput) ? AccumulationType::Mean
                                    : AccumulationType::Add;
  }
  return static_cast<AccumulationType>(
      op.attributes.getInt("accumulationType", 0));
}

// Of the variable a, as {}, the updater g and the factor f.
const char *formulaOf(const Op &op) {
  switch (typeOf(op)) {
  case AccumulationType::Add:
    return "{}+g";
  case AccumulationType::DampenedAdd:
    return "{}+f*g";
  case AccumulationType::DampenedAddSquare:
    return "{}+f*g*g";
  case AccumulationType::DecayAdd:
    return "f*{}+g";
  case AccumulationType::DecayAddSquare:
    return "f*{}+g*g";
  case AccumulationType::MovingAverage:
    return "f*{}+(1-f)*g";
  case AccumulationType::MovingAverageSquare:
    return "f*{}+(1-f)*g*g";
  case AccumulationType::Infinity:
    return "maximum(f*{},absolute(g))";
  case AccumulationType::Mean:
    return "(f*{}+g)/(f+1)";
  }
  requireOp(op, false, "has no accumulation type");
  return "";
}

void requireScalar(const Op &op, InIndex input) {
  requireOp(op, !op.hasInput(input) || op.inInfo(input).nelms() == 1,
            "input {} has {} elements; it must have one", input,
            op.hasInput(input) ? op.inInfo(input).nelms() : 0);
}

std::vector<TensorInfo> inferAccumulate(const Op &op) {
  requireInputCount(op, 2, ratioInput + 1);
  requireOp(op, op.inShape(0) == op.inShape(1),
            "a gradient of shape {} does not fit the accumulator's {}",
            support::toString(op.inShape(1)), support::toString(op.inShape(0)));
  requireScalar(op, factorInput);
  requireScalar(op, ratioInput);
  std::vector<TensorInfo> outputs = {op.inInfo(0)};
  if (isCounting(op)) {
    outputs.push_back(op.inInfo(factorInput));
  }
  return outputs;
}

// From the input, or what the operation was made with.
poplar::Tensor factorOf(LoweringContext &context, const Op &op) {
  return op.hasInput(factorInput)
             ? context.in(factorInput).reshape({})
             : context.addConstant(
                   TensorInfo(DataType::FLOAT, {}),
                   double{op.attributes.getFloat("factor", 1.0f)});
}

// With a ratio, the variable counts that much.
void lowerAccumulate(LoweringContext &context, const Op &op) {
  using kernels::Expression;
  bool isScaled = op.hasInput(ratioInput);
  std::string formula =
      fmt::format(fmt::runtime(formulaOf(op)), isScaled ? "(a*r)" : "a");
  std::vector<std::string_view> names = {"a", "g"};
  std::vector<poplar::Tensor> inputs = {context.in(0), context.in(1)};
  if (formula.find("f*") != std::string::npos) {
    names.push_back("f");
    inputs.push_back(factorOf(context, op));
  }
  if (isScaled) {
    names.push_back("r");
    inputs.push_back(context.in(ratioInput).reshape({}));
  }
  context.emitTo(Expression::parse(formula, names), inputs, context.in(0));
  context.setOut(0, context.in(0));
  if (isCounting(op)) {
    const std::string_view counter[] = {"c"};
    context.emitTo(Expression::parse("c+1", counter), {context.in(factorInput)},
                   context.in(factorInput));
    context.setOut(1, context.in(factorInput));
  }
}

InIndex accumulateModifies(const Op &, OutIndex output) {
  return output == 0 ? 0 : factorInput;
}

std::size_t axisOf(const Op &op) {
  return static_cast<std::size_t>(
      normaliseAxis(op, op.attributes.getInt("axis", 0), op.inRank(0)));
}

// Updates: the variable's shape with the indices' in the place of the axis.
std::vector<TensorInfo> inferSparse(const Op &op) {
  requireInputCount(op, 2, 5);
  requireOp(op, op.hasInput(indicesInput), "has no indices");
  requireIndices(op, indicesInput);
  requireScalar(op, factorInput);
  auto axis = static_cast<std::ptrdiff_t>(axisOf(op));
  Shape shape = op.inShape(0);
  shape.erase(shape.begin() + axis);
  const Shape &indices = op.inShape(indicesInput);
  shape.insert(shape.begin() + axis, indices.begin(), indices.end());
  requireOp(op, op.inShape(1) == shape,
            "updates have shape {}; they must have {}",
            support::toString(op.inShape(1)), support::toString(shape));
  return {op.inInfo(0)};
}

void lowerSparse(LoweringContext &context, const Op &op) {
  auto axis = static_cast<unsigned>(axisOf(op));
  auto indexDims = static_cast<unsigned>(op.inRank(indicesInput));
  poplar::Tensor updates = context.in(1);
  if (typeOf(op) == AccumulationType::DampenedAdd) {
    const std::string_view names[] = {"g", "f"};
    updates = context.emit(kernels::Expression::parse("g*f", names),
                           {updates, factorOf(context, op)});
  }
  std::vector<unsigned> order(updates.rank());
  std::iota(order.begin(), order.end(), 0U);
  std::rotate(order.begin(), order.begin() + axis,
              order.begin() + axis + indexDims);
  poplar::Tensor rows = context.in(0).dimRoll(axis, 0);
  std::size_t entries = rows.dim(0);
  std::size_t size = rows.numElements() / std::max<std::size_t>(1, entries);
  std::size_t count = context.in(indicesInput).numElements();
  poplar::Tensor offsets = positiveIndices(context, context.in(indicesInput),
                                           static_cast<std::int64_t>(entries))
                               .reshape({1, count, 1});
  context.emit("dynamicUpdate", updateAttributes("ADD"),
               {rows.reshape({1, entries, size}),
                updates.dimShuffle(order).reshape({1, count, 1, size}),
                offsets});
  context.setOut(0, context.in(0));
}

} // namespace

std::vector<OpRule> accumulateRules() {
  return {{.domain = "aspen",
           .type = "Accumulate",
           .infer = inferAccumulate,
           .lower = lowerAccumulate,
           .modifiedInput = accumulateModifies},
          {.domain = "aspen",
           .type = "RescaleAccumulate",
           .infer = inferAccumulate,
           .lower = lowerAccumulate,
           .modifiedInput = accumulateModifies},
          {.domain = "aspen",
           .type = "SparseAccumulate",
           .infer = inferSparse,
           .lower = lowerSparse,
           .modifiedInput = [](const Op &, OutIndex) { return InIndex{0}; }}};
}

} // namespace popart
