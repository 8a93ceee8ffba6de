#include "CallLowering.hpp"

#include "Error.hpp"

#include <support/Shape.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace poptorch {
namespace {

using popart::DataType;
using popart::TensorId;

template <typename T>
std::vector<char> bytesOf(const std::vector<double> &values) {
  std::vector<char> bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

// Elements of `type`; halves are made by a cast instead.
std::vector<char> constantData(const std::vector<double> &values,
                               DataType type) {
  switch (type) {
  case DataType::FLOAT:
    return bytesOf<float>(values);
  case DataType::INT32:
    return bytesOf<std::int32_t>(values);
  case DataType::INT16:
    return bytesOf<std::int16_t>(values);
  case DataType::INT8:
    return bytesOf<std::int8_t>(values);
  case DataType::UINT8:
    return bytesOf<std::uint8_t>(values);
  case DataType::BOOL:
    return bytesOf<bool>(values);
  default:
    throw Error("constants of this type are not supported");
  }
}

constexpr const char *availableMemoryAttribute = "__available_memory";

// Of what one torch operator becomes, the parts around the one with a plan.
bool isBesidePlan(const popart::Op &op) {
  const std::string &type = op.opid.type;
  return type == "Add" || type == "Cast" || type == "Reshape" ||
         type == "Transpose";
}

} // namespace

CallLowering::CallLowering(popart::Graph &graph, const TraceRecord &record,
                           const TracedCall &call, Ids &tensors,
                           popart::Op::Settings settings,
                           std::string popartType, CallOptions options)
    : graph_(graph), record_(record), call_(call), ids_(tensors),
      settings_(std::move(settings)), popartType_(std::move(popartType)),
      options_(options) {}

bool CallLowering::isNone(std::size_t i) const {
  return i >= call_.arguments.size() ||
         std::holds_alternative<std::monostate>(call_.arguments[i]);
}

bool CallLowering::isTensor(std::size_t i) const {
  return i < call_.arguments.size() &&
         std::holds_alternative<TensorReference>(call_.arguments[i]);
}

bool CallLowering::isNumber(std::size_t i) const {
  const auto &argument = call_.arguments.at(i);
  return std::holds_alternative<double>(argument) ||
         std::holds_alternative<std::int64_t>(argument) ||
         std::holds_alternative<bool>(argument);
}

TensorId CallLowering::tensor(std::size_t i) {
  if (!isTensor(i)) {
    return scalar(real(i), scalarType());
  }
  return idOf(std::get<TensorReference>(call_.arguments[i]).number);
}

TensorId CallLowering::idOf(TensorNumber number) const {
  const TensorId &id = ids_.at(static_cast<std::size_t>(number));
  if (id.empty()) {
    fail("an argument is a result that its operator does not give on the IPU, "
         "such as the indices of a pooling");
  }
  return id;
}

TensorId CallLowering::tensorAs(std::size_t i, DataType type) {
  return isTensor(i) ? cast(tensor(i), type) : scalar(real(i), type);
}

CallLowering::Ids CallLowering::tensors(std::size_t i) {
  Ids ids;
  for (TensorReference reference :
       std::get<std::vector<TensorReference>>(call_.arguments.at(i))) {
    ids.push_back(reference.number < 0 ? TensorId() : idOf(reference.number));
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

std::vector<double> CallLowering::reals(std::size_t i) const {
  const auto &argument = call_.arguments.at(i);
  if (const auto *values = std::get_if<std::vector<double>>(&argument)) {
    return *values;
  }
  auto values = integers(i);
  return {values.begin(), values.end()};
}

bool CallLowering::isConstant(std::size_t i) const {
  auto number = std::get<TensorReference>(call_.arguments.at(i)).number;
  return std::any_of(
      record_.constants.begin(), record_.constants.end(),
      [number](const auto &constant) { return constant.first == number; });
}

std::vector<std::int64_t> CallLowering::constantIntegers(std::size_t i) const {
  auto number = std::get<TensorReference>(call_.arguments.at(i)).number;
  for (const auto &[constant, data] : record_.constants) {
    if (constant == number &&
        record_.tensors.at(static_cast<std::size_t>(number)).info.dataType() ==
            DataType::INT32) {
      std::vector<std::int32_t> values(data.size() / sizeof(std::int32_t));
      std::memcpy(values.data(), data.data(), data.size());
      return {values.begin(), values.end()};
    }
  }
  fail(fmt::format("argument {} must be a constant tensor of integers", i));
}

bool CallLowering::hasResult(std::size_t i) const {
  return i < call_.results.size() && call_.results[i] >= 0;
}

bool CallLowering::isWanted(std::size_t i) const {
  return hasResult(i) && (!options_.readTensors ||
                          options_.readTensors->count(call_.results[i]) > 0);
}

const popart::TensorInfo &CallLowering::resultInfo(std::size_t i) const {
  auto number = static_cast<std::size_t>(call_.results.at(i));
  return record_.tensors.at(number).info;
}

const popart::TensorInfo &CallLowering::info(const TensorId &id) const {
  return graph_.getTensor(id).info;
}

TensorId CallLowering::add(const std::string &type, const Ids &inputs,
                           const popart::Attributes &attributes, int version) {
  return addSeveral("ai.onnx", type, inputs, 1, attributes, version)[0];
}

TensorId CallLowering::addGraphcore(const std::string &type, const Ids &inputs,
                                    const popart::Attributes &attributes) {
  return addSeveral("ai.graphcore", type, inputs, 1, attributes)[0];
}

CallLowering::Ids CallLowering::addSeveral(const std::string &domain,
                                           const std::string &type,
                                           const Ids &inputs, unsigned count,
                                           const popart::Attributes &attributes,
                                           int version) {
  popart::Op::Settings settings = settings_;
  settings.name += settings.name.empty() ? type : "/" + type;
  popart::Attributes all = attributes;
  if (options_.availableMemory && count == 1) {
    all.set(availableMemoryAttribute, *options_.availableMemory);
  }
  return graph_.addOp({domain, type, version}, inputs, count, all, settings);
}

// The operation that computed `id`; null for what nothing computes.
popart::Op *CallLowering::plannedOp(const TensorId &id) const {
  popart::Op *op = graph_.getTensor(id).producer;
  while (op && isBesidePlan(*op)) {
    op = graph_.getTensor(op->inputs[0]).producer;
  }
  return op;
}

void CallLowering::setAvailableMemory(const TensorId &id, float proportion) {
  if (popart::Op *op = plannedOp(id)) {
    op->attributes.set(availableMemoryAttribute, proportion);
  }
}

void CallLowering::serializeMatMul(const TensorId &id, const std::string &mode,
                                   std::int64_t factor, bool keepsPrecision) {
  if (popart::Op *op = plannedOp(id)) {
    op->attributes.set("__serialize_matmul_mode", mode)
        .set("__serialize_matmul_factor", factor)
        .set("__serialize_matmul_precision",
             popart::Attributes::Int{keepsPrecision});
  }
}

void CallLowering::keep(const TensorId &id) {
  if (popart::Op *op = graph_.getTensor(id).producer) {
    op->settings.recomputeType = popart::RecomputeType::Checkpoint;
  }
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
  return constant(
      std::vector<double>(static_cast<std::size_t>(info.nelms()), value), info);
}

TensorId CallLowering::constant(const std::vector<std::int64_t> &values,
                                const popart::Shape &shape) {
  return constant(std::vector<double>(values.begin(), values.end()),
                  popart::TensorInfo(DataType::INT32, shape));
}

TensorId CallLowering::constant(const std::vector<double> &values,
                                const popart::TensorInfo &info) {
  bool isHalf = info.dataType() == DataType::FLOAT16;
  auto type = isHalf ? DataType::FLOAT : info.dataType();
  auto data = constantData(values, type);
  TensorId id = fmt::format("constant_{}", graph_.getTensorIds().size());
  graph_.addConstant(id, popart::TensorInfo(type, info.shape()), data.data());
  return isHalf ? cast(id, DataType::FLOAT16) : id;
}

void CallLowering::setResult(std::size_t i, TensorId id) {
  if (!hasResult(i)) {
    return;
  }
  const popart::TensorInfo &info = resultInfo(i);
  // What names dimensions computes a scalar as a vector of one. An operator of
  // the user's may have another result than its examples.
  bool isScalar = info.shape().empty() && support::elementCount(shape(id)) == 1;
  id = isScalar ? reshape(id, {}) : id;
  ids_.at(static_cast<std::size_t>(call_.results[i])) =
      cast(id, info.dataType());
}

void CallLowering::fail(const std::string &message) const {
  throw Error(fmt::format("[{}] {}{}", call_.op, message, calledIn(call_)));
}

DataType CallLowering::scalarType() const {
  return call_.results.empty() ? DataType::FLOAT : resultInfo().dataType();
}

} // namespace poptorch
