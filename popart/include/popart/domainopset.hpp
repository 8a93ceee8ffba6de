// What the classes of operators (popart/opsets.hpp, made by the build) have in
// common.
#pragma once

#include <popart/modelbuilder.hpp>
#include <popart/optional.hpp>

#include <map>
#include <string>
#include <vector>

namespace popart {

class DomainOpSet {
public:
  DomainOpSet(ModelBuilder &builder, std::string domain, int version)
      : builder_(&builder), domain_(std::move(domain)), version_(version) {}

  int getOpsetVersion() const { return version_; }

protected:
  using Arguments = ModelBuilder::AttributeMap;

  std::vector<TensorId> addNode(const std::string &type,
                                const std::vector<TensorId> &inputs,
                                unsigned numOutputs, const Arguments &arguments,
                                const DebugContext &debugContext) {
    OperatorIdentifier opid;
    opid.domain = domain_;
    opid.type = type;
    opid.version = version_;
    return builder_->customOp(opid, version_, inputs, numOutputs, arguments,
                              debugContext);
  }

  // Arguments that were left out do not become attributes.
  template <typename T>
  static void setArgument(Arguments &arguments, const std::string &name,
                          const T &value) {
    arguments[name] = value;
  }
  template <typename T>
  static void setArgument(Arguments &arguments, const std::string &name,
                          const std::vector<T> &values) {
    if (!values.empty()) {
      arguments[name] = values;
    }
  }
  template <typename T>
  static void setArgument(Arguments &arguments, const std::string &name,
                          const popart::optional<T> &value) {
    if (value) {
      arguments[name] = *value;
    }
  }
  static void setArgument(Arguments &arguments, const std::string &name,
                          ModelBuilder &subgraph) {
    arguments[name] = &subgraph;
  }

  // ONNX's number of an element type by its name, "FLOAT16".
  static std::int64_t typeNumber(const std::string &name) {
    return onnxTypeNumber(name);
  }

private:
  ModelBuilder *builder_;
  std::string domain_;
  int version_;
};

} // namespace popart
