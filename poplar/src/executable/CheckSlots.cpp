#include "executable/CheckSlots.hpp"

#include "executable/RequireIntact.hpp"

namespace poplar::executable {
namespace {

using internal::FieldShape;
using internal::FieldSlot;
using internal::VertexData;
using internal::VertexField;
using internal::VertexId;
using internal::VertexTable;
using internal::VertexType;

using Kind = FieldSlot::Kind;

class SlotCheck {
public:
  SlotCheck(const VertexTable &table, const CheckedVariables &variables)
      : table_(table), variables_(variables) {}

  void check(const VertexType &type, const VertexField &field,
             const FieldSlot &slot) const {
    const auto isFitting = [&](Kind kind) {
      requireIntact(slot.kind == kind, "field '{}' of '{}' has another shape",
                    field.name, type.name);
    };
    if (slot.kind == Kind::Unset) {
      requireIntact(slot.count == 0, "field '{}' of '{}' is unset but has {}",
                    field.name, type.name, slot.count);
      return;
    }
    switch (field.shape) {
    case FieldShape::Value:
    case FieldShape::ValueVector:
      isFitting(Kind::Bytes);
      checkBytes(field, slot);
      break;
    case FieldShape::Scalar:
    case FieldShape::Vector:
      checkEdge(field, slot, field.shape == FieldShape::Scalar);
      break;
    case FieldShape::ScalarList:
    case FieldShape::VectorList:
      isFitting(Kind::List);
      checkList(field, slot);
      break;
    }
  }

private:
  void checkBytes(const VertexField &field, const FieldSlot &slot) const {
    const auto all = static_cast<std::int64_t>(table_.bytes.size());
    requireIntact(slot.begin >= 0 && slot.count >= 0 && slot.begin <= all &&
                      slot.count <= all - slot.begin,
                  "the value of field '{}' is outside the table", field.name);
    const auto size = static_cast<std::int64_t>(support::sizeOf(field.type));
    requireIntact(field.shape == FieldShape::Value
                      ? slot.count == size * field.count
                      : slot.count % size == 0,
                  "field '{}' has {} bytes", field.name, slot.count);
  }

  void checkEdge(const VertexField &field, const FieldSlot &slot,
                 bool isScalar) const {
    requireIntact(!isScalar || slot.count == 1,
                  "field '{}' takes one element, given {}", field.name,
                  slot.count);
    if (slot.kind == Kind::Run) {
      variables_.checkRun(internal::VariableId(slot.index), slot.begin,
                          slot.count, field.type);
      return;
    }
    requireIntact(slot.kind == Kind::View && slot.index < table_.views.size(),
                  "field '{}' is connected to no tensor", field.name);
    const internal::TensorView &view = table_.views[slot.index];
    requireIntact(view.elements() == slot.count &&
                      support::sizeOf(view.type) == support::sizeOf(field.type),
                  "field '{}' is connected to another tensor", field.name);
  }

  void checkList(const VertexField &field, const FieldSlot &slot) const {
    requireIntact(slot.index < table_.lists.size(), "field '{}' has no list {}",
                  field.name, slot.index);
    const auto &list = table_.lists[slot.index];
    requireIntact(slot.count == static_cast<std::int64_t>(list.size()),
                  "field '{}' has a list of {}; {} expected", field.name,
                  list.size(), slot.count);
    for (const FieldSlot &item : list) {
      if (item.kind == Kind::Unset) {
        requireIntact(item.count == 0, "an unset item of '{}' has {}",
                      field.name, item.count);
      } else {
        checkEdge(field, item, field.shape == FieldShape::ScalarList);
      }
    }
  }

  const VertexTable &table_;
  const CheckedVariables &variables_;
};

} // namespace

void checkSlots(const internal::GraphData &graph,
                const CheckedVariables &variables, std::uint64_t tiles) {
  const VertexTable &table = graph.vertices;
  for (const internal::TensorView &view : table.views) {
    variables.checkView(view);
  }
  const SlotCheck slots(table, variables);
  for (const VertexData &vertex : table.vertices) {
    requireIntact(vertex.type < table.types.size(), "no type of vertex is {}",
                  vertex.type);
    const VertexType &type = *table.types[vertex.type];
    requireIntact(vertex.firstSlot <= table.slots.size() &&
                      type.fields.size() <=
                          table.slots.size() - vertex.firstSlot,
                  "a vertex of '{}' has no slots for its fields", type.name);
    requireIntact(vertex.tile < tiles || vertex.tile == VertexData::unmapped,
                  "a vertex of '{}' is on tile {} of {}", type.name,
                  vertex.tile, tiles);
    const FieldSlot *slot = table.slots.data() + vertex.firstSlot;
    for (const VertexField &field : type.fields) {
      slots.check(type, field, *slot++);
    }
  }
  for (std::size_t c = 0; c < graph.computeSets.size(); ++c) {
    for (VertexId vertex : graph.computeSets[c].vertices) {
      requireIntact(vertex.index() < table.vertices.size() &&
                        table[vertex].computeSet.index() == c,
                    "compute set '{}' has vertex {}, which is not its own",
                    graph.computeSets[c].debugPath, vertex.value);
    }
  }
}

} // namespace poplar::executable
