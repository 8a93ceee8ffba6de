// Clones of tensors on other IPUs and without repeated elements, and operands
// that are broadcast (poputil/TileMapping.hpp).
#include <poputil/TileMapping.hpp>

#include <poputil/Util.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Tiles.hpp>
#include <support/Error.hpp>

#include <algorithm>

namespace poputil {

using poplar::DebugContext;
using poplar::Graph;
using poplar::Interval;
using poplar::Tensor;
using poplar::TensorCloneMethod;

namespace {

// The mapping with every tile's share on the same tile of one IPU.
Graph::TileToTensorMapping onIpu(const Graph &graph,
                                 const Graph::TileToTensorMapping &mapping,
                                 unsigned ipu) {
  const auto &target = graph.getTarget();
  support::requireUser<poplibs_error>(
      ipu < target.getNumIPUs(),
      "[poputil::cloneToIpu] there is no IPU {}; the graph has {}", ipu,
      target.getNumIPUs());
  const auto perIpu = target.getTilesPerIPU();
  Graph::TileToTensorMapping moved(target.getNumTiles());
  for (std::size_t tile = 0; tile < mapping.size(); ++tile) {
    auto &to = moved[ipu * perIpu + tile % perIpu];
    to.insert(to.end(), mapping[tile].begin(), mapping[tile].end());
  }
  return moved;
}

// Views of a tensor and its clone in the order of the tensor's memory, with
// what both repeat once.
void simplifyTogether(const Graph &graph, Tensor &a, Tensor &b) {
  a = a.flatten();
  b = b.flatten();
  if (a.containsAliases() && !b.containsAliases()) {
    return;
  }
  graph.reorderToSimplify(&a, {&b});
  if (!a.containsAliases()) {
    return;
  }
  const auto regions = flattenIntervals(graph.getSortedContiguousRegions(
      a, {Interval(0, a.numElements())}, true));
  a = concat(a.slices(regions));
  b = concat(b.slices(regions));
}

// Which elements of a flattened tensor repeat an earlier one.
std::vector<Interval> repeatedRegions(const Graph &graph, const Tensor &flat) {
  auto first = flattenIntervals(graph.getSortedContiguousRegions(
      flat, {Interval(0, flat.numElements())}, true));
  mergeAdjacentRegions(first);
  std::vector<Interval> repeated;
  std::size_t end = 0;
  for (const auto &region : first) {
    if (end < region.begin()) {
      repeated.emplace_back(end, region.begin());
    }
    end = region.end();
  }
  if (end < flat.numElements()) {
    repeated.emplace_back(end, flat.numElements());
  }
  return repeated;
}

bool isSplit(Graph::TileToTensorMapping mapping, std::size_t rowLength) {
  mergeAdjacentRegions(mapping);
  for (const auto &regions : mapping) {
    for (const auto &region : regions) {
      if (region.begin() % rowLength != 0 || region.end() % rowLength != 0) {
        return true;
      }
    }
  }
  return false;
}

// The mapping of a tensor with `dimension` innermost.
Graph::TileToTensorMapping mappingOfRows(const Graph &graph, const Tensor &t,
                                         unsigned dimension) {
  support::requireUser<poplibs_error>(
      dimension < t.rank(),
      "[poputil::dimIsSplitOverTiles] dimension {} is not one of shape {}",
      dimension, t.shapeToString());
  return graph.getTileMapping(t.dimRoll(dimension, t.rank() - 1));
}

} // namespace

Tensor cloneToIpu(Graph &graph, const Tensor &t, unsigned dstIPU,
                  const DebugContext &debugContext, TensorCloneMethod method) {
  const auto clone = graph.clone(t, debugContext, method);
  Tensor from = t;
  Tensor to = clone;
  simplifyTogether(graph, from, to);
  graph.setTileMapping(to, onIpu(graph, graph.getTileMapping(from), dstIPU));
  return clone;
}

Tensor cloneToGraph(Graph &srcGraph, Graph &dstGraph, const Tensor &t,
                    const DebugContext &debugContext,
                    TensorCloneMethod method) {
  const auto mapping = srcGraph.getTileMapping(t);
  const auto tiles = dstGraph.getTarget().getNumTiles();
  for (std::size_t tile = tiles; tile < mapping.size(); ++tile) {
    support::requireUser<poplibs_error>(
        mapping[tile].empty(),
        "[poputil::cloneToGraph] the tensor is on tile {}; the other graph has "
        "{} tiles",
        tile, tiles);
  }
  const auto clone = srcGraph.clone(t, debugContext, method);
  dstGraph.setTileMapping(
      clone,
      Graph::TileToTensorMapping(
          mapping.begin(),
          mapping.begin() + static_cast<std::ptrdiff_t>(
                                std::min<std::size_t>(tiles, mapping.size()))));
  return clone;
}

Tensor copyToIpu(Graph &graph, const Tensor &t, poplar::program::Sequence &prog,
                 unsigned dstIPU, const DebugContext &debugContext,
                 TensorCloneMethod method) {
  const auto clone = cloneToIpu(graph, t, dstIPU, debugContext, method);
  prog.add(poplar::program::Copy(t, clone, false, debugContext));
  return clone;
}

Tensor createIpuCopy(Graph &graph, const Tensor &t, unsigned dstIpu,
                     Tensor &copySrc, Tensor &copyDst,
                     const DebugContext &debugContext,
                     TensorCloneMethod method) {
  const auto clone = cloneToIpu(graph, t, dstIpu, debugContext, method);
  copySrc = t;
  copyDst = clone;
  simplifyTogether(graph, copySrc, copyDst);
  return clone;
}

std::pair<Tensor, unsigned>
cloneAndExpandAliasing(Graph &graph, const Tensor &t, unsigned offset,
                       const DebugContext &debugContext) {
  const auto clone =
      graph.addVariable(t.elementType(), t.shape(), debugContext);
  graph.setTileMapping(clone, graph.getTileMapping(t));
  const auto flat = clone.flatten();
  const auto repeated = repeatedRegions(graph, t.flatten());
  if (repeated.empty()) {
    return {clone, offset};
  }
  const auto extra = concat(flat.slices(repeated));
  auto mapping = calcLinearTileMappingAndNewOffset(graph, extra, offset);
  graph.setTileMapping(extra, mapping.first);
  return {clone, mapping.second};
}

Tensor createBroadcastOperand(Graph &graph, const Tensor &fullTensor,
                              const poplar::Type &type, unsigned dim,
                              bool ditherMapping,
                              const DebugContext &debugContext) {
  support::requireUser<poplibs_error>(
      dim < fullTensor.rank(),
      "[poputil::createBroadcastOperand] dimension {} is not one of shape {}",
      dim, fullTensor.shapeToString());
  const auto operand =
      graph.addVariable(type, {fullTensor.dim(dim)}, debugContext);
  std::vector<unsigned> tiles;
  for (const auto &share : internal::sharesOf(graph, fullTensor)) {
    for (unsigned tile = share.tiles.first; tile < share.tiles.end(); ++tile) {
      tiles.push_back(tile);
    }
  }
  if (tiles.empty()) {
    return operand; // the tensor is not mapped either
  }
  const auto &target = graph.getTarget();
  const auto parts =
      splitRegions({{0, operand.numElements()}}, target.getVectorWidth(type),
                   static_cast<unsigned>(tiles.size()));
  const auto first =
      ditherMapping ? chooseMappingOffset(tiles.size(), fullTensor.shape()) : 0;
  Graph::TileToTensorMapping mapping(target.getNumTiles());
  for (std::size_t part = 0; part < parts.size(); ++part) {
    mapping[tiles[(first + part) % tiles.size()]] = parts[part];
  }
  graph.setTileMapping(operand, mapping);
  return operand;
}

bool dimIsSplitOverTiles(const Graph &graph, const Tensor &t,
                         unsigned dimension) {
  auto mapping = mappingOfRows(graph, t, dimension);
  return isSplit(std::move(mapping), t.dim(dimension));
}

bool dimIsSplitOverIPUs(const Graph &graph, const Tensor &t,
                        unsigned dimension) {
  const auto mapping = mappingOfRows(graph, t, dimension);
  const auto perIpu = graph.getTarget().getTilesPerIPU();
  Graph::TileToTensorMapping ofIpus(graph.getTarget().getNumIPUs());
  for (std::size_t tile = 0; tile < mapping.size(); ++tile) {
    auto &to = ofIpus[tile / perIpu];
    to.insert(to.end(), mapping[tile].begin(), mapping[tile].end());
  }
  return isSplit(std::move(ofIpus), t.dim(dimension));
}

} // namespace poputil
