#include <popops/internal/ReducePlan.hpp>

#include <kernels/cost/Reduction.hpp>
#include <popops/internal/ReduceStages.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace popops::internal {

using kernels::cost::ceilDiv;
using poplar::internal::GroupPhase;
using poplar::internal::VertexUse;
using poputil::internal::PhaseBuilder;
using poputil::internal::TileRange;
using poputil::internal::TileShare;

namespace {

std::string reduceName(std::string_view vertex, const Reduction &reduction) {
  const std::string_view op = reduction.op;
  const auto functor = op == "ADD"          ? "ReduceAdd"
                       : op == "SQUARE_ADD" ? "ReduceSquareAdd"
                       : op == "MUL"        ? "ReduceMul"
                       : op == "MIN"        ? "ReduceMin"
                       : op == "MAX"        ? "ReduceMax"
                       : op == "LOG_ADD"    ? "ReduceLogAdd"
                       : op == "LOGICAL_OR" ? "ReduceOr"
                                            : "ReduceAnd";
  return fmt::format("popops::{}<popops::{},{},{},false,0>", vertex, functor,
                     support::toString(reduction.type),
                     support::toString(reduction.outputType));
}

// Workers that reduce `partials` elements to each of `outputs` on a tile.
VertexUse reduceVertices(const kernels::cost::TileSpec &tile,
                         const Reduction &reduction, std::uint64_t outputs,
                         std::uint64_t partials) {
  const bool isSum = reduction.op == "ADD" || reduction.op == "SQUARE_ADD";
  const auto type = reduction.type;
  if (outputs == 1) {
    // One result: each worker takes a part of its partials.
    const auto mine = perWorker(tile, partials);
    const auto cycles = kernels::cost::reduceToScalar(
        tile, type, reduction.outputType, mine, isSum);
    return poputil::internal::workerVertices(reduceName("Reduce", reduction),
                                             tile.workers, cycles, 2, mine);
  }
  const auto mine = perWorker(tile, outputs);
  const auto cycles =
      reduction.isInner
          ? kernels::cost::reduceContinuous(tile, type, mine, partials, isSum)
          : kernels::cost::reduceStrided(tile, type, reduction.outputType, mine,
                                         partials, isSum);
  return poputil::internal::workerVertices(
      reduceName(reduction.isInner ? "ContinuousReduce" : "StridedReduce",
                 reduction),
      tile.workers, cycles, 2, mine * partials);
}

// What the tiles hold after each reduced its own share.
struct OnTile {
  std::uint64_t results; // on the fullest tile
  std::uint64_t total;   // over all tiles
  unsigned tiles = 0;
};

OnTile reduceOnTile(PhaseBuilder &phase, const kernels::cost::TileSpec &tile,
                    const Reduction &reduction,
                    const std::vector<TileShare> &input) {
  OnTile after{0, 0, 0};
  for (const auto &share : input) {
    const auto elements = static_cast<std::uint64_t>(share.elements);
    // Adjacent partials: a tile touches few results; rows: it holds a part of
    // a row or several rows.
    const auto results =
        reduction.isInner
            ? std::max<std::uint64_t>(1, ceilDiv(elements, reduction.partials))
            : std::min(elements, reduction.outputs);
    const auto here = std::max<std::uint64_t>(1, elements / results);
    phase.addVertex(share.tiles,
                    reduceVertices(tile, reduction, results, here));
    after.results = std::max(after.results, results);
    after.total += results * share.tiles.count;
    after.tiles += share.tiles.count;
  }
  return after;
}

// Where the partials lie, and what the tiles take from elsewhere before they
// start.
struct ReduceInput {
  std::vector<TileShare> shares;
  std::vector<TileShare> arriving = {};
  std::uint64_t arrivingElements = 0; // on the fullest tile
};

ReduceInput inputOf(const poplar::Graph &graph, const poplar::Tensor &tensor) {
  if (!tensor.containsAliases()) {
    return {.shares = poputil::internal::sharesOf(graph, tensor)};
  }
  const auto type = poputil::internal::tensorType(tensor).type;
  const auto share =
      poputil::internal::spread(static_cast<std::int64_t>(tensor.numElements()),
                                static_cast<std::int64_t>(vectorWidth(
                                    poputil::internal::tileSpec(graph), type)),
                                poputil::internal::tilesOf(graph, tensor));
  return {.shares = {share},
          .arriving = poputil::internal::distinctSharesOf(graph, tensor),
          .arrivingElements = static_cast<std::uint64_t>(std::min(
              share.elements, poputil::internal::distinctElements(tensor)))};
}

std::vector<GroupPhase> planStages(const poplar::Graph &graph,
                                   const std::string &name,
                                   const Reduction &reduction,
                                   const ReduceInput &input,
                                   TileRange outputTiles) {
  const auto tile = poputil::internal::tileSpec(graph);
  const auto prefix = name.empty() ? std::string() : name + "/";
  std::vector<GroupPhase> phases;
  PhaseBuilder first(prefix + "ReduceOnTile");
  for (const auto &share : input.shares) {
    first.receive(share.tiles,
                  input.arrivingElements * support::sizeOf(reduction.type));
  }
  for (const auto &share : input.arriving) {
    first.send(share.tiles, static_cast<std::uint64_t>(share.elements) *
                                support::sizeOf(reduction.type));
  }
  auto partials = reduceOnTile(first, tile, reduction, input.shares);
  phases.push_back(first.build());
  if (partials.tiles <= 1 || partials.total <= reduction.outputs) {
    return phases;
  }

  const auto size = support::sizeOf(reduction.outputType);
  auto later = reduction;
  later.type = reduction.outputType;
  later.isInner = false;
  if (later.op == "SQUARE_ADD") {
    later.op = "ADD"; // only the first stage squares
  }
  std::vector<TileShare> from = input.shares;
  for (auto &share : from) {
    share.elements = static_cast<std::int64_t>(partials.results);
  }
  auto fanIn = ceilDiv(partials.total, reduction.outputs);
  const auto addStage = [&](const std::string &stage, std::uint64_t depth,
                            std::uint64_t results, TileRange tiles) {
    const auto to = poputil::internal::spread(
        static_cast<std::int64_t>(results),
        static_cast<std::int64_t>(vectorWidth(tile, later.type)), tiles);
    const auto here = static_cast<std::uint64_t>(to.elements);
    PhaseBuilder phase(prefix + stage);
    phase.exchange(from, size, to.tiles, here * depth * size, depth);
    phase.addVertex(to.tiles, reduceVertices(tile, later, here, depth));
    phases.push_back(phase.build());
    from = {to};
  };
  const auto pieces = intermediatePieces({.partials = partials.total,
                                          .outputs = reduction.outputs,
                                          .fanIn = fanIn,
                                          .tilesUsed = partials.tiles,
                                          .tiles = outputTiles.count});
  if (pieces > 1) {
    const auto depth = ceilDiv(fanIn, pieces);
    fanIn = pieces;
    addStage("ReduceStage1", depth, reduction.outputs * fanIn, outputTiles);
  }
  addStage("ReduceFinalStage", fanIn, reduction.outputs, outputTiles);
  return phases;
}

} // namespace

std::vector<GroupPhase> planReduction(const poplar::Graph &graph,
                                      const std::string &name,
                                      const Reduction &reduction,
                                      const std::vector<TileShare> &input,
                                      TileRange outputTiles) {
  return planStages(graph, name, reduction, {.shares = input}, outputTiles);
}

std::vector<GroupPhase> planReductionOf(const poplar::Graph &graph,
                                        const std::string &name,
                                        const Reduction &reduction,
                                        const poplar::Tensor &tensor) {
  return planStages(graph, name, reduction, inputOf(graph, tensor),
                    poputil::internal::tilesOf(graph, tensor));
}

} // namespace popops::internal
