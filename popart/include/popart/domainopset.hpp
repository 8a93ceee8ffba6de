// What the classes of operators (popart/opsets.hpp, made by the build) have in
// common.
#pragma once

#include <popart/modelbuilder.hpp>
#include <popart/optional.hpp>
#include <popart/reductiontype.hpp>

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
                          ReductionType reduction) {
    arguments[name] = static_cast<std::int64_t>(reduction);
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

// What takes lists of lists.
class GraphcoreOpSet : public DomainOpSet {
public:
  using DomainOpSet::DomainOpSet;

  // Each of `tensors` is a convolution: input, weights and maybe biases. Lists
  // have an entry for each of them, or none for the defaults.
  std::vector<TensorId>
  multiconv(const std::vector<std::vector<TensorId>> &tensors,
            const std::vector<std::vector<std::int64_t>> &dilations = {},
            const std::vector<std::vector<std::int64_t>> &inDilations = {},
            const std::vector<std::vector<std::int64_t>> &pads = {},
            const std::vector<std::vector<std::int64_t>> &outPads = {},
            const std::vector<std::vector<std::int64_t>> &strides = {},
            const std::vector<float> &availableMemoryProportions = {},
            const std::vector<std::string> &partialsTypes = {},
            const popart::optional<std::string> &planType = {},
            const popart::optional<std::int64_t> &perConvReservedTiles = {},
            const popart::optional<float> &cycleBackOff = {},
            const std::vector<std::int64_t> &enableConvDithering = {},
            const DebugContext &debugContext = {}) {
    Arguments arguments;
    std::vector<std::int64_t> counts;
    for (const auto &inputs : tensors) {
      counts.push_back(static_cast<std::int64_t>(inputs.size()));
    }
    setArgument(arguments, "inputCounts", counts);
    setArgument(arguments, "dilations", joined(dilations));
    setArgument(arguments, "inDilations", joined(inDilations));
    setArgument(arguments, "pads", joined(pads));
    setArgument(arguments, "outPads", joined(outPads));
    setArgument(arguments, "strides", joined(strides));
    setArgument(arguments, "availableMemoryProportions",
                availableMemoryProportions);
    setArgument(arguments, "partialsTypes", partialsTypes);
    setArgument(arguments, "planType", planType);
    setArgument(arguments, "perConvReservedTiles", perConvReservedTiles);
    setArgument(arguments, "cycleBackOff", cycleBackOff);
    setArgument(arguments, "enableConvDithering", enableConvDithering);
    return addNode("MultiConv", joined(tensors),
                   static_cast<unsigned>(tensors.size()), arguments,
                   debugContext);
  }

private:
  template <typename T>
  static std::vector<T> joined(const std::vector<std::vector<T>> &lists) {
    std::vector<T> all;
    for (const auto &list : lists) {
      all.insert(all.end(), list.begin(), list.end());
    }
    return all;
  }
};

} // namespace popart
