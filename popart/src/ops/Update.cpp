// What changes variables, in place: the optimisers' steps, and copies of values
// that the model computes.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <popops/internal/Kinds.hpp>

#include <sstream>

namespace popart {
namespace {

std::vector<TensorInfo> inferReset(const Op &op) {
  requireInputCount(op, 1, 1);
  return {op.inInfo(0)};
}

void lowerReset(LoweringContext &context, const Op &) {
  popops::internal::fill(context.graph(), context.in(0), 0.0, context.program(),
                         context.debugPath());
  context.setOut(0, context.in(0));
}

InIndex modifiesFirst(const Op &, OutIndex) {
  return 0;
}

std::vector<TensorInfo> inferCopy(const Op &op) {
  requireInputCount(op, 2, 2);
  requireOp(
      op, op.inInfo(0) == op.inInfo(1),
      "a value of type {} and shape {} does not fit a variable of type {} "
      "and shape {}",
      op.inInfo(1).data_type(), support::toString(op.inShape(1)),
      op.inInfo(0).data_type(), support::toString(op.inShape(0)));
  return {op.inInfo(0)};
}

void lowerCopy(LoweringContext &context, const Op &) {
  context.program().add(poplar::program::Copy(context.in(1), context.in(0),
                                              false, context.debugPath()));
  context.setOut(0, context.in(0));
}

// A formula of an optimiser over operands that broadcast to its shape, in FLOAT
// whatever they are: FLOAT16 has neither the range nor the digits for it.
kernels::Expression formulaOf(const Op &op, DataType result) {
  using kernels::Expression;
  std::vector<std::string> names;
  std::istringstream text(op.attributes.getString("operands", ""));
  for (std::string name; std::getline(text, name, ',');) {
    names.push_back(name);
  }
  std::vector<Expression> operands;
  for (unsigned i = 0; i < op.inputs.size(); ++i) {
    Expression input = Expression::input(i);
    operands.push_back(op.inInfo(static_cast<InIndex>(i)).dataType() ==
                               DataType::FLOAT16
                           ? Expression::cast(support::DataType::Float, input)
                           : input);
  }
  auto formula = Expression::parse(
      op.attributes.getString("expression", ""),
      std::vector<std::string_view>(names.begin(), names.end()));
  formula = formula.substitute(operands);
  return result == DataType::FLOAT16
             ? Expression::cast(support::DataType::Half, formula)
             : formula;
}

std::vector<poplar::Tensor> formulaInputs(LoweringContext &context,
                                          const Op &op) {
  std::vector<poplar::Tensor> inputs;
  for (InIndex i = 0; i < static_cast<InIndex>(op.inputs.size()); ++i) {
    inputs.push_back(broadcastTo(context.in(i), op.outShape(0)));
  }
  return inputs;
}

std::vector<TensorInfo> inferFormula(const Op &op) {
  return {TensorInfo(DataType::FLOAT, op.attributes.getInts("shape", {}))};
}

void lowerFormula(LoweringContext &context, const Op &op) {
  context.setOut(0, popops::internal::elementwise(
                        context.graph(), formulaOf(op, DataType::FLOAT),
                        formulaInputs(context, op), context.program(),
                        context.debugPath()));
}

std::vector<TensorInfo> inferFormulaUpdate(const Op &op) {
  return {op.inInfo(0)};
}

void lowerFormulaUpdate(LoweringContext &context, const Op &op) {
  popops::internal::elementwiseWithOutput(
      context.graph(), formulaOf(op, op.outInfo(0).dataType()),
      formulaInputs(context, op), context.in(0), context.program(),
      context.debugPath());
  context.setOut(0, context.in(0));
}

// A FLOAT scalar of all elements.
std::vector<TensorInfo> inferSummary(const Op &op) {
  requireInputCount(op, 1, 1);
  requireFloat(op, 0);
  return {TensorInfo(DataType::FLOAT, {})};
}

// The sum of squares.
void lowerSquareSum(LoweringContext &context, const Op &op) {
  auto flat = context.in(0).flatten();
  kernels::Attributes attributes{{"op", std::string("SQUARE_ADD")},
                                 {"dims", std::vector<std::int64_t>{0}},
                                 {"scale", 1.0}};
  if (op.inInfo(0).dataType() == DataType::FLOAT16) {
    attributes.set("outType",
                   static_cast<std::int64_t>(support::DataType::Float));
  }
  context.setOut(0, context.emit("reduce", attributes, {flat})[0]);
}

// How many elements are not within [-edge, edge]: NaN is not.
void lowerCountBeyond(LoweringContext &context, const Op &op) {
  using kernels::Expression;
  const std::string_view names[] = {"x"};
  const Expression x[] = {
      Expression::cast(support::DataType::Float, Expression::input(0))};
  auto isBeyond =
      Expression::parse(fmt::format("select(0.0,1.0,absolute(x)<={})",
                                    op.attributes.getFloat("edge", 0)),
                        names);
  poplar::Tensor ones = popops::internal::elementwise(
      context.graph(), isBeyond.substitute(x), {context.in(0).flatten()},
      context.program(), context.debugPath());
  kernels::Attributes attributes{{"op", std::string("ADD")},
                                 {"dims", std::vector<std::int64_t>{0}},
                                 {"scale", 1.0}};
  context.setOut(0, context.emit("reduce", attributes, {ones})[0]);
}

// An optimiser step: outputs are new versions of some of the inputs.
std::vector<TensorInfo> inferUpdate(const Op &op,
                                    const std::vector<InIndex> &modified) {
  requireOp(op, op.inShape(0) == op.inShape(1),
            "a gradient of shape {} does not fit a weight of shape {}",
            support::toString(op.inShape(1)), support::toString(op.inShape(0)));
  std::vector<TensorInfo> outputs;
  outputs.reserve(modified.size());
  for (InIndex i : modified) {
    outputs.push_back(op.inInfo(i));
  }
  return outputs;
}

void emitUpdate(LoweringContext &context, const Op &op, const char *kind,
                const kernels::Attributes &attributes) {
  std::vector<poplar::Tensor> inputs;
  inputs.reserve(op.inputs.size());
  for (InIndex i = 0; i < static_cast<InIndex>(op.inputs.size()); ++i) {
    inputs.push_back(context.in(i));
  }
  auto outputs = context.emit(kind, attributes, inputs);
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    context.setOut(static_cast<OutIndex>(i), outputs[i]);
  }
}

kernels::Attributes withScale(const Op &op, kernels::Attributes attributes) {
  attributes.set("gradientScale",
                 double{op.attributes.getFloat("gradientScale", 1.0f)});
  return attributes;
}

// w, g, learning rate, weight decay, and then v, momentum, dampening.
std::vector<InIndex> sgdModifies(const Op &op) {
  return op.hasInput(4) ? std::vector<InIndex>{0, 4} : std::vector<InIndex>{0};
}

void lowerSgd(LoweringContext &context, const Op &op) {
  emitUpdate(
      context, op, "sgdUpdate",
      withScale(op, {{"momentum", std::int64_t{op.hasInput(4)}},
                     {"nesterov", op.attributes.getInt("nesterov", 0)}}));
}

// w, g, m, v, step, learning rate, beta1, beta2, epsilon, weight decay.
std::vector<InIndex> adamModifies(const Op &) {
  return {0, 2, 3, 4};
}

void lowerAdam(LoweringContext &context, const Op &op) {
  emitUpdate(
      context, op, "adamUpdate",
      withScale(
          op, {{"decoupledDecay", op.attributes.getInt("decoupledDecay", 0)},
               {"biasCorrection", op.attributes.getInt("biasCorrection", 1)}}));
}

// w, g, s, learning rate, alpha, epsilon, weight decay, and then b, momentum.
std::vector<InIndex> rmspropModifies(const Op &op) {
  return op.hasInput(7) ? std::vector<InIndex>{0, 2, 7}
                        : std::vector<InIndex>{0, 2};
}

void lowerRmsprop(LoweringContext &context, const Op &op) {
  emitUpdate(context, op, "rmspropUpdate",
             withScale(op, {{"momentum", std::int64_t{op.hasInput(7)}},
                            {"epsilonInside",
                             op.attributes.getInt("epsilonInside", 0)}}));
}

template <std::vector<InIndex> (*modifies)(const Op &)>
OpRule updateRule(const char *type,
                  void (*lower)(LoweringContext &, const Op &)) {
  return {.domain = "aspen",
          .type = type,
          .infer = [](const Op &op) { return inferUpdate(op, modifies(op)); },
          .lower = lower,
          .modifiedInput =
              [](const Op &op, OutIndex output) {
                return modifies(op)[static_cast<std::size_t>(output)];
              }};
}

} // namespace

