// Inference, gradients and lowering of all operators that are formulas.
#include <ops/Formula.hpp>

#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <fmt/args.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace popart {
namespace {

constexpr std::string_view operandNames[] = {"a", "b", "c"};

using Key = std::pair<std::string, std::string>; // domain and type

const std::map<Key, FormulaRow> &rowsByType() {
  static const auto rows = [] {
    std::map<Key, FormulaRow> map;
    for (auto *family :
         {activationFormulas, arithmeticFormulas, elementwiseFormulas,
          givenFormulas, graphcoreFormulas}) {
      for (FormulaRow &row : family()) {
        Key key{row.domain, row.type};
        map.emplace(std::move(key), std::move(row));
      }
    }
    return map;
  }();
  return rows;
}

const FormulaRow &rowOf(const Op &op) {
  const OpRule &rule = *op.builtInRule(); // users' classes have other names
  return rowsByType().at({rule.domain, rule.type});
}

Formula formulaOf(const Op &op) {
  const FormulaRow &row = rowOf(op);
  Formula formula = row.choose ? row.choose(op) : row.formula;
  if (!row.numbers.empty()) {
    fmt::dynamic_format_arg_store<fmt::format_context> numbers;
    for (const auto &[name, fallback] : row.numbers) {
      numbers.push_back(fmt::arg(
          name.c_str(),
          fmt::format("({:.9g})", op.attributes.getFloat(name, fallback))));
    }
    formula.value = fmt::vformat(formula.value, numbers);
    for (std::string &text : formula.gradients) {
      text = fmt::vformat(text, numbers);
    }
  }
  return formula;
}

InIndex arityOf(const Formula &formula) {
  return static_cast<InIndex>(formula.gradients.size());
}

// Operand i's shape as the result sees it. Before ONNX 7 "axis" says at which
// of the first operand's dimensions those of the second start.
Shape operandShape(const Op &op, InIndex i) {
  Shape shape = op.inShape(i);
  if (i != 1 || op.attributes.getInt("broadcast", 0) == 0 ||
      !op.attributes.hasAttribute("axis")) {
    return shape;
  }
  Rank rank = op.inInfo(0).rank();
  auto axis = normaliseAxis(op, op.attributes.getInt("axis", 0), rank);
  auto end = axis + static_cast<std::int64_t>(shape.size());
  requireOp(op, end <= rank,
            "input 1 of shape {} does not fit at dimension {} of {}",
            support::toString(shape), axis, support::toString(op.inShape(0)));
  shape.resize(shape.size() + static_cast<std::size_t>(rank - end), 1);
  return shape;
}

std::vector<TensorInfo> inferFormula(const Op &op) {
  requireInputCount(op, 0, 3); // formulas may look at their inputs
  Formula formula = formulaOf(op);
  InIndex arity = arityOf(formula);
  requireInputCount(op, arity, arity + rowOf(op).constants);
  const TensorInfo &first = op.inInfo(formula.typed);
  Shape shape;
  for (InIndex i = 0; i < arity; ++i) {
    DataType given = op.inInfo(i).dataType();
    if (i == formula.condition) {
      requireOp(op, given == DataType::BOOL, "input {} is {}; it must be BOOL",
                i, op.inInfo(i).data_type());
    } else {
      requireOp(op, given == first.dataType() || formula.isInFloat,
                "np broadcasting failed, incompatible types {} and {} (shapes "
                "{} and {}): they must have one type",
                first.data_type(), op.inInfo(i).data_type(),
                support::toString(first.shape()),
                support::toString(op.inShape(i)));
    }
    shape = broadcastShapes(op, shape, operandShape(op, i));
  }
  return {TensorInfo(formula.isPredicate ? DataType::BOOL : first.dataType(),
                     shape)};
}

// Whether the name occurs in the text as a word of its own.
bool mentions(std::string_view text, char name) {
  auto isWord = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == name && (i == 0 || !isWord(text[i - 1])) &&
        (i + 1 == text.size() || !isWord(text[i + 1]))) {
      return true;
    }
  }
  return false;
}

// What a letter of a gradient stands for, with the shape and type it meets the
// others in.
TensorId tensorOf(GradientBuilder &builder, const Op &op, char name,
                  const Formula &formula) {
  if (name == 'g') {
    return builder.outputGradient(0);
  }
  if (name == 'y') {
    return op.outputs[0];
  }
  auto i = static_cast<InIndex>(name - 'a');
  TensorId id = op.inputs[static_cast<std::size_t>(i)];
  if (i != formula.condition &&
      op.inInfo(i).dataType() != op.outInfo(0).dataType()) {
    id = builder.add("ai.onnx", "Cast", {id},
                     Attributes().set("to", op.outInfo(0).data_type()));
  }
  return builder.addReshape(id, operandShape(op, i));
}

TensorId addGradient(GradientBuilder &builder, const Op &op,
                     const std::string &text, const Formula &formula) {
  if (text == "g") {
    return builder.outputGradient(0);
  }
  std::string names;
  std::vector<TensorId> inputs;
  for (char name : {'g', 'y', 'a', 'b', 'c'}) {
    if (mentions(text, name)) {
      names += (names.empty() ? "" : ",") + std::string(1, name);
      inputs.push_back(tensorOf(builder, op, name, formula));
    }
  }
  return builder.addElementwise(text, names, inputs, op.outShape(0));
}

void differentiateFormula(GradientBuilder &builder, const Op &op) {
  Formula formula = formulaOf(op);
  for (InIndex i = 0; i < arityOf(formula); ++i) {
    const std::string &text = formula.gradients[static_cast<std::size_t>(i)];
    if (text.empty() || !builder.isWanted(i)) {
      continue;
    }
    if (text == "0") {
      builder.setGradient(i, builder.addFill(op.inInfo(i), 0.0f));
      continue;
    }
    TensorId gradient = builder.addReduceTo(
        addGradient(builder, op, text, formula), operandShape(op, i));
    builder.setGradient(i, builder.addReshape(gradient, op.inShape(i)));
  }
}

void lowerFormula(LoweringContext &context, const Op &op) {
  using kernels::Expression;
  Formula formula = formulaOf(op);
  auto value = Expression::parse(formula.value, operandNames);
  std::vector<poplar::Tensor> inputs;
  std::vector<Expression> inFloat;
  bool isFloat = true;
  for (InIndex i = 0; i < arityOf(formula); ++i) {
    inputs.push_back(context.in(i).reshape(poplarShape(operandShape(op, i))));
    inFloat.push_back(Expression::cast(
        support::DataType::Float, Expression::input(static_cast<unsigned>(i))));
    isFloat = isFloat && popart::isFloat(op.inInfo(i).dataType()) &&
              op.inInfo(i).dataType() == op.inInfo(0).dataType();
  }
  if (formula.isInFloat && !isFloat) {
    value = Expression::cast(deviceType(op.outInfo(0).dataType()),
                             value.substitute(inFloat));
  }
  context.setOut(0, context.emit(value, inputs));
}

} // namespace

std::vector<OpRule> formulaRules() {
  std::vector<OpRule> rules;
  for (const auto &[key, row] : rowsByType()) {
    const auto &gradients = row.formula.gradients;
    bool hasGradient =
        row.choose ||
        std::any_of(gradients.begin(), gradients.end(),
                    [](const std::string &text) { return !text.empty(); });
    rules.push_back(
        {.domain = row.domain,
         .type = row.type,
         .schema = row.schema,
         .infer = inferFormula,
         .differentiate = hasGradient ? differentiateFormula : nullptr,
         .lower = lowerFormula});
  }
  return rules;
}

} // namespace popart
