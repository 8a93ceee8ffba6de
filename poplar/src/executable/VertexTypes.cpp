// Types of vertices by name, as executables store them.
#include "executable/VisitVertices.hpp"

namespace poplar::executable {

using internal::VertexTable;
using internal::VertexType;

VertexTypeName nameType(const VertexTable &table, const VertexType &type) {
  for (std::size_t f = 0; f < table.codelets.size(); ++f) {
    for (const VertexType &known : table.codelets[f]->types) {
      if (&known == &type) {
        return {static_cast<std::uint32_t>(f), type.name};
      }
    }
  }
  throw support::InternalError(fmt::format(
      "internal error: vertex type '{}' is in no codelet file", type.name));
}

const VertexType &findType(const VertexTable &table,
                           const VertexTypeName &name) {
  requireIntact(name.file < table.codelets.size(),
                "vertex type '{}' is in codelet file {} of {}", name.name,
                name.file, table.codelets.size());
  for (const VertexType &known : table.codelets[name.file]->types) {
    if (known.name == name.name) {
      return known;
    }
  }
  throw poplar_error(fmt::format(
      "[Executable::deserialize] codelets '{}' have no vertex type '{}'; "
      "compile the graph again",
      table.codelets[name.file]->name, name.name));
}

} // namespace poplar::executable
