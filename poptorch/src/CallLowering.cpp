#include "CallLowering.hpp"

#include "Error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace poptorch {
namespace {

using popart::DataType;
using popart::TensorId;

template <typename T> std::vector<char> bytesOf(double value, std::size_t n) {
  std::vector<T> values(n, static_cast<T>(value));
  std::vector<char> bytes(n * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// `n` elements of `type`; halves are made by a cast instead.
std::vector<char> constantData(double value, DataType type, std::size_t n) {
  switch (type) {
  case DataType::FLOAT:
    return bytesOf<float>(value, n);
  case DataType::INT32:
    return bytesOf<std::int32_t>(value, n);
  case DataType::INT16:
    return bytesOf<std::int16_t>(value, n);
  case DataType::INT8:
    return bytesOf<std::int8_t>(value, n);
  case DataType::UINT8:
    return bytesOf<std::uint8_t>(value, n);
  case DataType::BOOL:
    return bytesOf<std::uint8_t>(value != 0, n);
  default:
    throw Error("constants of this type are not supported");
  }
}

} // namespace

CallLowering::CallLowering(popart::Graph &graph, const TraceRecord &record,
                           const TracedCall &call, Ids &tensors,
                           popart::Op::Settings settings,
                           std::string popartType, bool isTraining)
    : graph_(graph), record_(record), call_(call), ids_(tensors),
      settings_(std::move(settings)), popartType_(std::move(popartType)),
      isTraining_(isTraining) {}

bool CallLowering::isNone(std::size_t i) const {
  return i >= call_.arguments.size() ||
         std::holds_alternative<std::monostate>(call_.arguments[i]);
}

bool CallLowering::isTensor(std::size_t i) const {
  return i < call_.arguments.size() &&
         std::holds_alternative<TensorReference>(call_.arguments[i]);
}

TensorId CallLowering::tensor(std::size_t i) {
  if (!isTensor(i)) {
    return scalar(real(i), scalarType());
  }
  auto number = std::get<TensorReference>(call_.arguments[i]).number;
  return ids_.at(static_cast<std::size_t>(number));
}

TensorId CallLowering::tensorAs(std::size_t i, DataType type) {
  return isTensor(i) ? cast(tensor(i), type) : scalar(real(i), type);
}

CallLowering::Ids CallLowering::tensors(std::size_t i) {
  Ids ids;
  for (TensorReference reference :
       std::get<std::vector<TensorReference>>(call_.arguments.at(i))) {
    ids.push_back(reference.number < 0
                      ? TensorId()
                      : ids_.at(static_cast<std::size_t>(reference.number)));
  }
  return ids;
}

bool CallLowering::boolean(std::size_t i) const {
  return real(i) != 0;
}

std::int64_t CallLowering::integer(std::size_t i) const {
  const auto &argument = call_.arguments.at(i);
  if (const auto *value = std::get_if<std::int64_t>(&argument)) {
    return *value;
  }
  return static_cast<std::int64_t>(real(i));
}

double CallLowering::real(std::size_t i) const {
  const auto &argument = call_.arguments.at(i);
  if (const auto *value = std::get_if<double>(&argument)) {
    return *value;
  }
  if (const auto *value = std::get_if<std::int64_t>(&argument)) {
    return static_cast<double>(*value);
  }
  if (const auto *value = std::get_if<bool>(&argument)) {
    return *value ? 1 : 0;
  }
  fail(fmt::format("argument {} must be a number that is known when the model "
                   "is compiled",
                   i));
}

std::string CallLowering::string(std::size_t i) const {
  return std::get<std::string>(call_.arguments.at(i));
}

std::vector<std::int64_t> CallLowering::integers(std::size_t i) const {
  const auto &argument = call_.arguments.at(i);
  if (const auto *values = std::get_if<std::vector<std::int64_t>>(&argument)) {
    return *values;
  }
  return {integer(i)};
}

std::vector<std::int64_t> CallLowering::integers(std::size_t i,
                                                 std::size_t count,
                                                 std::int64_t fallback) const {
  auto values = isNone(i) ? std::vector<std::int64_t>() : integers(i);
  if (values.empty()) {
    values.assign(count, fallback);
  } else if (values.size() == 1) {
    values.assign(count, values[0]);
  }
  return values;
}

bool CallLowering::hasResult(std::size_t i) const {
  return i < call_.results.size() && call_.results[i] >= 0;
}

const popart::TensorInfo &CallLowering::resultInfo(std::size_t i) const {
  auto number = static_cast<std::size_t>(call_.results.at(i));
  return record_.tensors.at(number).info;
}

const popart::TensorInfo &CallLowering::info(const TensorId &id) const {
  return graph_.getTensor(id).info;
}

TensorId CallLowering::add(const std::string &type, const Ids &inputs,
                           const popart::Attributes &attributes) {
  return addSeveral("ai.onnx", type, inputs, 1, attributes)[0];
}

TensorId CallLowering::addGraphcore(const std::string &type, const Ids &inputs,
                                    const popart::Attributes &attributes) {
  return addSeveral("ai.graphcore", type, inputs, 1, attributes)[0];
}

CallLowering::Ids
CallLowering::addSeveral(const std::string &domain, const std::string &type,
                         const Ids &inputs, unsigned count,
                         const popart::Attributes &attributes) {
  popart::Op::Settings settings = settings_;
  settings.name += settings.name.empty() ? type : "/" + type;
  return graph_.addOp({domain, type}, inputs, count, attributes, settings);
}

TensorId CallLowering::cast(const TensorId &id, DataType type) {
  if (info(id).dataType() == type) {
    return id;
  }
  return add(
      "Cast", {id},
      popart::Attributes().set("to", popart::TensorInfo(type, {}).data_type()));
}

TensorId CallLowering::reshape(const TensorId &id, const popart::Shape &shape) {
  return this->shape(id) == shape
             ? id
             : add("Reshape", {id}, popart::Attributes().set("shape", shape));
}

TensorId CallLowering::transpose(const TensorId &id,
                                 const std::vector<std::int64_t> &order) {
  if (std::is_sorted(order.begin(), order.end())) {
    return id;
  }
  return add("Transpose", {id}, popart::Attributes().set("perm", order));
}

TensorId CallLowering::times(const TensorId &id, double factor) {
  if (factor == 1) {
    return id;
  }
  return add("Mul", {id, scalar(factor, info(id).dataType())});
}

TensorId CallLowering::plus(const TensorId &id, double term) {
  if (term == 0) {
    return id;
  }
  return add("Add", {id, scalar(term, info(id).dataType())});
}

TensorId CallLowering::scalar(double value, DataType type) {
  return filled(value, popart::TensorInfo(type, {}));
}

TensorId CallLowering::filled(double value, const popart::TensorInfo &info) {
  bool isHalf = info.dataType() == DataType::FLOAT16;
  auto type = isHalf ? DataType::FLOAT : info.dataType();
  auto data = constantData(value, type, static_cast<std::size_t>(info.nelms()));
  TensorId id =
      fmt::format("constant_{}_{}", graph_.getTensorIds().size(), value);
  graph_.addConstant(id, popart::TensorInfo(type, info.shape()), data.data());
  return isHalf ? cast(id, DataType::FLOAT16) : id;
}

void CallLowering::setResult(std::size_t i, TensorId id) {
  if (hasResult(i)) {
    ids_.at(static_cast<std::size_t>(call_.results[i])) =
        cast(id, resultInfo(i).dataType());
  }
}

void CallLowering::fail(const std::string &message) const {
  throw Error(fmt::format("[{}] {}", call_.op, message));
}

DataType CallLowering::scalarType() const {
  return call_.results.empty() ? DataType::FLOAT : resultInfo().dataType();
}

} // namespace poptorch
