// Every element-wise operator of the kernels' table, and the expressions that
// their gradients are made of.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <kernels/Expression.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <cctype>
#include <map>
#include <sstream>

namespace popart {
namespace {

using kernels::ElementwiseOpInfo;

// ONNX's names where they are not Poplar's in camel case.
const std::map<std::string_view, std::string> &onnxNames() {
  static const std::map<std::string_view, std::string> names = {
      {"ABSOLUTE", "Abs"},
      {"CLAMP", "Clamp"},
      {"DIVIDE", "Div"},
      {"EXPONENT", "Exp"},
      {"EXPONENT_MINUS_ONE", "Expm1"},
      {"GREATER_THAN", "Greater"},
      {"GREATER_THAN_EQUAL", "GreaterOrEqual"},
      {"INVERSE", "Reciprocal"},
      {"IS_NAN", "IsNaN"},
      {"LESS_THAN", "Less"},
      {"LESS_THAN_EQUAL", "LessOrEqual"},
      {"LOGARITHM", "Log"},
      {"LOGARITHM_ONE_PLUS", "Log1p"},
      {"LOGICAL_AND", "And"},
      {"LOGICAL_NOT", "Not"},
      {"LOGICAL_OR", "Or"},
      {"MAXIMUM", "Max"},
      {"MINIMUM", "Min"},
      {"MULTIPLY", "Mul"},
      {"NEGATE", "Neg"},
      {"POWER", "Pow"},
      {"SIGNUM", "Sign"},
      {"SUBTRACT", "Sub"},
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

std::string onnxName(const ElementwiseOpInfo &info) {
  auto found = onnxNames().find(info.name);
  return found == onnxNames().end() ? camelCase(info.name) : found->second;
}

const ElementwiseOpInfo &infoOf(const Op &op) {
  static const auto byName = [] {
    std::map<std::string, const ElementwiseOpInfo *> map;
    for (const ElementwiseOpInfo &info : kernels::elementwiseOps()) {
      map[onnxName(info)] = &info;
    }
    return map;
  }();
  return *byName.at(op.opid.type);
}

Shape broadcastInputs(const Op &op) {
  Shape shape;
  for (InIndex i = 0; i < static_cast<InIndex>(op.inputs.size()); ++i) {
    shape = broadcastShapes(op, shape, op.inShape(i));
  }
  return shape;
}

std::vector<TensorInfo> inferOperator(const Op &op) {
  const ElementwiseOpInfo &info = infoOf(op);
  int arity = static_cast<int>(info.arity);
  requireInputCount(op, arity, arity);
  DataType type = op.inInfo(0).dataType();
  // SELECT chooses by its third operand, a BOOL.
  int alike = info.op == kernels::ElementwiseOp::SELECT ? 2 : arity;
  for (InIndex i = 1; i < alike; ++i) {
    requireOp(op, op.inInfo(i).dataType() == type,
              "inputs are {} and {}; they must have one type",
              op.inInfo(0).data_type(), op.inInfo(i).data_type());
  }
  return {TensorInfo(info.isPredicate ? DataType::BOOL : type,
                     broadcastInputs(op))};
}

// Whether the name occurs in the expression as a word of its own.
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

void differentiateOperator(GradientBuilder &builder, const Op &op) {
  const ElementwiseOpInfo &info = infoOf(op);
  const std::string known = "gyabc";
  for (unsigned operand = 0; operand < info.arity; ++operand) {
    auto index = static_cast<InIndex>(operand);
    std::string text(info.gradients[operand]);
    if (text.empty() || !builder.isWanted(index)) {
      continue;
    }
    TensorId gradient = builder.outputGradient(0);
    if (text != "g") {
      std::string names;
      std::vector<TensorId> inputs;
      for (char name : known) {
        if (mentions(text, name)) {
          names += (names.empty() ? "" : ",") + std::string(1, name);
          inputs.push_back(
              name == 'g'   ? gradient
              : name == 'y' ? op.outputs[0]
                            : op.inputs[static_cast<std::size_t>(name - 'a')]);
        }
      }
      gradient = builder.addElementwise(text, names, inputs, op.outShape(0));
    }
    builder.setGradient(index,
                        builder.addReduceTo(gradient, op.inShape(index)));
  }
}

void lowerOperator(LoweringContext &context, const Op &op) {
  const ElementwiseOpInfo &info = infoOf(op);
  std::vector<kernels::Expression> operands;
  std::vector<poplar::Tensor> inputs;
  for (unsigned i = 0; i < info.arity; ++i) {
    operands.push_back(kernels::Expression::input(i));
    inputs.push_back(context.in(static_cast<InIndex>(i)));
  }
  context.setOut(
      0, context.emit(kernels::Expression::apply(info.op, operands), inputs));
}

std::vector<std::string> operandsOf(const Op &op) {
  std::vector<std::string> names;
  std::istringstream text(op.attributes.getString("operands", ""));
  for (std::string name; std::getline(text, name, ',');) {
    names.push_back(name);
  }
  return names;
}

std::vector<TensorInfo> inferExpression(const Op &op) {
  requireOp(op, operandsOf(op).size() == op.inputs.size(),
            "{} names for {} inputs", operandsOf(op).size(), op.inputs.size());
  auto type = static_cast<DataType>(op.attributes.getInt(
      "type", static_cast<Attributes::Int>(op.inInfo(0).dataType())));
  return {
      TensorInfo(type, op.attributes.getInts("shape", broadcastInputs(op)))};
}

void lowerExpression(LoweringContext &context, const Op &op) {
  std::vector<std::string> names = operandsOf(op);
  auto expression = kernels::Expression::parse(
      op.attributes.getString("expression", ""),
      std::vector<std::string_view>(names.begin(), names.end()));
  if (op.outInfo(0).dataType() != op.inInfo(0).dataType()) {
    expression = kernels::Expression::cast(deviceType(op.outInfo(0).dataType()),
                                           expression);
  }
  std::vector<poplar::Tensor> inputs;
  inputs.reserve(op.inputs.size());
  for (InIndex i = 0; i < static_cast<InIndex>(op.inputs.size()); ++i) {
    inputs.push_back(broadcastTo(context.in(i), op.outShape(0)));
  }
  context.setOut(0, context.emit(expression, inputs));
}

} // namespace

std::vector<OpRule> elementwiseRules() {
  std::vector<OpRule> rules = {{.domain = "aspen",
                                .type = "Elementwise",
                                .infer = inferExpression,
                                .lower = lowerExpression}};
  for (const ElementwiseOpInfo &info : kernels::elementwiseOps()) {
    bool hasGradient = false;
    for (std::string_view text : info.gradients) {
      hasGradient = hasGradient || !text.empty();
    }
    rules.push_back(
        {.domain = "ai.onnx",
         .type = onnxName(info),
         .infer = inferOperator,
         .differentiate = hasGradient ? differentiateOperator : nullptr,
         .lower = lowerOperator});
  }
  return rules;
}

} // namespace popart
