// The user vertices of a graph, compactly: programs have millions of them. A
// vertex has one slot for each field of its type, in one vector for all.
#pragma once

#include <poplar/internal/TensorView.hpp>
#include <poplar/internal/VertexType.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace poplar::internal {

using VertexId = support::Id<struct VertexTag>;
using ComputeSetId = support::Id<struct ComputeSetTag>;

// What a field is connected or set to.
struct FieldSlot {
  enum class Kind : std::uint8_t {
    Unset,
    Run,   // elements [begin, begin + count) of variable `index`: most edges
    View,  // views[index], of `count` elements
    List,  // lists[index], of `count` entries that are Run, View or Unset
    Bytes, // bytes [begin, begin + count) of `bytes`
  };
  Kind kind = Kind::Unset;
  std::uint32_t index = 0;
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

struct VertexData {
  static constexpr std::uint32_t unmapped =
      std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint64_t noEstimate =
      std::numeric_limits<std::uint64_t>::max();

  std::uint32_t type = 0; // index into VertexTable::types
  ComputeSetId computeSet;
  std::uint32_t tile = unmapped;
  std::uint64_t firstSlot = 0;
  std::uint64_t cycles = noEstimate; // as VertexUse::cycles
  std::uint64_t flops = 0;
};

struct VertexTable {
  std::vector<std::shared_ptr<const CodeletFile>> codelets;
  std::vector<const VertexType *> types; // into `codelets`, by type id
  std::map<std::string, std::uint32_t, std::less<>> typeIds; // by name
  std::vector<VertexData> vertices;
  std::vector<FieldSlot> slots;
  std::vector<TensorView> views;
  std::vector<std::vector<FieldSlot>> lists;
  std::vector<std::byte> bytes;

  const VertexData &operator[](VertexId id) const {
    return vertices[id.index()];
  }
  VertexData &operator[](VertexId id) { return vertices[id.index()]; }
  const VertexType &typeOf(VertexId id) const {
    return *types[vertices[id.index()].type];
  }
  const FieldSlot *slotsOf(VertexId id) const {
    return slots.data() + vertices[id.index()].firstSlot;
  }
  FieldSlot *slotsOf(VertexId id) {
    return slots.data() + vertices[id.index()].firstSlot;
  }
};

// Calls f(field, slot) for every connected tensor of the vertex, those of lists
// one by one; slots are Run or View.
template <typename F>
void forEachEdge(const VertexTable &table, VertexId vertex, F &&f) {
  const VertexType &type = table.typeOf(vertex);
  const FieldSlot *slots = table.slotsOf(vertex);
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    const VertexField &field = type.fields[i];
    if (!field.isEdge() || slots[i].kind == FieldSlot::Kind::Unset) {
      continue;
    }
    if (slots[i].kind != FieldSlot::Kind::List) {
      f(field, slots[i]);
      continue;
    }
    for (const FieldSlot &item : table.lists[slots[i].index]) {
      if (item.kind != FieldSlot::Kind::Unset) {
        f(field, item);
      }
    }
  }
}

// Calls f(variable, firstElement, count) for the runs of a Run or View slot.
template <typename F>
void forEachRun(const VertexTable &table, const FieldSlot &slot, F &&f) {
  if (slot.kind == FieldSlot::Kind::Run) {
    f(VariableId(slot.index), slot.begin, slot.count);
  } else {
    forEachRun(table.views[slot.index], f);
  }
}

} // namespace poplar::internal
