#include <poplar/internal/Access.hpp>

#include "Handles.hpp"
#include "PieceSelect.hpp"
#include "TileSelection.hpp"

#include <support/Error.hpp>

#include <stdexcept>

namespace poplar::internal {

GraphData &graphData(Graph &graph) {
  return *Access::data(graph);
}
const GraphData &graphData(const Graph &graph) {
  return *Access::data(graph);
}

const TensorView &tensorView(const Tensor &tensor) {
  return validData(tensor, "poplar").view;
}

Tensor makeTensor(const Graph &graph, TensorView view) {
  std::erase_if(view.pieces, [](const Piece &piece) {
    return support::elementCount(piece.extents) == 0;
  });
  joinPieces(view.pieces);
  return Access::makeTensor(std::make_shared<const TensorData>(
      TensorData{std::move(view), Access::data(graph)}));
}

const ProgramPtr &programNode(const program::Program &program) {
  return Access::node(program);
}

ComputeSetId computeSetId(ComputeSet computeSet) {
  return ComputeSetId(computeSet.getId());
}

StreamId streamId(const DataStream &stream) {
  return Access::id(stream);
}

RemoteBufferId remoteBufferId(const RemoteBuffer &buffer) {
  return Access::id(buffer);
}

void checkGroup(const VertexGroup &group) {
  support::requireInternal(group.kind != nullptr,
                           "vertex group '{}' has no kind", group.debugPath);
  std::vector<kernels::TensorType> inputs;
  for (const TensorView &input : group.inputs) {
    inputs.push_back({input.type, input.shape});
  }
  std::vector<kernels::TensorType> outputs;
  try {
    outputs = group.kind->infer(group.attributes, inputs);
  } catch (const std::invalid_argument &error) {
    throw graph_connection_error(fmt::format(
        "[{}] {} (in '{}')", group.kind->name, error.what(), group.debugPath));
  }
  support::requireUser<graph_connection_error>(
      outputs.size() == group.outputs.size(),
      "[{}] {} outputs given, {} needed (in '{}')", group.kind->name,
      group.outputs.size(), outputs.size(), group.debugPath);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const TensorView &given = group.outputs[i];
    support::requireUser<graph_connection_error>(
        given.type == outputs[i].type && given.shape == outputs[i].shape,
        "[{}] output {} given as {}{}, needed as {}{} (in '{}')",
        group.kind->name, i, support::toString(given.type),
        support::toString(given.shape), support::toString(outputs[i].type),
        support::toString(outputs[i].shape), group.debugPath);
  }
}

void addGroup(Graph &graph, ComputeSet computeSet, VertexGroup group) {
  checkGroup(group);
  auto &sets = graphData(graph).computeSets;
  support::requireUser<graph_connection_error>(
      computeSet.getId() < sets.size(),
      "[{}] the compute set belongs to no or another graph (in '{}')",
      group.kind->name, group.debugPath);
  translateToTopLevel(graph, group);
  sets[computeSet.getId()].groups.push_back(std::move(group));
}

void executeGroup(Graph &graph, program::Sequence &program, VertexGroup group) {
  ComputeSet computeSet = graph.addComputeSet(group.debugPath);
  addGroup(graph, computeSet, std::move(group));
  program.add(program::Execute(computeSet));
}

void setLinearMapping(Graph &graph, const Tensor &variable,
                      const MappingPiece &piece) {
  const TensorView &view = validData(variable, "setLinearMapping").view;
  support::requireInternal(variable.isContiguous(),
                           "setLinearMapping of a tensor that is not "
                           "contiguous");
  if (view.pieces.empty()) {
    return;
  }
  const unsigned tiles = graph.getTarget().getNumTiles();
  support::requireUser<invalid_tile_mapping>(
      piece.firstTile + piece.parts <= tiles,
      "[poplar] tiles [{},{}) given; the target has {} tiles", piece.firstTile,
      piece.firstTile + piece.parts, tiles);
  MappingPiece shifted = piece;
  shifted.begin += view.pieces[0].offset;
  shifted.end += view.pieces[0].offset;
  graphData(graph)[view.pieces[0].variable].mapping.set(
      topLevelPieces(graph, shifted));
}

const TileMapping &mappingIn(const Graph &graph, VariableId variable,
                             TileMapping &translated) {
  const TileMapping &mapping = graphData(graph)[variable].mapping;
  const TileSelection *tiles = tileSelection(graph);
  if (tiles == nullptr) {
    return mapping;
  }
  std::vector<MappingPiece> own;
  for (const MappingPiece &piece : mapping.pieces()) {
    if (tiles->areConsecutive(piece.firstTile, piece.parts)) {
      own.push_back(piece);
      own.back().firstTile = tiles->fromTopLevel(piece.firstTile);
      continue;
    }
    for (const TileRange &range : mapping.ranges(piece.begin, piece.end)) {
      const unsigned tile = tiles->fromTopLevel(range.tile);
      if (tile != TileSelection::none) {
        own.push_back(
            {range.begin, range.end, tile, 1, range.end - range.begin});
      }
    }
  }
  translated = TileMapping();
  translated.set(std::move(own));
  return translated;
}

} // namespace poplar::internal
