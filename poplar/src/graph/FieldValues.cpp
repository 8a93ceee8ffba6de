// Graph: values and sizes of the fields of vertices, and their limits.
#include <poplar/Graph.hpp>

#include "FieldTarget.hpp"
#include "HostValues.hpp"

#include <support/Error.hpp>

#include <cstring>

namespace poplar {

using internal::FieldShape;
using internal::FieldSlot;
using internal::FieldTarget;
using internal::VertexField;
using internal::VertexTable;
using support::DataType;
using support::requireUser;

namespace {

void storeBytes(VertexTable &table, const FieldTarget &target,
                const std::vector<std::byte> &bytes) {
  table.slotsOf(target.vertex)[target.index] = {
      FieldSlot::Kind::Bytes, 0, static_cast<std::int64_t>(table.bytes.size()),
      static_cast<std::int64_t>(bytes.size())};
  table.bytes.insert(table.bytes.end(), bytes.begin(), bytes.end());
}

// Room for `count` values in a field that is not an edge.
void requireRoom(const FieldTarget &target, std::size_t count) {
  const VertexField &field = target.field();
  requireUser<graph_connection_error>(
      !field.isEdge(),
      "[poplar::Graph::setInitialValue] {} is an edge; connect it to a tensor",
      target);
  if (field.shape == FieldShape::ValueVector) {
    requireFits(target, field.layout, count, "setInitialValue");
  } else {
    requireUser<graph_connection_error>(
        count == field.count,
        "[poplar::Graph::setInitialValue] {} values given for {}, which holds "
        "{}",
        count, target, field.count);
  }
}

double largestValue(DataType type) {
  switch (type) {
  case DataType::Bool:
    return 1;
  case DataType::Quarter:
    return 240; // F143 without a scale
  case DataType::Half:
    return 65504;
  case DataType::Float:
    return static_cast<double>(std::numeric_limits<float>::max());
  case DataType::Char:
  case DataType::SignedChar:
  case DataType::Short:
  case DataType::Int:
  case DataType::LongLong:
    return std::ldexp(1.0, static_cast<int>(8 * support::sizeOf(type)) - 1) - 1;
  case DataType::UnsignedChar:
  case DataType::UnsignedShort:
  case DataType::UnsignedInt:
  case DataType::UnsignedLongLong:
    break;
  }
  return std::ldexp(1.0, static_cast<int>(8 * support::sizeOf(type))) - 1;
}

} // namespace

void Graph::connectValue(const FieldRef &fieldRef, const Type &hostType,
                         const void *value) {
  const FieldTarget target = internal::findField(*data_, fieldRef, "connect");
  const VertexField &field = target.field();
  if (!field.isEdge()) {
    setFieldValues(fieldRef, hostType, value, 1);
    return;
  }
  requireUser<graph_connection_error>(
      !field.isWritten(),
      "[poplar::Graph::connect] {} is written; a constant cannot be connected "
      "to it",
      target);
  const Tensor constant = addConstantFrom(
      internal::toType(field.type), {}, hostType, value, 1, true,
      fmt::format("{}/{}", target.type->name, field.name));
  data_->fieldConstants.push_back(
      {target.vertex, internal::tensorView(constant).pieces[0].variable});
  connect(fieldRef, constant);
}

void Graph::setFieldValues(const FieldRef &fieldRef, const Type &hostType,
                           const void *values, std::size_t count) {
  const FieldTarget target =
      internal::findField(*data_, fieldRef, "setInitialValue");
  requireRoom(target, count);
  storeBytes(
      data_->vertices, target,
      internal::convertValues(target.field().type, hostType, values, count));
}

void Graph::setInitialValueHalf(const FieldRef &field, std::uint16_t value) {
  setInitialValueHalf(field, ArrayRef<std::uint16_t>(&value, 1));
}

void Graph::setInitialValueHalf(const FieldRef &fieldRef,
                                ArrayRef<std::uint16_t> values) {
  const FieldTarget target =
      internal::findField(*data_, fieldRef, "setInitialValueHalf");
  requireUser<type_error>(
      target.field().type == DataType::Half,
      "[poplar::Graph::setInitialValueHalf] {} holds {}; half is needed",
      target, support::toString(target.field().type));
  requireRoom(target, values.size());
  const auto bytes = std::as_bytes(std::span(values.data(), values.size()));
  storeBytes(data_->vertices, target, {bytes.begin(), bytes.end()});
}

void Graph::setFieldSize(const FieldRef &fieldRef, std::size_t size) {
  VertexTable &table = data_->vertices;
  const FieldTarget target =
      internal::findField(*data_, fieldRef, "setFieldSize");
  const VertexField &field = target.field();
  requireUser<graph_connection_error>(
      !target.isItem &&
          (field.isList() || field.shape == FieldShape::ValueVector),
      "[poplar::Graph::setFieldSize] {} takes its size from its type or from "
      "the tensor that is connected to it",
      target);
  requireFits(target, field.layout, size, "setFieldSize");
  if (!field.isList()) {
    storeBytes(table, target,
               std::vector<std::byte>(size * support::sizeOf(field.type)));
    return;
  }
  table.slotsOf(target.vertex)[target.index] = {
      FieldSlot::Kind::List, static_cast<std::uint32_t>(table.lists.size()), 0,
      static_cast<std::int64_t>(size)};
  table.lists.emplace_back(size);
}

std::size_t Graph::getFieldSize(const FieldRef &fieldRef) const {
  const FieldTarget target =
      internal::findField(*data_, fieldRef, "getFieldSize");
  const VertexField &field = target.field();
  const FieldSlot &slot =
      target.isItem ? itemSlot(data_->vertices, target)
                    : data_->vertices.slotsOf(target.vertex)[target.index];
  if (field.shape == FieldShape::Value || field.shape == FieldShape::Scalar) {
    return field.count;
  }
  requireUser<no_size_specified>(
      slot.kind != FieldSlot::Kind::Unset,
      "[poplar::Graph::getFieldSize] {} is neither connected nor sized",
      target);
  const auto count = static_cast<std::size_t>(slot.count);
  return slot.kind == FieldSlot::Kind::Bytes
             ? count / support::sizeOf(field.type)
             : count;
}

std::size_t Graph::getMaxFieldDim(StringRef vertexName, StringRef fieldName,
                                  unsigned dimension) const {
  const VertexField &field =
      internal::findFieldOfType(*data_, vertexName, fieldName);
  const unsigned rank =
      field.shape == FieldShape::VectorList ? 2
      : field.shape == FieldShape::Value || field.shape == FieldShape::Scalar
          ? 0
          : 1;
  if (dimension >= rank) {
    throw index_error(fmt::format("the {} dimensions of field '{}' of {}", rank,
                                  field.name, vertexName.cloneAsString()),
                      dimension);
  }
  return internal::maxEntries(dimension == 0 ? field.layout : field.itemLayout);
}

double Graph::getMaxVertexFieldValue(StringRef vertexName,
                                     StringRef fieldName) const {
  return largestValue(
      internal::findFieldOfType(*data_, vertexName, fieldName).type);
}

} // namespace poplar
