// What a row of the aten table works with: one recorded call, its arguments as
// tensors and constants of the IR, and the means to add operations.
#pragma once

#include "TraceRecord.hpp"

#include <popart/graph.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace poptorch {

struct CallOptions {
  bool isTraining = false;
  // What planned operations may use of the IPU's memory, if the user says.
  std::optional<float> availableMemory = {};
  // Tensors that anything reads; null where all may be read.
  const std::set<TensorNumber> *readTensors = nullptr;
};

class CallLowering {
public:
  using Ids = std::vector<popart::TensorId>;

  // `tensors` maps the record's numbers to ids and takes the results.
  CallLowering(popart::Graph &graph, const TraceRecord &record,
               const TracedCall &call, Ids &tensors,
               popart::Op::Settings settings, std::string popartType,
               CallOptions options);

  const TracedCall &call() const { return call_; }
  bool isTraining() const { return options_.isTraining; }
  // The operation that the call's row names.
  const std::string &popartType() const { return popartType_; }

  // Arguments by position. A number where a tensor is wanted becomes a
  // constant of the type of the other operands.
  std::size_t argumentCount() const { return call_.arguments.size(); }
  bool isNone(std::size_t i) const;
  bool isTensor(std::size_t i) const;
  bool isNumber(std::size_t i) const;
  popart::TensorId tensor(std::size_t i);
  popart::TensorId tensorAs(std::size_t i, popart::DataType type);
  Ids tensors(std::size_t i);
  bool boolean(std::size_t i) const;
  std::int64_t integer(std::size_t i) const;
  double real(std::size_t i) const;
  std::string string(std::size_t i) const;
  std::vector<std::int64_t> integers(std::size_t i) const;
  // `integers`, one number standing for `count` equal ones; none at all for
  // `count` times `fallback`.
  std::vector<std::int64_t> integers(std::size_t i, std::size_t count,
                                     std::int64_t fallback) const;

  std::vector<double> reals(std::size_t i) const;
  // The elements of a tensor that is a captured constant of integers.
  bool isConstant(std::size_t i) const; // a tensor
  std::vector<std::int64_t> constantIntegers(std::size_t i) const;

  // Those of a custom operator.
  const popart::Attributes &attributes(std::size_t i) const {
    return record_.attributes.at(string(i));
  }

  // The result's type and shape as torch computed them.
  const popart::TensorInfo &resultInfo(std::size_t i = 0) const;
  bool hasResult(std::size_t i) const;
  // Whether anything reads the result: others need not be computed.
  bool isWanted(std::size_t i) const;
  const popart::TensorInfo &info(const popart::TensorId &id) const;
  const popart::Shape &shape(const popart::TensorId &id) const {
    return info(id).shape();
  }
  popart::DataType type(const popart::TensorId &id) const {
    return info(id).dataType();
  }
  popart::Rank rank(const popart::TensorId &id) const {
    return info(id).rank();
  }
  // `dim` counted from the front.
  static std::int64_t normalise(std::int64_t dim, popart::Rank rank) {
    return dim < 0 ? dim + rank : dim;
  }

  // Operations of ONNX and of Graphcore's own domain, with one result.
  // `version` where ONNX changed its meaning.
  popart::TensorId add(const std::string &type, const Ids &inputs,
                       const popart::Attributes &attributes = {},
                       int version = 1);
  popart::TensorId addGraphcore(const std::string &type, const Ids &inputs,
                                const popart::Attributes &attributes = {});
  Ids addSeveral(const std::string &domain, const std::string &type,
                 const Ids &inputs, unsigned count,
                 const popart::Attributes &attributes = {}, int version = 1);

  // What the operation that computed `id` may use of its IPU's memory.
  void setAvailableMemory(const popart::TensorId &id, float proportion);
  // How the product that computed `id` is cut: PopART's setSerializeMatMul.
  void serializeMatMul(const popart::TensorId &id, const std::string &mode,
                       std::int64_t factor, bool keepsPrecision);

  // The backward pass does not compute `id` again.
  void keep(const popart::TensorId &id);

  // Adds nothing when there is nothing to do.
  popart::TensorId cast(const popart::TensorId &id, popart::DataType type);
  popart::TensorId reshape(const popart::TensorId &id,
                           const popart::Shape &shape);
  popart::TensorId transpose(const popart::TensorId &id,
                             const std::vector<std::int64_t> &order);
  popart::TensorId times(const popart::TensorId &id, double factor);
  popart::TensorId plus(const popart::TensorId &id, double term);
  popart::TensorId scalar(double value, popart::DataType type);
  popart::TensorId filled(double value, const popart::TensorInfo &info);
  popart::TensorId constant(const std::vector<double> &values,
                            const popart::TensorInfo &info);
  popart::TensorId constant(const std::vector<std::int64_t> &values,
                            const popart::Shape &shape); // INT32

  // Another graph of the IR, and the calls of a body in it: arguments of the
  // call are the body and the tensors that it reads besides its inputs, which
  // become inputs of the graph too. Returns the body's outputs.
  popart::Graph &makeGraph(const std::string &stem) const;
  Ids fill(popart::Graph &graph, std::size_t body, std::size_t captured) const;

  // The call's result i: cast to the type that torch gave it.
  void setResult(std::size_t i, popart::TensorId id);

  // Throws poptorch::Error, with the operator's name and the line of the model
  // that called it.
  [[noreturn]] void fail(const std::string &message) const;

private:
  popart::DataType scalarType() const;
  popart::Op *plannedOp(const popart::TensorId &id) const;
  popart::TensorId idOf(TensorNumber number) const;

  popart::Graph &graph_;
  const TraceRecord &record_;
  const TracedCall &call_;
  Ids &ids_;
  popart::Op::Settings settings_;
  std::string popartType_;
  CallOptions options_;
};

} // namespace poptorch
