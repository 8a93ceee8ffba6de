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
}

} // namespace popart::python
