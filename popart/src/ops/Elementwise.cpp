// Every element-wise operator of the kernels' table as an operator of PopART:
// the table has its values and gradients, what is here is its ONNX schema.
#include <ops/Formula.hpp>

#include <kernels/Expression.hpp>

#include <cctype>
#include <map>

namespace popart {
namespace {

using kernels::ElementwiseOp;
using kernels::ElementwiseOpInfo;

struct OnnxName {
  std::string_view name; // in the kernels' table
  std::string type;
  OpSchema schema = {};
};

const std::vector<OnnxName> &onnxNames() {
  static const auto floats = types::floats();
  static const auto numbers = types::numbers();
  static const auto allNumbers = types::allNumbers();
  static const auto signedNumbers = types::signedNumbers();
  static const auto booleans = types::booleans();
  static const std::vector<OnnxName> names = {
      {"ABSOLUTE", "Abs", {{6, 13}, allNumbers}},
      {"ADD", "Add", {{6, 7, 13, 14}, allNumbers}},
      {"ASIN", "Asin", {{7}, floats}},
      {"CEIL", "Ceil", {{1, 6, 13}, floats}},
      {"COS", "Cos", {{7}, floats}},
      {"DIVIDE", "Div", {{6, 7, 13, 14}, allNumbers}},
      {"EQUAL", "Equal", {{1, 7, 11, 13}, types::all()}},
      {"ERF", "Erf", {{9, 13}, floats}},
      {"EXPONENT", "Exp", {{6, 13}, floats}},
      {"EXPONENT_MINUS_ONE", "Expm1"},
      {"FLOOR", "Floor", {{1, 6, 13}, floats}},
      {"GREATER_THAN", "Greater", {{1, 7, 9, 13}, allNumbers}},
      {"GREATER_THAN_EQUAL", "GreaterOrEqual", {{12, 16}, allNumbers}},
      {"INVERSE", "Reciprocal", {{6, 13}, floats}},
      {"IS_NAN", "IsNaN", {{9, 13}, floats}},
      {"LESS_THAN", "Less", {{1, 7, 9, 13}, allNumbers}},
      {"LESS_THAN_EQUAL", "LessOrEqual", {{12, 16}, allNumbers}},
      {"LOGARITHM", "Log", {{6, 13}, floats}},
      {"LOGARITHM_ONE_PLUS", "Log1p"},
      {"LOGICAL_AND", "And", {{1, 7}, booleans}},
      {"LOGICAL_NOT", "Not", {{1}, booleans}},
      {"LOGICAL_OR", "Or", {{1, 7}, booleans}},
      {"MULTIPLY", "Mul", {{6, 7, 13, 14}, allNumbers}},
      {"NEGATE", "Neg", {{6, 13}, signedNumbers}},
      {"RELU", "Relu", {{6, 13, 14}, floats}},
      {"SIGMOID", "Sigmoid", {{6, 13}, floats}},
      {"SIGNUM", "Sign", {{9, 13}, allNumbers}},
      {"SIN", "Sin", {{7}, floats}},
      {"SINH", "Sinh", {{9}, floats}},
      {"SQRT", "Sqrt", {{6, 13}, floats}},
      {"SUBTRACT", "Sub", {{6, 7, 13, 14}, allNumbers}},
      {"TAN", "Tan", {{7}, floats}},
      {"TANH", "Tanh", {{6, 13}, floats}},
  };
  return names;
}

// "GELU_ERF" as "GeluErf".
std::string camelCase(std::string_view name) {
  std::string result;
  bool isFirst = true;
  for (char c : name) {
    if (c == '_') {
      isFirst = true;
      continue;
    }
    result +=
        isFirst
            ? c
            : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    isFirst = false;
  }
  return result;
}

// "tanh(a)", as expressions call it.
std::string callOf(const ElementwiseOpInfo &info) {
  std::string text;
  for (char c : info.name) {
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const char *operands[] = {"(a)", "(a,b)", "(a,b,c)"};
  return text + operands[info.arity - 1];
}

// Steps: PopART gives them a gradient, which is zero.
bool isStep(ElementwiseOp op) {
  return op == ElementwiseOp::CEIL || op == ElementwiseOp::FLOOR ||
         op == ElementwiseOp::NEARBY_INT || op == ElementwiseOp::SIGNUM;
}

// Operators that PopART has under these names with another meaning, or more.
bool isLeftOut(ElementwiseOp op) {
  return op == ElementwiseOp::ROUND || op == ElementwiseOp::MAXIMUM ||
         op == ElementwiseOp::MINIMUM || op == ElementwiseOp::POWER;
}

// A FLOAT number may scale halves.
Formula mulFormula(const Op &op) {
  Formula formula{callOf(kernels::elementwiseOpInfo(ElementwiseOp::MULTIPLY)),
                  {"g*b", "g*a"}};
  auto isScaled = [&](InIndex half, InIndex number) {
    return op.inInfo(half).dataType() == DataType::FLOAT16 &&
           op.inInfo(number).dataType() == DataType::FLOAT &&
           op.inInfo(number).nelms() == 1 && op.inInfo(number).rank() <= 1;
  };
  if (op.inputs.size() == 2 && (isScaled(0, 1) || isScaled(1, 0))) {
    formula.isInFloat = true;
    formula.typed = isScaled(0, 1) ? 0 : 1;
  }
  return formula;
}

FormulaRow rowOf(const ElementwiseOpInfo &info) {
  FormulaRow row;
  row.type = camelCase(info.name);
  for (const OnnxName &name : onnxNames()) {
    if (name.name == info.name) {
      row.type = name.type;
      row.schema = name.schema;
    }
  }
  row.formula.value = callOf(info);
  for (unsigned i = 0; i < info.arity; ++i) {
    row.formula.gradients.push_back(
        isStep(info.op) ? "0" : std::string(info.gradients[i]));
  }
  row.formula.isPredicate = info.isPredicate;
  row.formula.condition = info.op == ElementwiseOp::SELECT ? 2 : -1;
  row.choose = info.op == ElementwiseOp::MULTIPLY ? mulFormula : nullptr;
  return row;
}

} // namespace

std::vector<FormulaRow> elementwiseFormulas() {
  std::vector<FormulaRow> rows;
  for (const ElementwiseOpInfo &info : kernels::elementwiseOps()) {
    if (!isLeftOut(info.op)) {
      rows.push_back(rowOf(info));
    }
  }
  return rows;
}

} // namespace popart
