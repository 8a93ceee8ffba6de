// Finding the vertex and the field that a handle stands for.
#pragma once

#include "Handles.hpp"

#include <fmt/format.h>

#include <string>

namespace poplar::internal {

// A field of a vertex, found. Messages call it "field 'in[2]' of vertex type
// Sum".
struct FieldTarget {
  VertexId vertex;
  const VertexType *type = nullptr;
  std::size_t index = 0; // of the field
  bool isItem = false;   // one tensor of a list
  std::size_t item = 0;

  const VertexField &field() const { return type->fields[index]; }
};

// The vertex of a handle; graph_connection_error unless this graph made it.
VertexId findVertex(const GraphData &graph, const VertexRef &vertex,
                    const char *operation);

// Throws unknown_field for a name that the vertex's type does not have.
FieldTarget findField(const GraphData &graph, const FieldRef &field,
                      const char *operation);

// Throws unknown_vertex_type.
std::uint32_t findVertexType(const GraphData &graph, StringRef name);
// Throws unknown_vertex_type and unknown_field.
const VertexField &findFieldOfType(const GraphData &graph, StringRef typeName,
                                   StringRef fieldName);

// The entry of a list. Throws no_size_specified before the list has a size, and
// index_error beyond it.
FieldSlot &itemSlot(VertexTable &table, const FieldTarget &target);

// The most entries that a vector of this layout can have.
std::size_t maxEntries(FieldLayout layout);
void requireFits(const FieldTarget &target, FieldLayout layout,
                 std::size_t entries, const char *operation);

} // namespace poplar::internal

template <>
struct fmt::formatter<poplar::internal::FieldTarget> : formatter<std::string> {
  auto format(const poplar::internal::FieldTarget &target,
              format_context &context) const {
    const std::string item =
        target.isItem ? fmt::format("[{}]", target.item) : std::string();
    return formatter<std::string>::format(
        fmt::format("field '{}{}' of vertex type {}", target.field().name, item,
                    target.type->name),
        context);
  }
};
