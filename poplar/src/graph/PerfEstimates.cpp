// Graph: what vertices cost, by the program's own estimates.
#include <poplar/Graph.hpp>

#include "FieldTarget.hpp"
#include "HostValues.hpp"
#include "VertexNames.hpp"

#include <support/Error.hpp>

#include <cstring>

namespace poplar {

using internal::Access;
using internal::FieldShape;
using internal::FieldSlot;
using internal::GraphData;
using internal::VertexData;
using internal::VertexId;
using internal::VertexTable;
using support::requireUser;

namespace {

void applyPerfEstimators(GraphData &graph) {
  // By type, so that a million vertices need no name.
  std::vector<const PerfEstimateFunc *> estimators(graph.vertices.types.size());
  for (const auto &[name, estimator] : graph.perfEstimators) {
    const auto type = graph.vertices.typeIds.find(name);
    if (type != graph.vertices.typeIds.end()) {
      estimators[type->second] = &estimator;
    }
  }
  const Target target = Access::makeTarget(graph.target);
  for (std::size_t i = 0; i < graph.vertices.vertices.size(); ++i) {
    VertexData &vertex = graph.vertices.vertices[i];
    if (vertex.cycles != VertexData::noEstimate ||
        estimators[vertex.type] == nullptr) {
      continue;
    }
    const VertexPerfEstimate estimate = (*estimators[vertex.type])(
        Access::introspect(graph.vertices, VertexId(i)), target);
    vertex.cycles = estimate.cycles;
    vertex.flops = estimate.flops;
  }
}

void placeFieldConstants(GraphData &graph) {
  for (const internal::FieldConstant &constant : graph.fieldConstants) {
    const unsigned tile = graph.vertices[constant.vertex].tile;
    if (tile != VertexData::unmapped) {
      graph[constant.variable].mapping.set({0, 1, tile, 1, 1});
    }
  }
}

} // namespace

void internal::finishGraph(GraphData &graph) {
  placeFieldConstants(graph);
  if (!graph.perfEstimators.empty()) {
    applyPerfEstimators(graph);
  }
}

void Graph::setPerfEstimate(const VertexRef &vertex, std::uint64_t cycles,
                            std::uint64_t flops) {
  VertexData &data =
      data_->vertices[internal::findVertex(*data_, vertex, "setPerfEstimate")];
  data.cycles = cycles;
  data.flops = flops;
}

void Graph::setPerfEstimate(const VertexRef &vertex,
                            const VertexPerfEstimate &estimate) {
  setPerfEstimate(vertex, estimate.cycles, estimate.flops);
}

VertexPerfEstimate Graph::getPerfEstimate(const VertexRef &vertex) const {
  const VertexId id = internal::findVertex(*data_, vertex, "getPerfEstimate");
  const VertexData &data = data_->vertices[id];
  if (data.cycles != VertexData::noEstimate) {
    return {data.cycles, data.flops};
  }
  const std::string &type = data_->vertices.typeOf(id).name;
  const auto estimator = data_->perfEstimators.find(type);
  requireUser<missing_perf_estimate>(
      estimator != data_->perfEstimators.end(),
      "[poplar::Graph::getPerfEstimate] vertex {} of type {} has no estimate; "
      "call setPerfEstimate or registerPerfEstimator",
      vertex.getId(), type);
  return estimator->second(Access::introspect(data_->vertices, id), target_);
}

void Graph::registerPerfEstimator(StringRef vertexType,
                                  PerfEstimateFunc estimator) {
  data_->perfEstimators[internal::normaliseVertexName(vertexType)] =
      std::move(estimator);
}

FieldData VertexIntrospector::getFieldInfo(const std::string &fieldName) const {
  const VertexId id(vertex_);
  const internal::VertexType &type = table_->typeOf(id);
  const std::size_t index = type.findField(fieldName);
  if (index == internal::VertexType::npos) {
    throw unknown_field(type.name, fieldName);
  }
  const internal::VertexField &field = type.fields[index];
  const FieldSlot &slot = table_->slotsOf(id)[index];
  FieldData info;
  info.name_ = fieldName;
  info.type_ = internal::toType(field.type);
  info.size_ = static_cast<std::size_t>(slot.count);
  switch (slot.kind) {
  case FieldSlot::Kind::Bytes: {
    info.size_ /= support::sizeOf(field.type);
    info.initial_.resize(static_cast<std::size_t>(slot.count));
    std::memcpy(info.initial_.data(), table_->bytes.data() + slot.begin,
                info.initial_.size());
    break;
  }
  case FieldSlot::Kind::List:
    for (const FieldSlot &item : table_->lists[slot.index]) {
      info.itemSizes_.push_back(static_cast<std::size_t>(item.count));
    }
    break;
  case FieldSlot::Kind::Unset:
    if (field.shape == FieldShape::Value) {
      info.size_ = field.count;
      info.initial_.resize(field.count * support::sizeOf(field.type));
    }
    break;
  case FieldSlot::Kind::Run:
  case FieldSlot::Kind::View:
    break;
  }
  const bool isOne = field.shape == FieldShape::Scalar ||
                     (field.shape == FieldShape::Value && field.count == 1);
  info.rank_ = field.isList() ? 2 : isOne ? 0 : 1;
  return info;
}

FieldData::Item FieldData::operator[](std::size_t index) const {
  if (index >= itemSizes_.size()) {
    throw index_error(
        fmt::format("field '{}', a list of {}", name_, itemSizes_.size()),
        index);
  }
  return Item(itemSizes_[index]);
}

void FieldData::readValues(const Type &hostType, void *values,
                           std::size_t count) const {
  const auto type = internal::toDataType(type_);
  requireUser<poplar_error>(
      initial_.size() >= count * support::sizeOf(type),
      "[poplar::FieldData] {} initial values of field '{}' asked for; it has "
      "{}: values of edges are known only while the program runs",
      count, name_, initial_.size() / support::sizeOf(type));
  internal::restoreValues(type, initial_.data(), hostType, values, count);
}

} // namespace poplar
