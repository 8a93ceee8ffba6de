#include <poputil/internal/Tiles.hpp>

#include <poplar/internal/Access.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace poputil::internal {

using kernels::cost::ceilDiv;
using poplar::internal::MappingPiece;
using poplar::internal::Piece;
using poplar::internal::TensorView;

namespace {

// Views of more runs than this count as evenly spread.
constexpr std::size_t exactRuns = 64;

std::int64_t partOf(const MappingPiece &piece, std::int64_t element) {
  const auto length = piece.end - piece.begin;
  const auto grains = (length + piece.grain - 1) / piece.grain;
  const auto grain = (element - piece.begin) / piece.grain;
  // The last part p with p*grains/parts <= grain.
  return ((grain + 1) * piece.parts - 1) / grains;
}

std::int64_t largestShare(const MappingPiece &piece) {
  const auto length = piece.end - piece.begin;
  const auto grains = (length + piece.grain - 1) / piece.grain;
  const auto parts = static_cast<std::int64_t>(piece.parts);
  return std::min(length, (grains + parts - 1) / parts * piece.grain);
}

// Adds the shares of elements [begin, end) of a mapping.
void addRun(const poplar::internal::TileMapping &mapping, std::int64_t begin,
            std::int64_t end, std::vector<TileShare> &shares) {
  for (const auto &piece : mapping.pieces()) {
    const auto from = std::max(begin, piece.begin);
    const auto to = std::min(end, piece.end);
    if (from >= to) {
      continue;
    }
    const auto first = static_cast<unsigned>(partOf(piece, from));
    const auto last = static_cast<unsigned>(partOf(piece, to - 1));
    shares.push_back({{piece.firstTile + first, last - first + 1},
                      std::min(largestShare(piece), to - from)});
  }
}

// Cuts overlapping shares into disjoint ranges and adds them up.
std::vector<TileShare> mergeShares(const std::vector<TileShare> &shares) {
  if (shares.size() <= 1) {
    return shares;
  }
  std::vector<std::pair<unsigned, std::int64_t>> edges;
  edges.reserve(2 * shares.size());
  for (const auto &share : shares) {
    edges.emplace_back(share.tiles.first, share.elements);
    edges.emplace_back(share.tiles.end(), -share.elements);
  }
  std::sort(edges.begin(), edges.end());
  std::vector<TileShare> merged;
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < edges.size();) {
    const auto tile = edges[i].first;
    for (; i < edges.size() && edges[i].first == tile; ++i) {
      elements += edges[i].second;
    }
    if (elements == 0) {
      continue;
    }
    const TileRange range{tile, edges[i].first - tile};
    if (!merged.empty() && merged.back().tiles.end() == tile &&
        merged.back().elements == elements) {
      merged.back().tiles.count += range.count;
    } else {
      merged.push_back({range, elements});
    }
  }
  return merged;
}

// The shares of the pieces' variables, scaled to what the pieces take of them.
std::vector<TileShare> approximateShares(const poplar::Graph &graph,
                                         const TensorView &view) {
  std::map<poplar::internal::VariableId, std::int64_t> taken;
  for (const Piece &piece : view.pieces) {
    taken[piece.variable] += support::elementCount(piece.extents);
  }
  std::vector<TileShare> shares;
  poplar::internal::TileMapping translated;
  for (const auto &[id, elements] : taken) {
    const auto &variable = poplar::internal::graphData(graph)[id];
    const auto total = std::max<std::int64_t>(variable.elements(), 1);
    const auto &mapping = poplar::internal::mappingIn(graph, id, translated);
    for (const auto &part : mapping.pieces()) {
      const auto share = largestShare(part) * elements / total;
      shares.push_back(
          {{part.firstTile, part.parts}, std::max<std::int64_t>(share, 1)});
    }
  }
  return mergeShares(shares);
}

std::size_t countRuns(const TensorView &view) {
  std::size_t runs = 0;
  for (const Piece &piece : view.pieces) {
    std::int64_t run = 1;
    auto dims = piece.extents.size();
    while (dims > 0 &&
           (piece.strides[dims - 1] == run || piece.extents[dims - 1] == 1)) {
      run *= piece.extents[--dims];
    }
    runs += static_cast<std::size_t>(
        support::elementCount({piece.extents.data(), dims}));
  }
  return runs;
}

