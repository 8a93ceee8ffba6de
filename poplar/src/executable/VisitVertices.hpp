// How user vertices are stored: codelet files as their bytes, types by name in
// one of them, the rest of the table as it is.
#pragma once

#include "codelets/Codelets.hpp"
#include "executable/VisitGraph.hpp"

namespace poplar::executable {

template <typename Archive>
void visit(Archive &archive, Is<codelets::CodeletFilePtr> auto &file) {
  if constexpr (Archive::isReading) {
    std::string name;
    std::vector<std::byte> bytes;
    archive(name, bytes);
    file = codelets::loadBytes(name, std::move(bytes));
  } else {
    archive(file->name, file->bytes);
  }
}

// A type of vertex: the codelet file that has it, and its name there.
struct VertexTypeName {
  std::uint32_t file = 0;
  std::string name;
};

template <typename Archive>
void visit(Archive &archive, Is<VertexTypeName> auto &type) {
  auto &[file, name] = type;
  archive(file, name);
}

VertexTypeName nameType(const internal::VertexTable &table,
                        const internal::VertexType &type);
const internal::VertexType &findType(const internal::VertexTable &table,
                                     const VertexTypeName &name);

template <typename Archive>
void visit(Archive &archive, Is<internal::FieldSlot> auto &slot) {
  auto &[kind, index, begin, count] = slot;
  archive(kind, index, begin, count);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::VertexData> auto &vertex) {
  auto &[type, computeSet, tile, firstSlot, cycles, flops] = vertex;
  archive(type, computeSet, tile, firstSlot, cycles, flops);
}

template <typename Archive>
void visit(Archive &archive, Is<internal::VertexTable> auto &table) {
  auto &[codelets, types, typeIds, vertices, slots, views, lists, bytes] =
      table;
  std::vector<VertexTypeName> names;
  if constexpr (!Archive::isReading) {
    for (const internal::VertexType *type : types) {
      names.push_back(nameType(table, *type));
    }
  }
  archive(codelets, names, vertices, slots, views, lists, bytes);
  if constexpr (Archive::isReading) {
    for (const VertexTypeName &name : names) {
      typeIds.emplace(name.name, static_cast<std::uint32_t>(types.size()));
      types.push_back(&findType(table, name));
    }
  }
}

} // namespace poplar::executable
