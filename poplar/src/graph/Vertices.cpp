// Graph: user vertices and what their edges are connected to.
#include <poplar/Graph.hpp>

#include "FieldTarget.hpp"
#include "Messages.hpp"

#include <support/Error.hpp>

namespace poplar {

using internal::Access;
using internal::FieldShape;
using internal::FieldSlot;
using internal::FieldTarget;
using internal::GraphData;
using internal::PathText;
using internal::Piece;
using internal::ShapeText;
using internal::TensorData;
using internal::TensorView;
using internal::VertexField;
using internal::VertexTable;
using support::requireUser;

namespace {

// A run of one variable needs no view of its own: so are most edges.
FieldSlot makeSlot(VertexTable &table, const TensorView &view) {
  FieldSlot slot;
  slot.count = view.elements();
  if (internal::isOneRun(view)) {
    slot.kind = FieldSlot::Kind::Run;
    slot.index = view.pieces[0].variable.value;
    slot.begin = view.pieces[0].offset;
  } else {
    slot.kind = FieldSlot::Kind::View;
    slot.index = static_cast<std::uint32_t>(table.views.size());
    table.views.push_back({view.type, {slot.count}, view.pieces});
  }
  return slot;
}

void requireWriteable(const FieldTarget &target, const TensorData &data) {
  for (const Piece &piece : data.view.pieces) {
    const internal::Variable &variable = (*data.graph)[piece.variable];
    requireUser<graph_connection_error>(
        !variable.isConstant,
        "[poplar::Graph::connect] {} is written, but the tensor is part of the "
        "constant '{}'",
        target, variable.debugPath);
  }
  requireUser<graph_connection_error>(
      internal::isOneRun(data.view) || !internal::containsAliases(data.view),
      "[poplar::Graph::connect] {} is written, but an element of the tensor of "
      "shape {} of '{}' appears more than once",
      target, ShapeText{data.view.shape}, PathText{data});
}

// Checks a tensor against a field, or against one entry of a list.
void checkConnection(const FieldTarget &target, const TensorData &data) {
  const VertexField &field = target.field();
  const TensorView &view = data.view;
  requireUser<type_error>(
      view.type == field.type,
      "[poplar::Graph::connect] {} takes {}; the tensor '{}' is of {}", target,
      support::toString(field.type), PathText{data},
      support::toString(view.type));
  if (field.shape == FieldShape::Scalar ||
      field.shape == FieldShape::ScalarList) {
    requireUser<graph_connection_error>(
        view.elements() == 1,
        "[poplar::Graph::connect] {} takes one element; the tensor '{}' has "
        "shape {}",
        target, PathText{data}, ShapeText{view.shape});
  } else {
    requireUser<graph_connection_error>(
        view.shape.size() == 1,
        "[poplar::Graph::connect] {} takes a tensor of rank 1; '{}' has shape "
        "{}: flatten it",
        target, PathText{data}, ShapeText{view.shape});
    requireFits(target, field.isList() ? field.itemLayout : field.layout,
                static_cast<std::size_t>(view.shape[0]), "connect");
  }
  if (field.isWritten()) {
    requireWriteable(target, data);
  }
}

const TensorData &dataOfGraph(const GraphData &graph, const Tensor &tensor,
                              const FieldTarget &target) {
  const TensorData &data =
      internal::validData(tensor, "poplar::Graph::connect");
  requireUser<graph_connection_error>(
      data.graph.get() == &graph,
      "[poplar::Graph::connect] the tensor '{}' given for {} belongs to "
      "another graph",
      PathText{data}, target);
  return data;
}

void requireEdge(const FieldTarget &target) {
  requireUser<graph_connection_error>(
      target.field().isEdge(),
      "[poplar::Graph::connect] {} is not an edge; give it a value by "
      "setInitialValue",
      target);
}

} // namespace

VertexRef Graph::addVertex(ComputeSet computeSet, StringRef vertexType) {
  const unsigned owner = Access::graphOf(computeSet);
  requireUser<graph_connection_error>(
      computeSet.getId() < data_->computeSets.size() &&
          (owner == 0 || owner == data_->id),
      "[poplar::Graph::addVertex] the compute set given for a vertex of type "
      "{} was default-constructed or belongs to another graph",
      vertexType.cloneAsString());
  VertexTable &table = data_->vertices;
  internal::VertexData vertex;
  vertex.type = internal::findVertexType(*data_, vertexType);
  vertex.computeSet = internal::computeSetId(computeSet);
  vertex.firstSlot = table.slots.size();
  table.slots.resize(table.slots.size() +
                     table.types[vertex.type]->fields.size());
  const internal::VertexId id(table.vertices.size());
  table.vertices.push_back(vertex);
  data_->computeSets[computeSet.getId()].vertices.push_back(id);
  return Access::makeHandle<VertexRef>(*data_, id.index());
}

VertexRef Graph::addVertex(ComputeSet computeSet, StringRef vertexType,
                           ArrayRef<ConnectionDesc> connections) {
  const VertexRef vertex = addVertex(computeSet, vertexType);
  for (const ConnectionDesc &connection : connections) {
    const FieldRef field = vertex[connection.field_];
    switch (connection.kind_) {
    case ConnectionDesc::Kind::Tensor:
      connect(field, connection.tensor_);
      break;
    case ConnectionDesc::Kind::List:
      connect(field, connection.tensors_);
      break;
    case ConnectionDesc::Kind::Value:
      connectValue(field, connection.hostType_, connection.value_);
      break;
    }
  }
  return vertex;
}

std::size_t Graph::getNumVertices() const {
  return data_->vertices.vertices.size();
}

void Graph::connect(const FieldRef &fieldRef, const Tensor &tensor) {
  VertexTable &table = data_->vertices;
  const FieldTarget target = internal::findField(*data_, fieldRef, "connect");
  requireEdge(target);
  const TensorData &data = dataOfGraph(*data_, tensor, target);
  if (target.field().isList() && !target.isItem) {
    const unsigned rank =
        target.field().shape == FieldShape::VectorList ? 2 : 1;
    requireUser<graph_connection_error>(
        tensor.rank() == rank,
        "[poplar::Graph::connect] {} takes a tensor of rank {} or a list of "
        "tensors; '{}' has shape {}",
        target, rank, PathText{data}, tensor.shapeToString());
    std::vector<Tensor> items;
    for (std::size_t i = 0; i < tensor.dim(0); ++i) {
      items.push_back(tensor[i]);
    }
    connect(fieldRef, items);
    return;
  }
  checkConnection(target, data);
  FieldSlot &slot = target.isItem ? itemSlot(table, target)
                                  : table.slotsOf(target.vertex)[target.index];
  slot = makeSlot(table, data.view);
}

void Graph::connect(const FieldRef &fieldRef, ArrayRef<Tensor> tensors) {
  VertexTable &table = data_->vertices;
  FieldTarget target = internal::findField(*data_, fieldRef, "connect");
  requireEdge(target);
  requireUser<graph_connection_error>(
      target.field().isList() && !target.isItem,
      "[poplar::Graph::connect] {} takes one tensor; a list of {} was given",
      target, tensors.size());
  requireFits(target, target.field().layout, tensors.size(), "connect");
  std::vector<FieldSlot> items;
  items.reserve(tensors.size());
  FieldTarget item = target;
  item.isItem = true;
  for (const Tensor &tensor : tensors) {
    item.item = items.size();
    const TensorData &data = dataOfGraph(*data_, tensor, item);
    checkConnection(item, data);
    items.push_back(makeSlot(table, data.view));
  }
  table.slotsOf(target.vertex)[target.index] = {
      FieldSlot::Kind::List, static_cast<std::uint32_t>(table.lists.size()), 0,
      static_cast<std::int64_t>(items.size())};
  table.lists.push_back(std::move(items));
}

Function Graph::addFunction(const program::Program &program) {
  data_->functions.push_back(internal::programNode(program));
  return Access::makeHandle<Function>(*data_, data_->functions.size() - 1);
}

} // namespace poplar