// The pieces without what they repeat, each once.
std::vector<Piece> distinctPieces(const TensorView &view) {
  std::vector<Piece> pieces;
  std::set<std::tuple<poplar::internal::VariableId, std::int64_t,
                      support::Shape, support::Strides>>
      seen;
  for (Piece piece : view.pieces) {
    for (std::size_t d = 0; d < piece.extents.size(); ++d) {
      if (piece.strides[d] == 0) {
        piece.extents[d] = std::min<std::int64_t>(piece.extents[d], 1);
      }
    }
    if (seen.emplace(piece.variable, piece.offset, piece.extents, piece.strides)
            .second) {
      pieces.push_back(std::move(piece));
    }
  }
  return pieces;
}

// What each tile holds of the elements that the pieces of a view name.
std::vector<TileShare> sharesOfView(const poplar::Graph &graph,
                                    const TensorView &view) {
  if (countRuns(view) > exactRuns) {
    return approximateShares(graph, view);
  }
  std::vector<TileShare> shares;
  poplar::internal::TileMapping translated;
  poplar::internal::forEachRun(view, [&](poplar::internal::VariableId variable,
                                         std::int64_t begin,
                                         std::int64_t count) {
    addRun(poplar::internal::mappingIn(graph, variable, translated), begin,
           begin + count, shares);
  });
  return mergeShares(shares);
}

} // namespace

kernels::cost::TileSpec tileSpec(const poplar::Graph &graph) {
  const auto &target = *poplar::internal::graphData(graph).target;
  return {.workers = target.workerContexts,
          .dataPathBytes = target.dataPathBits / 8,
          .fp16InFp16OutConvUnits = target.fp16InFp16OutConvUnits,
          .fp16InFp32OutConvUnits = target.fp16InFp32OutConvUnits,
          .fp32ConvUnits = target.fp32ConvUnits,
          .convUnitPipelineDepth = target.convUnitPipelineDepth,
          // use128BitConvUnitLoad is off by default.
          .convUnitCoeffLoadBytes = target.convUnitCoeffLoadBytes / 2};
}

TileRange tilesOf(const poplar::Graph &graph, const poplar::Tensor &tensor) {
  const auto perIpu = graph.getTarget().getTilesPerIPU();
  unsigned first = graph.getTarget().getNumTiles();
  unsigned end = 0;
  poplar::internal::TileMapping translated;
  for (const Piece &piece : poplar::internal::tensorView(tensor).pieces) {
    const auto &mapping =
        poplar::internal::mappingIn(graph, piece.variable, translated);
    for (const auto &part : mapping.pieces()) {
      first = std::min(first, part.firstTile);
      end = std::max(end, part.firstTile + part.parts);
    }
  }
  if (first >= end) {
    return {0, perIpu}; // unmapped: the compiler will say so
  }
  const auto firstIpu = first / perIpu;
  const auto endIpu = (end + perIpu - 1) / perIpu;
  return {firstIpu * perIpu, (endIpu - firstIpu) * perIpu};
}

std::vector<TileShare> sharesOf(const poplar::Graph &graph,
                                const poplar::Tensor &tensor) {
  return sharesOfView(graph, poplar::internal::tensorView(tensor));
}

std::vector<TileShare> distinctSharesOf(const poplar::Graph &graph,
                                        const poplar::Tensor &tensor) {
  auto view = poplar::internal::tensorView(tensor);
  view.pieces = distinctPieces(view);
  return sharesOfView(graph, view);
}

bool isWholeVariable(const poplar::Graph &graph, const poplar::Tensor &tensor) {
  const auto &view = poplar::internal::tensorView(tensor);
  if (view.pieces.size() != 1) {
    return false;
  }
  const Piece &piece = view.pieces.front();
  const auto &variable = poplar::internal::graphData(graph)[piece.variable];
  return piece.offset == 0 && countRuns(view) == 1 &&
         view.elements() == variable.elements();
}

std::int64_t distinctElements(const poplar::Tensor &tensor) {
  std::int64_t elements = 0;
  for (const Piece &piece :
       distinctPieces(poplar::internal::tensorView(tensor))) {
    elements += support::elementCount(piece.extents);
  }
  return elements;
}

std::int64_t runLength(const poplar::Tensor &tensor) {
  const auto &view = poplar::internal::tensorView(tensor);
  const auto runs = static_cast<std::int64_t>(countRuns(view));
  return std::max<std::int64_t>(
      view.elements() / std::max<std::int64_t>(runs, 1), 1);
}

