// Writes popart/opsets.hpp: one class for each opset of ai.onnx, one for
// ai.onnx.ml and one for ai.graphcore, with a method for each operator; and
// popart/opidentifiers.hpp, with the operators' names.
//   popart_opsets <opsets.hpp> <opidentifiers.hpp>
#include <builder/Signatures.hpp>
#include <ops/OpRule.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <utility>

namespace popart {
namespace {

std::string start(const std::string &included) {
  return "// Made by popart/generator from ONNX's schemas and PopART's rules.\n"
         "#pragma once\n\n#include <popart/" +
         included + ">\n\nnamespace popart {\n";
}

std::string quote(const std::string &text) {
  return "\"" + text + "\"";
}

std::string floatLiteral(float value) {
  std::string text = fmt::format("{}", value);
  bool isInteger = text.find_first_of(".e") == std::string::npos;
  return text + (isInteger ? ".0f" : "f");
}

struct Parameter {
  std::string type;
  std::string fallback; // empty: none
};

bool hasNoValue(const OnnxAttribute &argument) {
  return std::holds_alternative<std::monostate>(argument.fallback);
}

// Of losses.
bool isReduction(const OnnxAttribute &argument) {
  return argument.name == "reduction" &&
         argument.type == OnnxAttributeType::Int &&
         std::holds_alternative<Attributes::Int>(argument.fallback) &&
         std::get<Attributes::Int>(argument.fallback) ==
             static_cast<Attributes::Int>(ReductionType::Mean);
}

// Scalars that may be left out are optional, lists empty.
Parameter parameterOf(const Signature &signature,
                      const OnnxAttribute &argument) {
  using Type = OnnxAttributeType;
  bool isOptional = !argument.isRequired && hasNoValue(argument);
  auto scalar = [&](const std::string &type, const std::string &literal) {
    return isOptional ? Parameter{"popart::optional<" + type + ">", "{}"}
                      : Parameter{type, argument.isRequired ? "" : literal};
  };
  auto list = [&](const std::string &type) {
    return Parameter{"const std::vector<" + type + "> &",
                     argument.isRequired ? "" : "{}"};
  };
  if (isReduction(argument)) {
    return {"popart::ReductionType", "popart::ReductionType::Mean"};
  }
  switch (argument.type) {
  case Type::Int: {
    const auto *value = std::get_if<Attributes::Int>(&argument.fallback);
    return scalar("std::int64_t", std::to_string(value ? *value : 0));
  }
  case Type::Float: {
    const auto *value = std::get_if<Attributes::Float>(&argument.fallback);
    return scalar("float", floatLiteral(value ? *value : 0));
  }
  case Type::String: {
    const auto *value = std::get_if<Attributes::String>(&argument.fallback);
    return {"const std::string &",
            argument.isRequired ? "" : quote(value ? *value : "")};
  }
  case Type::Ints:
    // No axes and a list of none are different things for a reduction.
    return signature.type.rfind("Reduce", 0) == 0 && isOptional
               ? Parameter{"const popart::optional<std::vector<std::int64_t>> "
                           "&",
                           "{}"}
               : list("std::int64_t");
  case Type::Floats:
    return list("float");
  case Type::Strings:
    return list("std::string");
  case Type::Tensor:
    return {"const popart::optional<ConstVoidData> &",
            argument.isRequired ? "" : "{}"};
  case Type::Graph:
    return {"ModelBuilder &", ""};
  case Type::SparseTensor:
    break;
  }
  return {};
}

std::string inputsOf(const Signature &signature) {
  switch (signature.inputs) {
  case BuilderInputs::None:
    return "{}";
  case BuilderInputs::One:
    return "{arg}";
  case BuilderInputs::List:
  case BuilderInputs::OptionalList:
    return "args";
  }
  return {};
}

// "lambda" and the like are no keywords of C++.
void writeMethod(std::ostream &out, const Signature &signature) {
  bool isOne = signature.outputs == Signature::Outputs::One;
  bool isCounted = signature.outputs == Signature::Outputs::Counted;
  std::vector<std::string> parameters;
  if (signature.inputs == BuilderInputs::One) {
    parameters.emplace_back("const TensorId &arg");
  } else if (signature.inputs != BuilderInputs::None) {
    bool isOptional = signature.inputs == BuilderInputs::OptionalList;
    parameters.emplace_back(isOptional
                                ? "const std::vector<TensorId> &args = {}"
                                : "const std::vector<TensorId> &args");
  }
  if (isCounted) {
    parameters.push_back("unsigned num_outputs");
  }
  const std::string context = "const DebugContext &debugContext = {}";
  int before = signature.argumentsBeforeContext;
  for (const OnnxAttribute &argument : signature.arguments) {
    if (before-- == 0) {
      parameters.push_back(context);
    }
    Parameter parameter = parameterOf(signature, argument);
    bool isReference = parameter.type.back() == '&';
    parameters.push_back(
        parameter.type + (isReference ? "" : " ") + argument.name +
        (parameter.fallback.empty() ? "" : " = " + parameter.fallback));
  }
  if (before >= 0 || signature.argumentsBeforeContext < 0) {
    parameters.push_back(context);
  }
  out << "  " << (isOne ? "TensorId" : "std::vector<TensorId>") << " "
      << signature.method << "(\n      "
      << fmt::format("{}", fmt::join(parameters, ",\n      ")) << ") {\n"
      << "    Arguments arguments;\n";
  for (const OnnxAttribute &argument : signature.arguments) {
    bool isTypeName = signature.special == Signature::Special::Cast;
    out << fmt::format("    setArgument(arguments, {}, {}{}{});\n",
                       quote(argument.name), isTypeName ? "typeNumber(" : "",
                       argument.name, isTypeName ? ")" : "");
  }
  out << fmt::format(
      "    return addNode({}, {}, {}, arguments, debugContext){};\n"
      "  }}\n",
      quote(signature.type), inputsOf(signature),
      isCounted ? "num_outputs" : std::to_string(signature.outputCount) + "u",
      isOne ? "[0]" : "");
}

// Not another opset, whose methods it also has.
bool isRoot(const std::string &base) {
  return base == "DomainOpSet" || base == "GraphcoreOpSet";
}

void writeClass(std::ostream &out, const std::string &name,
                const std::string &base, const std::string &domain, int version,
                const std::vector<Signature> &signatures) {
  out << fmt::format("\nclass {} : public {} {{\npublic:\n"
                     "  explicit {}(ModelBuilder &builder)\n"
                     "      : {}(builder{}) {{}}\n",
                     name, base, name, base,
                     isRoot(base)
                         ? fmt::format(", {}, {}", quote(domain), version)
                         : ", " + std::to_string(version));
  for (const Signature &signature : signatures) {
    writeMethod(out, signature);
  }
  out << fmt::format("\nprotected:\n  {}(ModelBuilder &builder, int version)\n"
                     "      : {}(builder{}version) {{}}\n}};\n",
                     name, base,
                     isRoot(base) ? ", " + quote(domain) + ", "
                                  : std::string(", "));
}

// Each class has what is new or different in its opset.
void writeAiOnnx(std::ostream &out) {
  std::string base = "DomainOpSet";
  std::map<std::string, int> versions;
  for (int opset = 6; opset <= 11; ++opset) {
    std::vector<Signature> changed;
    for (const Signature &signature : aiOnnxSignatures(opset)) {
      if (versions[signature.method] != signature.version) {
        versions[signature.method] = signature.version;
        changed.push_back(signature);
      }
    }
    std::string name = "AiOnnxOpset" + std::to_string(opset);
    writeClass(out, name, base, "ai.onnx", opset, changed);
    base = name;
  }
}

void writeIdentifiers(std::ostream &out, const std::string &scope,
                      const std::vector<Signature> &signatures,
                      bool isVersionInName) {
  out << "namespace " << scope << " {\n";
  for (const Signature &signature : signatures) {
    out << fmt::format(
        "constexpr KnownOperator {}{}{{{}, {}, {}}};\n", signature.type,
        isVersionInName ? "_" + std::to_string(signature.version) : "",
        quote(signature.domain), quote(signature.type), signature.version);
  }
  out << "} // namespace " << scope << "\n";
}

// Operators that no model has: variants that run in place, gradients, updates.
void writeInternalIdentifiers(std::ostream &out) {
  std::vector<std::pair<std::string, std::string>> names;
  for (const std::string &type : operatorVariants()) {
    names.emplace_back("ai.graphcore", type);
  }
  for (const OpRule *rule : allOpRules()) {
    if (rule->domain == "aspen") {
      names.emplace_back(rule->domain, rule->type);
    }
  }
  for (const char *scope :
       {"CustomOperators", "GradOperators", "CustomGradOperators"}) {
    out << "namespace " << scope << " {\n";
    for (const auto &[domain, type] : names) {
      out << fmt::format("constexpr KnownOperator {}{{{}, {}, 1}};\n", type,
                         quote(domain), quote(type));
    }
    out << "} // namespace " << scope << "\n";
  }
}

// Onnx::Operators::Add_7, Onnx::AiOnnx::OpSet9::Add and so on.
std::string identifiersText() {
  std::ostringstream out;
  out << start("knownoperator.hpp") << "namespace Onnx {\n";
  std::map<std::string, Signature> all;
  out << "namespace AiOnnx {\n";
  for (int opset = 6; opset <= 11; ++opset) {
    std::vector<Signature> signatures = aiOnnxSignatures(opset);
    writeIdentifiers(out, "OpSet" + std::to_string(opset), signatures, false);
    for (const Signature &signature : signatures) {
      all[fmt::format("{}_{}", signature.type, signature.version)] = signature;
    }
  }
  out << "} // namespace AiOnnx\nnamespace AiGraphcore {\n";
  writeIdentifiers(out, "OpSet1", aiGraphcoreSignatures(), false);
  out << "} // namespace AiGraphcore\n";
  std::vector<Signature> versions;
  for (const auto &[name, signature] : all) {
    versions.push_back(signature);
  }
  writeIdentifiers(out, "Operators", versions, true);
  writeIdentifiers(out, "CustomOperators", aiGraphcoreSignatures(), true);
  writeInternalIdentifiers(out);
  out << "} // namespace Onnx\n} // namespace popart\n";
  return out.str();
}

std::string opsetsText() {
  std::ostringstream out;
  out << start("domainopset.hpp");
  writeAiOnnx(out);
  writeClass(out, "AiOnnxMlOpset1", "DomainOpSet", "ai.onnx.ml", 1,
             aiOnnxMlSignatures());
  writeClass(out, "AiGraphcoreOpset1", "GraphcoreOpSet", "ai.graphcore", 1,
             aiGraphcoreSignatures());
  out << "\n} // namespace popart\n";
  return out.str();
}

// A file that stays as it is makes nobody compile again.
bool write(const char *file, const std::string &text) {
  std::ifstream old(file);
  if (std::string(std::istreambuf_iterator<char>(old), {}) == text) {
    return true;
  }
  std::ofstream out(file);
  out << text;
  return bool(out);
}

} // namespace
} // namespace popart

int main(int count, char **arguments) {
  if (count != 3) {
    std::cerr << "usage: popart_opsets <opsets.hpp> <opidentifiers.hpp>\n";
    return 1;
  }
  bool isDone = popart::write(arguments[1], popart::opsetsText()) &&
                popart::write(arguments[2], popart::identifiersText());
  return isDone ? 0 : 1;
}
