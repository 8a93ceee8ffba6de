// Writes popart/opsets.hpp: one class for each opset of ai.onnx and one for
// ai.graphcore, with a method for each operator.
//   popart_opsets <file>
#include <builder/Signatures.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

namespace popart {
namespace {

constexpr const char *start =
    R"(// Made by popart/generator from ONNX's schemas and PopART's rules.
#pragma once

#include <popart/domainopset.hpp>

namespace popart {
)";

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

// "lambda" and the like are no keywords of C++.
void writeMethod(std::ostream &out, const Signature &signature) {
  bool isOne = signature.outputs == Signature::Outputs::One;
  bool isCounted = signature.outputs == Signature::Outputs::Counted;
  std::vector<std::string> parameters;
  if (signature.hasInputs) {
    parameters.push_back("const std::vector<TensorId> &args");
  }
  if (isCounted) {
    parameters.push_back("unsigned num_outputs");
  }
  for (const OnnxAttribute &argument : signature.arguments) {
    Parameter parameter = parameterOf(signature, argument);
    bool isReference = parameter.type.back() == '&';
    parameters.push_back(
        parameter.type + (isReference ? "" : " ") + argument.name +
        (parameter.fallback.empty() ? "" : " = " + parameter.fallback));
  }
  parameters.push_back("const DebugContext &debugContext = {}");
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
      quote(signature.type), signature.hasInputs ? "args" : "{}",
      isCounted ? "num_outputs" : std::to_string(signature.outputCount) + "u",
      isOne ? "[0]" : "");
}

void writeClass(std::ostream &out, const std::string &name,
                const std::string &base, const std::string &domain, int version,
                const std::vector<Signature> &signatures) {
  out << fmt::format("\nclass {} : public {} {{\npublic:\n"
                     "  explicit {}(ModelBuilder &builder)\n"
                     "      : {}(builder{}) {{}}\n",
                     name, base, name, base,
                     base == "DomainOpSet"
                         ? fmt::format(", {}, {}", quote(domain), version)
                         : ", " + std::to_string(version));
  for (const Signature &signature : signatures) {
    writeMethod(out, signature);
  }
  out << fmt::format("\nprotected:\n  {}(ModelBuilder &builder, int version)\n"
                     "      : {}(builder{}version) {{}}\n}};\n",
                     name, base,
                     base == "DomainOpSet" ? ", " + quote(domain) + ", "
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

} // namespace
} // namespace popart

int main(int count, char **arguments) {
  if (count != 2) {
    std::cerr << "usage: popart_opsets <file>\n";
    return 1;
  }
  std::ostringstream text;
  text << popart::start;
  popart::writeAiOnnx(text);
  popart::writeClass(text, "AiGraphcoreOpset1", "DomainOpSet", "ai.graphcore",
                     1, popart::aiGraphcoreSignatures());
  text << "\n} // namespace popart\n";
  // A file that stays as it is makes nobody compile again.
  std::ifstream old(arguments[1]);
  if (std::string(std::istreambuf_iterator<char>(old), {}) == text.str()) {
    return 0;
  }
  std::ofstream out(arguments[1]);
  out << text.str();
  return out ? 0 : 1;
}