MappingPiece linearPiece(std::int64_t elements, std::int64_t minElementsPerTile,
                         std::int64_t grain, TileRange tiles) {
  support::requireInternal(grain > 0 && tiles.count > 0,
                           "linear mapping with grain {} on {} tiles", grain,
                           tiles.count);
  const auto up = [](std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
  };
  const auto grains = up(elements, grain);
  auto perPart = up(grains, tiles.count);
  if (minElementsPerTile != 0) {
    const auto minGrains = up(minElementsPerTile, grain);
    const auto maxParts = std::max<std::int64_t>(1, grains / minGrains);
    perPart = std::max(perPart, up(grains, maxParts));
  }
  const auto parts =
      std::max<std::int64_t>(1, up(grains, std::max<std::int64_t>(perPart, 1)));
  return {0, elements, tiles.first, static_cast<unsigned>(parts), grain};
}

MappingPiece linearPiece(const poplar::Graph &graph,
                         const kernels::TensorType &tensor, TileRange tiles) {
  constexpr std::uint64_t minBytesPerTile = 128;
  return linearPiece(
      support::elementCount(tensor.shape),
      static_cast<std::int64_t>(
          ceilDiv(minBytesPerTile, support::sizeOf(tensor.type))),
      static_cast<std::int64_t>(vectorWidth(tileSpec(graph), tensor.type)),
      tiles);
}

namespace {

constexpr const char *turnsKey = "poputil/turns";
// Larger variables stay where others of their shape are, so that operations on
// both need no exchange.
constexpr unsigned partsInTurn = 4; // at most one of so many of the tiles
// By the first tile of a range: where in the range the next variable begins.
using Turns = std::map<unsigned, unsigned>;

MappingPiece inTurn(poplar::Graph &graph, MappingPiece piece, TileRange tiles) {
  const auto &data = poplar::internal::graphData(graph).libraryData;
  const auto found = data.find(turnsKey);
  if (found == data.end() || partsInTurn * piece.parts > tiles.count) {
    return piece;
  }
  auto &next = (*static_cast<Turns *>(found->second.get()))[tiles.first];
  if (next + piece.parts > tiles.count) {
    next = 0;
  }
  piece.firstTile += next;
  next += piece.parts;
  return piece;
}

} // namespace

void takeTurns(poplar::Graph &graph) {
  auto &slot = poplar::internal::graphData(graph).libraryData[turnsKey];
  if (!slot) {
    slot = std::make_shared<Turns>();
  }
}

poplar::Tensor addLinearVariable(poplar::Graph &graph,
                                 const kernels::TensorType &tensor,
                                 TileRange tiles,
                                 const poplar::DebugContext &debugContext) {
  const std::vector<std::size_t> shape(tensor.shape.begin(),
                                       tensor.shape.end());
  auto variable = graph.addVariable(poplar::internal::toType(tensor.type),
                                    shape, debugContext);
  if (support::elementCount(tensor.shape) != 0) {
    poplar::internal::setLinearMapping(
        graph, variable,
        inTurn(graph, linearPiece(graph, tensor, tiles), tiles));
  }
  return variable;
}

poplar::Tensor addVariableLike(poplar::Graph &graph,
                               const kernels::TensorType &tensor,
                               const poplar::Tensor &like,
                               const poplar::DebugContext &debugContext) {
  const std::vector<std::size_t> shape(tensor.shape.begin(),
                                       tensor.shape.end());
  auto variable = graph.addVariable(poplar::internal::toType(tensor.type),
                                    shape, debugContext);
  auto &data = poplar::internal::graphData(graph);
  const auto idOf = [](const poplar::Tensor &of) {
    return poplar::internal::tensorView(of).pieces.front().variable;
  };
  if (support::elementCount(tensor.shape) != 0) {
    data[idOf(variable)].mapping = data[idOf(like)].mapping;
  }
  return variable;
}

TileShare spread(std::int64_t elements, std::int64_t grain, TileRange tiles) {
  const auto piece =
      linearPiece(std::max<std::int64_t>(elements, 1), 0, grain, tiles);
  return {{piece.firstTile, piece.parts}, largestShare(piece)};
}

kernels::TensorType tensorType(const poplar::Tensor &tensor) {
  const auto &view = poplar::internal::tensorView(tensor);
  return {view.type, view.shape};
}

} // namespace poputil::internal
