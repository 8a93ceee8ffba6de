// What vertices and transfers ask of the memory of a variable.
#include "model/Placement.hpp"

#include <algorithm>

namespace poplar::model {

namespace {

using internal::FieldSlot;
using internal::VariableId;
using internal::VertexField;
using internal::VertexTable;

bool isDemanding(const VertexField &field) {
  return field.isEdge() &&
         (field.alignment > allocationBytes || field.isInterleaved);
}

// By vertex type: whether some field wants more than the usual.
std::vector<bool> demandingTypes(const VertexTable &table) {
  std::vector<bool> result;
  for (const internal::VertexType *type : table.types) {
    result.push_back(
        std::any_of(type->fields.begin(), type->fields.end(), isDemanding));
  }
  return result;
}

void addVertices(const VertexTable &table, std::vector<Placement> &placements) {
  const std::vector<bool> isTypeDemanding = demandingTypes(table);
  for (std::size_t i = 0; i < table.vertices.size(); ++i) {
    if (!isTypeDemanding[table.vertices[i].type]) {
      continue;
    }
    forEachEdge(table, internal::VertexId(i),
                [&](const VertexField &field, const FieldSlot &slot) {
                  if (!isDemanding(field)) {
                    return;
                  }
                  forEachRun(table, slot, [&](VariableId id, auto, auto) {
                    Placement &placement = placements[id.index()];
                    placement.alignment =
                        std::max(placement.alignment, field.alignment);
                    placement.isInterleaved |= field.isInterleaved;
                  });
                });
  }
}

// The view that a node exchanges with the host or a remote buffer, or null.
const internal::TensorView *transferredView(const internal::ProgramNode &node) {
  if (const auto *in = std::get_if<internal::StreamInNode>(&node.op)) {
    return &in->destination;
  }
  if (const auto *out = std::get_if<internal::StreamOutNode>(&node.op)) {
    return &out->source;
  }
  if (const auto *in = std::get_if<internal::RemoteReadNode>(&node.op)) {
    return &in->destination;
  }
  if (const auto *out = std::get_if<internal::RemoteWriteNode>(&node.op)) {
    return &out->source;
  }
  return nullptr;
}

} // namespace

std::vector<Placement>
placementsOf(const internal::GraphData &graph,
             const std::vector<const internal::ProgramNode *> &schedule) {
  std::vector<Placement> placements(graph.variables.size());
  addVertices(graph.vertices, placements);
  for (const internal::ProgramNode *node : schedule) {
    if (const internal::TensorView *view = transferredView(*node)) {
      for (const internal::Piece &piece : view->pieces) {
        std::uint32_t &alignment = placements[piece.variable.index()].alignment;
        alignment = std::max(alignment, transferBufferBytes);
      }
    }
  }
  return placements;
}

} // namespace poplar::model
