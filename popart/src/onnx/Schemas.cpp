// A view of ONNX's registry without its headers.
#include <onnx/Schemas.hpp>

#include <onnx/Proto.hpp>

#include <onnx/defs/schema.h>

#include <set>

namespace popart {
namespace {

using Proto = onnx::AttributeProto;

std::optional<OnnxAttributeType> typeOf(Proto::AttributeType type) {
  switch (type) {
  case Proto::INT:
    return OnnxAttributeType::Int;
  case Proto::FLOAT:
    return OnnxAttributeType::Float;
  case Proto::STRING:
    return OnnxAttributeType::String;
  case Proto::INTS:
    return OnnxAttributeType::Ints;
  case Proto::FLOATS:
    return OnnxAttributeType::Floats;
  case Proto::STRINGS:
    return OnnxAttributeType::Strings;
  case Proto::TENSOR:
    return OnnxAttributeType::Tensor;
  case Proto::SPARSE_TENSOR:
    return OnnxAttributeType::SparseTensor;
  case Proto::GRAPH:
    return OnnxAttributeType::Graph;
  default:
    return std::nullopt;
  }
}

AttributeSpec::Fallback fallbackOf(const Proto &value) {
  switch (value.type()) {
  case Proto::INT:
    return Attributes::Int{value.i()};
  case Proto::FLOAT:
    return value.f();
  case Proto::STRING:
    return value.s();
  case Proto::INTS:
    return Attributes::Ints(value.ints().begin(), value.ints().end());
  case Proto::FLOATS:
    return Attributes::Floats(value.floats().begin(), value.floats().end());
  default:
    return std::monostate{};
  }
}

std::vector<OnnxOperator::Operand>
operandsOf(const std::vector<onnx::OpSchema::FormalParameter> &parameters) {
  std::vector<OnnxOperator::Operand> result;
  for (const auto &parameter : parameters) {
    result.push_back({parameter.GetName(), parameter.GetTypeStr()});
  }
  return result;
}

// As ONNX spells it.
std::string registered(const std::string &domain) {
  return domain == "ai.onnx" ? "" : domain;
}

} // namespace

std::optional<OnnxOperator> findOnnxOperator(const std::string &type, int opset,
                                             const std::string &domain) {
  const onnx::OpSchema *schema =
      onnx::OpSchemaRegistry::Schema(type, opset, registered(domain));
  if (!schema) {
    return std::nullopt;
  }
  OnnxOperator result{type,
                      schema->since_version(),
                      schema->deprecated(),
                      schema->min_input(),
                      schema->max_input(),
                      schema->min_output(),
                      schema->max_output(),
                      {},
                      operandsOf(schema->inputs()),
                      operandsOf(schema->outputs())};
  for (const auto &[name, attribute] : schema->attributes()) {
    if (auto attributeType = typeOf(attribute.type)) {
      result.attributes.push_back({name, *attributeType, attribute.required,
                                   fallbackOf(attribute.default_value)});
    }
  }
  return result;
}

std::vector<std::string> onnxOperatorTypes(const std::string &domain) {
  std::set<std::string> names;
  for (const onnx::OpSchema &schema :
       onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    if (schema.domain() == registered(domain)) {
      names.insert(schema.Name());
    }
  }
  return {names.begin(), names.end()};
}

} // namespace popart
