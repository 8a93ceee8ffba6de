#include "FieldTarget.hpp"

#include "VertexNames.hpp"

#include <support/Error.hpp>

#include <limits>

namespace poplar::internal {

using support::requireUser;

VertexId findVertex(const GraphData &graph, const VertexRef &vertex,
                    const char *operation) {
  const unsigned owner = Access::graphOf(vertex);
  requireUser<graph_connection_error>(
      vertex.getId() < graph.vertices.vertices.size() &&
          (owner == 0 || owner == graph.id),
      "[poplar::Graph::{}] the vertex was default-constructed or belongs to "
      "another graph",
      operation);
  return VertexId(vertex.getId());
}

FieldTarget findField(const GraphData &graph, const FieldRef &field,
                      const char *operation) {
  FieldTarget target;
  target.vertex = findVertex(graph, Access::vertexOf(field), operation);
  target.type = &graph.vertices.typeOf(target.vertex);
  target.index = target.type->findField(Access::nameOf(field));
  if (target.index == VertexType::npos) {
    throw unknown_field(target.type->name, Access::nameOf(field));
  }
  target.isItem = field.isIndexed();
  target.item = field.getIndex();
  requireUser<graph_connection_error>(
      !target.isItem || target.field().isList(),
      "[poplar::Graph::{}] {} is not a list of edges and has no entries",
      operation, target);
  return target;
}

std::uint32_t findVertexType(const GraphData &graph, StringRef name) {
  const std::string normalised = normaliseVertexName(name);
  const auto found = graph.vertices.typeIds.find(normalised);
  if (found == graph.vertices.typeIds.end()) {
    throw unknown_vertex_type(normalised);
  }
  return found->second;
}

const VertexField &findFieldOfType(const GraphData &graph, StringRef typeName,
                                   StringRef fieldName) {
  const VertexType &type =
      *graph.vertices.types[findVertexType(graph, typeName)];
  const std::size_t index = type.findField(fieldName.cloneAsString());
  if (index == VertexType::npos) {
    throw unknown_field(type.name, fieldName.cloneAsString());
  }
  return type.fields[index];
}

FieldSlot &itemSlot(VertexTable &table, const FieldTarget &target) {
  const FieldSlot &list = table.slotsOf(target.vertex)[target.index];
  requireUser<no_size_specified>(
      list.kind == FieldSlot::Kind::List,
      "[poplar::Graph] {} has no size; call setFieldSize or connect the whole "
      "list first",
      target);
  std::vector<FieldSlot> &items = table.lists[list.index];
  if (target.item >= items.size()) {
    throw index_error(fmt::format("field '{}' of vertex type {}, a list of {}",
                                  target.field().name, target.type->name,
                                  items.size()),
                      target.item);
  }
  return items[target.item];
}

std::size_t maxEntries(FieldLayout layout) {
  switch (layout) {
  case FieldLayout::ShortSpan:
    return (std::size_t(1) << 11) - 1; // an 11-bit count
  case FieldLayout::Span:
    return std::numeric_limits<std::uint32_t>::max();
  case FieldLayout::DeltaN:
  case FieldLayout::CompactDeltaN:
    return (std::size_t(1) << 14) - 1; // an 18-bit offset and a 14-bit count
  case FieldLayout::DeltaNElements:
    return (std::size_t(1) << 12) - 1; // a 20-bit offset and a 12-bit count
  case FieldLayout::None:
  case FieldLayout::OnePtr:
  case FieldLayout::ScaledPtr32:
  case FieldLayout::ScaledPtr64:
  case FieldLayout::ScaledPtr128:
  case FieldLayout::CompactPtr:
    break; // no count is kept
  }
  return std::numeric_limits<std::size_t>::max();
}

void requireFits(const FieldTarget &target, FieldLayout layout,
                 std::size_t entries, const char *operation) {
  requireUser<graph_connection_error>(
      entries <= maxEntries(layout),
      "[poplar::Graph::{}] {} was given {} entries; its layout has room for {}",
      operation, target, entries, maxEntries(layout));
}

} // namespace poplar::internal
