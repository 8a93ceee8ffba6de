// How a shared object of the user's makes operators known: by static objects,
// when it is loaded.
#pragma once

#include <popart/error.hpp>
#include <popart/graph.hpp>
#include <popart/op.hpp>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace popart {

// What an operator takes and gives; documentation only.
class OpDefinition {
public:
  using DataTypes = std::vector<DataType>;
  struct Input {
    Input(std::string name, DataTypes types, bool isConstant = false)
        : name(std::move(name)), supportedTensors(std::move(types)),
          constant(isConstant) {}
    std::string name;
    DataTypes supportedTensors;
    bool constant;
  };
  struct Output {
    Output(std::string name, DataTypes types)
        : name(std::move(name)), supportedTensors(std::move(types)) {}
    std::string name;
    DataTypes supportedTensors;
  };
  struct Attribute {
    // NOLINTNEXTLINE(google-explicit-constructor): {"alpha", {"*"}}
    Attribute(std::string regex) : supportedValuesRegex(std::move(regex)) {}
    std::string supportedValuesRegex;
  };
  using Inputs = std::vector<Input>;
  using Outputs = std::vector<Output>;
  using Attributes = std::map<std::string, Attribute>;

  OpDefinition() = default;
  OpDefinition(Inputs inputs, Outputs outputs, Attributes attributes)
      : inputs(std::move(inputs)), outputs(std::move(outputs)),
        attributes(std::move(attributes)) {}

  Inputs inputs;
  Outputs outputs;
  Attributes attributes;
};

using OpDefinitions = std::map<OperatorIdentifier, OpDefinition>;

// What is known of an operation that is about to be made.
class OpCreatorInfo {
public:
  OpCreatorInfo(const OperatorIdentifier &opid, const Op::Settings &settings,
                const Attributes &attributes, std::vector<TensorId> inputIds,
                std::vector<TensorId> outputIds)
      : opid(opid), settings(settings), attributes(attributes),
        inputIds_(std::move(inputIds)), outputIds_(std::move(outputIds)) {}

  const OperatorIdentifier &opid;
  const Op::Settings &settings;
  const Attributes &attributes;

  bool hasInputIds() const { return !inputIds_.empty(); }
  const std::vector<TensorId> &getInputIds() const { return inputIds_; }
  const std::vector<TensorId> &getOutputIds() const { return outputIds_; }
  bool hasInputTensor(int index) const;
  // Throws popart::error when there is no such input.
  Tensor *getInputTensor(int index) const;
  // The same, and when its elements are not known.
  TensorData *getInputTensorData(int index) const;
  const TensorInfo &getInputTensorInfo(int index) const;
  std::string debugName() const;

  // The elements of an input that must be a constant of T's size.
  template <typename T> std::vector<T> getInputData(int index) const {
    const std::vector<char> &bytes = inputBytes(index, sizeof(T));
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  // The same of a constant of one of these types, as numbers of T.
  template <typename T>
  std::vector<T> getInputData(int index,
                              const std::set<DataType> &types) const {
    std::vector<T> values;
    for (double number : inputNumbers(index, types)) {
      values.push_back(static_cast<T>(number));
    }
    return values;
  }
  template <typename T> T getInputScalarValue(int index) const {
    std::vector<T> values = getInputData<T>(index);
    if (values.size() != 1) {
      throw error("[{}] input {} has {} elements, not one", debugName(), index,
                  values.size());
    }
    return values[0];
  }
  template <typename T> T getInputScalarValue(int index, T fallback) const {
    return hasInputTensor(index) ? getInputScalarValue<T>(index) : fallback;
  }

private:
  const std::vector<char> &inputBytes(int index, std::size_t elementSize) const;
  std::vector<double> inputNumbers(int index,
                                   const std::set<DataType> &types) const;

  std::vector<TensorId> inputIds_;
  std::vector<TensorId> outputIds_;
};

// The operators that shared objects have registered.
class OpManager {
public:
  using OpFactoryFunc =
      std::function<std::unique_ptr<Op>(const OpCreatorInfo &)>;
  // Adds what it makes to the graph, with the outputs of the given ids.
  using ComplexOpFactoryFunc =
      std::function<Op *(const OpCreatorInfo &, Graph &)>;

  // Of several registrations of one operator the first counts.
  static void registerOp(const OperatorIdentifier &opid,
                         const OpDefinition &definition, bool isPublic,
                         OpFactoryFunc factory);
  static void registerOp(const OperatorIdentifier &opid,
                         const OpDefinition &definition, bool isPublic,
                         ComplexOpFactoryFunc factory);

  // The greatest version of an operator that is at most `opset`; null when
  // there is none.
  static const OperatorIdentifier *find(const std::string &domain,
                                        const std::string &type, int opset);
  static const OpDefinition &getDefinition(const OperatorIdentifier &opid);
  static std::vector<OperatorIdentifier> getSupportedOperations();

  // A built-in or a registered operation, connected to nothing.
  static std::unique_ptr<Op> createOp(const OperatorIdentifier &opid,
                                      Graph &graph,
                                      const Op::Settings &settings,
                                      const Attributes &attributes = {});
  // A registered one, with its inputs and outputs.
  static Op &createOpInGraph(const OpCreatorInfo &info, Graph &graph);
};

// Registers the class OP when it is made.
template <typename OP> class OpCreator {
public:
  // OP's constructor takes (opid, settings).
  explicit OpCreator(const OpDefinitions &definitions) {
    registerAll(definitions, true, defaultFactory());
  }
  // A template, or functions without captures would count as bool.
  template <typename Flag, typename = typename std::enable_if<
                               std::is_same<Flag, bool>::value>::type>
  OpCreator(const OpDefinitions &definitions, Flag isPublic) {
    registerAll(definitions, isPublic, defaultFactory());
  }
  OpCreator(const OpDefinitions &definitions, OpManager::OpFactoryFunc factory,
            bool isPublic = true) {
    registerAll(definitions, isPublic, factory);
  }
  OpCreator(const OpDefinitions &definitions,
            OpManager::ComplexOpFactoryFunc factory, bool isPublic = true) {
    registerAll(definitions, isPublic, factory);
  }

private:
  static OpManager::OpFactoryFunc defaultFactory() {
    return [](const OpCreatorInfo &info) {
      return std::unique_ptr<Op>(new OP(info.opid, info.settings));
    };
  }
  template <typename Factory>
  static void registerAll(const OpDefinitions &definitions, bool isPublic,
                          const Factory &factory) {
    for (const auto &entry : definitions) {
      OpManager::registerOp(entry.first, entry.second, isPublic, factory);
    }
  }
};

} // namespace popart
