// Which operators there are, and the reserved names.
#include "Bindings.hpp"

#include <onnx/Schemas.hpp>
#include <ops/OpRule.hpp>
#include <popart/tensornames.hpp>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>

namespace popart::python {
namespace {

namespace py = pybind11;

std::vector<OperatorIdentifier> supportedOperations(bool includeInternal) {
  std::vector<OperatorIdentifier> result;
  for (const OpRule *rule : allOpRules()) {
    bool isOnnx = rule->domain == "ai.onnx";
    if (rule->domain == "aspen" && !includeInternal) {
      continue;
    }
    for (int version : rule->schema.versions) {
      result.push_back({rule->domain, rule->type, version});
    }
    if (!isOnnx && rule->schema.versions.empty()) {
      result.push_back({rule->domain, rule->type, 1});
    }
  }
  return result;
}

std::vector<OperatorIdentifier> unsupportedOperations(int opset) {
  std::vector<OperatorIdentifier> result;
  for (const std::string &type : onnxOperatorTypes()) {
    auto schema = findOnnxOperator(type, opset);
    if (!schema || schema->isDeprecated) {
      continue;
    }
    OperatorIdentifier opid{"ai.onnx", type, schema->sinceVersion};
    const OpRule *rule = findOpRule(opid);
    // Constants are tensors, not operations.
    bool isThere =
        type == "Constant" ||
        (rule && std::count(rule->schema.versions.begin(),
                            rule->schema.versions.end(), opid.version) > 0);
    if (!isThere) {
      result.push_back(opid);
    }
  }
  return result;
}

// Since-versions, and names of the first input's types (empty: all), by type.
py::dict operationTypes() {
  py::dict result;
  for (const OpRule *rule : allOpRules()) {
    if (rule->domain == "ai.onnx" && !rule->schema.versions.empty()) {
      py::list types;
      for (DataType type : rule->schema.types) {
        types.append(TensorInfo(type, {}).data_type());
      }
      result[py::str(rule->type)] =
          py::make_tuple(rule->schema.versions, types);
    }
  }
  return result;
}

std::span<const DataType> typesOf(const OpRule &rule) {
  return rule.schema.types.empty() ? types::all() : rule.schema.types;
}

// (name, types) for each; the rule's types are those of the first input.
py::list operandsOf(const OpRule &rule, const OnnxOperator &schema,
                    const std::vector<OnnxOperator::Operand> &operands) {
  py::list result;
  for (const OnnxOperator::Operand &operand : operands) {
    bool isFirst =
        !schema.inputs.empty() && operand.type == schema.inputs.front().type;
    auto types = isFirst ? typesOf(rule) : types::all();
    result.append(py::make_tuple(
        operand.name, std::vector<DataType>(types.begin(), types.end())));
  }
  return result;
}

// (identifier, inputs, outputs, names of attributes) for each operator. Only
// ONNX names the operands of its operators.
py::list operationDefinitions(bool includeInternal) {
  py::list result;
  for (const OperatorIdentifier &opid : supportedOperations(includeInternal)) {
    const OpRule &rule = *findOpRule(opid);
    OnnxOperator schema;
    if (opid.domain == "ai.onnx") {
      schema = *findOnnxOperator(opid.type, opid.version);
    } else {
      schema.inputs = {{"inputs", ""}};
      schema.outputs.assign(static_cast<std::size_t>(rule.schema.outputs),
                            {"output", ""});
    }
    py::list attributes;
    for (const OnnxAttribute &attribute : schema.attributes) {
      attributes.append(attribute.name);
    }
    for (const AttributeSpec &attribute : rule.schema.attributes) {
      attributes.append(attribute.name);
    }
    result.append(py::make_tuple(opid, operandsOf(rule, schema, schema.inputs),
                                 operandsOf(rule, schema, schema.outputs),
                                 attributes));
  }
  return result;
}

std::map<std::string, std::string> reservedPrefixes() {
  std::map<std::string, std::string> result;
#define POPART_PREFIX(NAME, PREFIX) result[#NAME] = PREFIX;
#define POPART_SCALARS(NAME, SCALAR)                                           \
  result["Default" #NAME] = SCALAR "___default___";                            \
  result["Specific" #NAME] = SCALAR "___specific___";
  POPART_RESERVED_PREFIXES(POPART_PREFIX)
  POPART_RESERVED_SCALARS(POPART_SCALARS)
#undef POPART_SCALARS
#undef POPART_PREFIX
  return result;
}

} // namespace

void initOperators(py::module_ &module) {
  py::class_<OperatorIdentifier>(module, "OperatorIdentifier")
      .def(py::init([](const std::string &domain, const std::string &type,
                       int version) {
             return OperatorIdentifier{domain, type, version};
           }),
           py::arg("domain"), py::arg("type"), py::arg("version"))
      .def_readonly("domain", &OperatorIdentifier::domain)
      .def_readonly("type", &OperatorIdentifier::type)
      .def_readonly("version", &OperatorIdentifier::version)
      .def("__eq__", [](const OperatorIdentifier &a,
                        const OperatorIdentifier &b) { return a == b; })
      .def("__hash__",
           [](const OperatorIdentifier &opid) {
             return py::hash(
                 py::make_tuple(opid.domain, opid.type, opid.version));
           })
      .def("__repr__", [](const OperatorIdentifier &opid) {
        return fmt::format("{}.{}:{}", opid.domain, opid.type, opid.version);
      });
  module.def("getSupportedOperations", &supportedOperations,
             py::arg("includeInternal"));
  module.def("getUnsupportedOperations", &unsupportedOperations,
             py::arg("opsetVersion"));
  module.def("_operationTypes", &operationTypes);
  module.def("_operationDefinitions", &operationDefinitions);
  module.def("_reservedPrefixes", &reservedPrefixes);
}

} // namespace popart::python
