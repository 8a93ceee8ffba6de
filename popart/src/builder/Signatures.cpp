// Signatures follow from schemas by one rule: required attributes in
// alphabetical order, then optional ones; what is an exception is listed.
#include <builder/Signatures.hpp>

#include <ops/OpRule.hpp>
#include <support/Text.hpp>

#include <algorithm>
#include <tuple>

namespace popart {
namespace {

std::string methodName(const std::string &type) {
  for (const char *keyword : {"And", "Or", "Xor", "Not", "If"}) {
    if (type == keyword) {
      return methodName("logical_" + type);
    }
  }
  return support::lowerCase(type);
}

std::string graphcoreMethodName(const std::string &type) {
  return type == "NormalizeImage"    ? "normalize_image"
         : type == "PackedDataBlock" ? "packedDataBlock"
                                     : methodName(type);
}

// Its lists of lists have a method that is written by hand.
bool isBuiltByHand(const std::string &type) {
  return type == "MultiConv";
}

// Attributes that no method takes. Sparse constants are refused anyway.
bool isLeftOut(const std::string &type, const OnnxAttribute &attribute) {
  return attribute.name == "auto_pad" ||
         attribute.type == OnnxAttributeType::SparseTensor ||
         (type == "Constant" && attribute.name != "value");
}

void sortArguments(std::vector<OnnxAttribute> &arguments) {
  std::sort(arguments.begin(), arguments.end(),
            [](const OnnxAttribute &a, const OnnxAttribute &b) {
              return std::make_tuple(!a.isRequired, a.name) <
                     std::make_tuple(!b.isRequired, b.name);
            });
}

Signature fromOnnx(const OnnxOperator &schema, const std::string &domain) {
  Signature result;
  result.method = methodName(schema.type);
  result.domain = domain;
  result.type = schema.type;
  result.version = schema.sinceVersion;
  result.inputs =
      schema.maxInputs > 0 ? BuilderInputs::List : BuilderInputs::None;
  if (schema.minOutputs != schema.maxOutputs) {
    result.outputs = Signature::Outputs::Counted;
  } else if (schema.maxOutputs > 1) {
    result.outputs = Signature::Outputs::Listed;
    result.outputCount = schema.maxOutputs;
  }
  for (const OnnxAttribute &attribute : schema.attributes) {
    if (!isLeftOut(schema.type, attribute)) {
      result.arguments.push_back(attribute);
    }
  }
  if (schema.type == "Cast") {
    result.special = Signature::Special::Cast;
    result.arguments[0].type = OnnxAttributeType::String;
  } else if (schema.type == "Constant") {
    result.special = Signature::Special::Constant;
    result.arguments[0].isRequired = true; // from opset 11 one of several
  }
  sortArguments(result.arguments);
  return result;
}

OnnxAttributeType typeOf(const AttributeSpec::Fallback &fallback) {
  struct Visitor {
    OnnxAttributeType operator()(std::monostate) const {
      return OnnxAttributeType::Int;
    }
    OnnxAttributeType operator()(Attributes::Int) const {
      return OnnxAttributeType::Int;
    }
    OnnxAttributeType operator()(Attributes::Float) const {
      return OnnxAttributeType::Float;
    }
    OnnxAttributeType operator()(const Attributes::String &) const {
      return OnnxAttributeType::String;
    }
    OnnxAttributeType operator()(const Attributes::Ints &) const {
      return OnnxAttributeType::Ints;
    }
    OnnxAttributeType operator()(const Attributes::Floats &) const {
      return OnnxAttributeType::Floats;
    }
  };
  return std::visit(Visitor{}, fallback);
}

std::vector<Signature> signaturesOf(const std::string &domain, int opset) {
  std::vector<Signature> result;
  for (const std::string &type : onnxOperatorTypes(domain)) {
    auto schema = findOnnxOperator(type, opset, domain);
    if (schema) {
      result.push_back(fromOnnx(*schema, domain));
    }
  }
  return result;
}

} // namespace

std::vector<Signature> aiOnnxSignatures(int opset) {
  return signaturesOf("ai.onnx", opset);
}

std::vector<Signature> aiOnnxMlSignatures() {
  return signaturesOf("ai.onnx.ml", 1);
}

std::vector<Signature> aiGraphcoreSignatures() {
  std::vector<Signature> result;
  for (const OpRule *rule : allOpRules()) {
    if (rule->domain != "ai.graphcore" || isBuiltByHand(rule->type)) {
      continue;
    }
    Signature signature;
    signature.method = graphcoreMethodName(rule->type);
    signature.domain = rule->domain;
    signature.type = rule->type;
    signature.outputCount = rule->schema.outputs;
    signature.inputs = rule->schema.inputs;
    signature.argumentsBeforeContext = rule->schema.argumentsBeforeContext;
    if (rule->schema.outputs != 1) {
      signature.outputs = rule->schema.outputs == 0
                              ? Signature::Outputs::Counted
                              : Signature::Outputs::Listed;
    }
    for (const AttributeSpec &spec : rule->schema.attributes) {
      signature.arguments.push_back(
          {spec.name,
           spec.isGraph ? OnnxAttributeType::Graph : typeOf(spec.fallback),
           spec.isRequired, spec.fallback});
    }
    result.push_back(signature);
  }
  return result;
}

} // namespace popart
