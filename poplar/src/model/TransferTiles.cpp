// Sorts tiles into those that compute and those that only move data.
#include "model/TransferTiles.hpp"

#include "program/VisitPrograms.hpp"
#include <poplar/internal/TargetData.hpp>

#include <algorithm>
#include <type_traits>

namespace poplar::model {

using internal::GraphData;
using internal::MappingPiece;
using internal::Piece;
using internal::ProgramNode;
using internal::TensorView;

namespace {

bool isTransfer(const ProgramNode &node) {
  return std::visit(
      [](const auto &op) {
        using Op = std::decay_t<decltype(op)>;
        return std::is_same_v<Op, internal::StreamInNode> ||
               std::is_same_v<Op, internal::StreamOutNode> ||
               std::is_same_v<Op, internal::RemoteReadNode> ||
               std::is_same_v<Op, internal::RemoteWriteNode>;
      },
      node.op);
}

// Every tile of the IPUs takes part, wherever the operands lie.
bool isForAll(const ProgramNode &node) {
  return std::visit(
      [](const auto &op) {
        using Op = std::decay_t<decltype(op)>;
        return std::is_same_v<Op, internal::WhileNode> ||
               std::is_same_v<Op, internal::IfNode> ||
               std::is_same_v<Op, internal::SwitchNode> ||
               std::is_same_v<Op, internal::AbortNode> ||
               std::is_same_v<Op, internal::SyncNode>;
      },
      node.op);
}

} // namespace

TransferTiles::TransferTiles(const GraphData &graph) : graph_(graph) {
  findComputeTiles();
  for (const internal::Variable &variable : graph.variables) {
    isApart_.push_back(isApart(variable));
    areUsed_ = areUsed_ || isApart_.back();
  }
}

void TransferTiles::findComputeTiles() {
  std::vector<Tiles> found;
  for (const internal::ComputeSetData &set : graph_.computeSets) {
    for (const internal::VertexGroup &group : set.groups) {
      for (const internal::GroupPhase &phase : group.phases) {
        for (const internal::TileRun &run : phase.runs) {
          found.push_back({run.firstTile, run.firstTile + run.tileCount});
        }
      }
    }
  }
  for (const internal::VertexData &vertex : graph_.vertices.vertices) {
    if (vertex.tile != internal::VertexData::unmapped) {
      found.push_back({vertex.tile, vertex.tile + 1});
    }
  }
  const unsigned perIpu = graph_.target->tilesPerIPU;
  std::vector<bool> isComputing(graph_.target->numIPUs);
  for (const Tiles &tiles : found) {
    for (unsigned ipu = tiles.begin / perIpu; ipu * perIpu < tiles.end; ++ipu) {
      isComputing[ipu] = true;
    }
  }
  for (unsigned ipu = 0; ipu < isComputing.size(); ++ipu) {
    if (!isComputing[ipu]) {
      found.push_back({ipu * perIpu, (ipu + 1) * perIpu});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Tiles &a, const Tiles &b) { return a.begin < b.begin; });
  for (const Tiles &tiles : found) {
    if (!compute_.empty() && tiles.begin <= compute_.back().end) {
      compute_.back().end = std::max(compute_.back().end, tiles.end);
    } else {
      compute_.push_back(tiles);
    }
  }
}

bool TransferTiles::isApart(const internal::Variable &variable) const {
  const auto &pieces = variable.mapping.pieces();
  return !pieces.empty() &&
         std::none_of(
             pieces.begin(), pieces.end(), [&](const MappingPiece &piece) {
               const auto next = std::partition_point(
                   compute_.begin(), compute_.end(), [&](const Tiles &tiles) {
                     return tiles.end <= piece.firstTile;
                   });
               return next != compute_.end() &&
                      next->begin < piece.firstTile + piece.parts;
             });
}

Lane TransferTiles::laneOf(const ProgramNode &node) const {
  if (!areUsed_) {
    return Lane::Compute;
  }
  if (isForAll(node)) {
    return Lane::Both;
  }
  bool touchesCompute = false;
  bool touchesTransfer = false;
  forEachView(graph_, node, [&](const TensorView &view, bool) {
    for (const Piece &piece : view.pieces) {
      const bool isApart = isApart_[piece.variable.index()];
      touchesTransfer = touchesTransfer || isApart;
      touchesCompute = touchesCompute || !isApart;
    }
  });
  if (!touchesTransfer) {
    return Lane::Compute;
  }
  return isTransfer(node) && !touchesCompute ? Lane::Transfer : Lane::Both;
}

} // namespace poplar::model
