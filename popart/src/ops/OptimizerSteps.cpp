// The parts of optimisers' steps that patterns and custom operators make by
// PopART's names: formulas of a variable and what comes with it. The steps that
// sessions insert are whole (ops/Update.cpp).
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <lowering/LoweringContext.hpp>
#include <popart/adam.hpp>

#include <popops/GatherStatistics.hpp>

#include <algorithm>
#include <map>

namespace popart {
namespace {

// Operands by their index; those that are no input have their value in the
// attribute of that name.
using Names = std::vector<std::string_view>;

const Names &operandsOf(const Op &op) {
  static const std::map<std::string, Names> names = {
      {"SGD0VarUpdate", {"w", "g", "slr0", "wdsf0"}},
      {"SGD1VarUpdate", {"w", "g", "slr1"}},
      {"AdamVarUpdate", {"w", "g", "r1", "r2", "lr", "mwn"}},
      {"AdamUpdater", {"w", "m", "v", "t", "wd", "b1", "b2", "eps"}}};
  return names.at(meaningOf(op));
}

bool isCorrected(AdamMode mode) {
  return mode == AdamMode::Adam || mode == AdamMode::Lamb ||
         mode == AdamMode::AdaMax;
}

// The direction against which the weight goes.
std::string adamFormula(const Op &op) {
  auto mode = static_cast<AdamMode>(op.attributes.getInt("mode", 0));
  std::string m = "m";
  std::string v = "v";
  if (isCorrected(mode)) {
    m = "m/(1-power(b1,t+1))";
    v = "v/(1-power(b2,t+1))";
  }
  std::string step =
      mode == AdamMode::AdaMax ? m + "/(v+eps)" : m + "/(sqrt(" + v + ")+eps)";
  return op.hasInput(0) ? step + "+wd*w" : step;
}

std::string formulaOf(const Op &op) {
  if (meaningOf(op) == "SGD0VarUpdate") {
    return "wdsf0*w-slr0*g";
  }
  if (meaningOf(op) == "SGD1VarUpdate") {
    return "w-slr1*g";
  }
  if (meaningOf(op) == "AdamUpdater") {
    return adamFormula(op);
  }
  // Lamb's trust ratio: the norm of the weight over that of the step.
  return op.hasInput(2) && op.hasInput(3)
             ? "w-lr*select(select(minimum(sqrt(r1),mwn)/sqrt(r2),1.0,r2),1.0,"
               "r1)*g"
             : "w-lr*g";
}

std::vector<TensorInfo> inferStep(const Op &op) {
  requireInputCount(op, 0, static_cast<int>(operandsOf(op).size()));
  InIndex like = op.hasInput(0) ? 0 : 1;
  requireOp(op, op.hasInput(1) && op.inShape(like) == op.inShape(1),
            "has no input 1 of the variable's shape");
  return {op.inInfo(like)};
}

// Where a number has no input it is part of the formula.
void lowerStep(LoweringContext &context, const Op &op) {
  using kernels::Expression;
  std::vector<poplar::Tensor> inputs;
  std::vector<Expression> operands;
  const Names &names = operandsOf(op);
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto index = static_cast<InIndex>(i);
    if (!op.hasInput(index)) {
      float value = op.attributes.getFloat(std::string(names[i]), 0.0f);
      operands.push_back(Expression::parse(fmt::format("({:.9g})", value), {}));
      continue;
    }
    Expression input = Expression::input(static_cast<unsigned>(inputs.size()));
    operands.push_back(Expression::cast(support::DataType::Float, input));
    bool isNumber = op.inInfo(index).nelms() == 1;
    inputs.push_back(isNumber ? context.in(index).reshape({})
                              : context.in(index));
  }
  auto formula = Expression::parse(formulaOf(op), names).substitute(operands);
  if (op.outInfo(0).dataType() == DataType::FLOAT16) {
    formula = Expression::cast(support::DataType::Half, formula);
  }
  if (op.modifiedInput(0) == 0) {
    context.emitTo(formula, inputs, context.in(0));
    context.setOut(0, context.in(0));
  } else {
    context.setOut(0, context.emit(formula, inputs));
  }
}

InIndex modifiesFirst(const Op &, OutIndex) {
  return 0;
}

std::vector<float> levelsOf(const Op &op) {
  Attributes::Floats levels = op.attributes.getFloats("levels", {});
  requireOp(op, !levels.empty() && std::is_sorted(levels.begin(), levels.end()),
            "levels must be given in order");
  return levels;
}

std::vector<TensorInfo> inferHistogram(const Op &op) {
  requireInputCount(op, 1, 1);
  requireFloat(op, 0);
  return {TensorInfo(DataType::UINT32,
                     {static_cast<std::int64_t>(levelsOf(op).size()) + 1})};
}

void lowerHistogram(LoweringContext &context, const Op &op) {
  poplar::Tensor input = context.in(0).flatten();
  poplar::Tensor levels =
      context.addConstant(input.elementType(), levelsOf(op));
  context.setOut(
      0, popops::histogram(context.graph(), input, levels,
                           op.attributes.getInt("absoluteOfInput", 0) != 0,
                           context.program(), context.debugPath()));
}

OpRule updateRule(const char *type) {
  return {.domain = "aspen",
          .type = type,
          .infer = inferStep,
          .lower = lowerStep,
          .modifiedInput = modifiesFirst};
}

} // namespace

std::vector<OpRule> optimizerStepRules() {
  return {updateRule("SGD0VarUpdate"),
          updateRule("SGD1VarUpdate"),
          updateRule("AdamVarUpdate"),
          {.domain = "aspen",
           .type = "AdamUpdater",
           .infer = inferStep,
           .lower = lowerStep},
          {.domain = "aspen",
           .type = "Histogram",
           .infer = inferHistogram,
           .lower = lowerHistogram}};
}

} // namespace popart