std::vector<OpRule> updateRules() {
  return {{.domain = "aspen",
           .type = "AccumulatorReset",
           .infer = inferReset,
           .lower = lowerReset,
           .modifiedInput = modifiesFirst},
          // The model's own state, such as running statistics.
          {.domain = "ai.graphcore",
           .type = "CopyVarUpdate",
           .infer = inferCopy,
           .lower = lowerCopy,
           .modifiedInput = modifiesFirst},
          {.domain = "aspen",
           .type = "Formula",
           .infer = inferFormula,
           .lower = lowerFormula},
          {.domain = "aspen",
           .type = "FormulaUpdate",
           .infer = inferFormulaUpdate,
           .lower = lowerFormulaUpdate,
           .modifiedInput = modifiesFirst},
          {.domain = "aspen",
           .type = "SquareSum",
           .infer = inferSummary,
           .lower = lowerSquareSum},
          {.domain = "aspen",
           .type = "CountBeyond",
           .infer = inferSummary,
           .lower = lowerCountBeyond},
          updateRule<sgdModifies>("SgdUpdate", lowerSgd),
          updateRule<adamModifies>("AdamUpdate", lowerAdam),
          updateRule<rmspropModifies>("RmspropUpdate", lowerRmsprop)};
}

} // namespace popart
