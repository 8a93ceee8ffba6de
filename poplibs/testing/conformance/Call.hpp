// One call of a library's operation by the conformance tests: its tensors and
// parameters come from a row of a table in Python, its results go back there.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace conformance {

// What a row may give as a parameter.
using Value = std::variant<bool, std::int64_t, double, std::string,
                           std::vector<std::int64_t>, std::vector<double>,
                           std::vector<std::string>>;

// By the name that it prints: "half", "unsigned int".
poplar::Type typeOf(const std::string &name);

class Call {
public:
  Call(const poplar::Target &target, unsigned replicas)
      : graph_(target, poplar::replication_factor(replicas)) {}

  poplar::Graph &graph() { return graph_; }
  poplar::program::Sequence &program() { return program_; }

  // An input of the row. Throws std::invalid_argument if it has none so named.
  const poplar::Tensor &tensor(const std::string &name) const;
  bool hasTensor(const std::string &name) const {
    return tensors_.contains(name);
  }

  // A parameter of the row: numbers, bool, std::string, vectors of numbers and
  // of strings, poplar::Type.
  template <typename T> T get(const std::string &name) const;
  template <typename T> T get(const std::string &name, T otherwise) const {
    return values_.contains(name) ? get<T>(name) : otherwise;
  }
  const poplar::OptionFlags &options() const { return options_; }

  // A result. One that is also an input shows what the operation did in place.
  void output(const std::string &name, const poplar::Tensor &tensor) {
    outputs_.emplace_back(name, tensor);
  }

  // Of the one who makes the call.
  void setTensor(const std::string &name, const poplar::Tensor &tensor) {
    tensors_[name] = tensor;
  }
  void setValue(const std::string &name, Value value) {
    values_[name] = std::move(value);
  }
  void setOption(const std::string &name, const std::string &value) {
    options_.set(name, value);
  }
  const std::vector<std::pair<std::string, poplar::Tensor>> &outputs() const {
    return outputs_;
  }

private:
  const Value &value(const std::string &name) const;

  poplar::Graph graph_;
  poplar::program::Sequence program_;
  std::map<std::string, poplar::Tensor> tensors_;
  std::map<std::string, Value> values_;
  poplar::OptionFlags options_;
  std::vector<std::pair<std::string, poplar::Tensor>> outputs_;
};

using Operation = void (*)(Call &);

// The operations of all libraries by name, "popops.reduce".
using Operations = std::map<std::string, Operation>;

} // namespace conformance
