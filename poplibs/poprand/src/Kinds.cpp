// "random" and "dropout" as whole kinds: the seed goes to every tile that draws
// numbers, which then draws its own.
#include "Kinds.hpp"

#include <kernels/cost/Random.hpp>
#include <poplar/internal/Access.hpp>
#include <poplar/internal/HwSeeds.hpp>
#include <popops/internal/ElementwisePlan.hpp>
#include <poputil/internal/Emit.hpp>

#include <algorithm>
#include <cmath>

namespace poprand::internal {

using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::internal::GroupPhase;
using poplar::program::Sequence;
using popops::internal::VertexForShare;

namespace {

using kernels::cost::TileSpec;

// A truncated normal draws again until fewer than one in 100,000 lies outside,
// and four times at least: assumed.
unsigned truncatedDraws(double alpha) {
  const double outside = std::erfc(alpha / std::sqrt(2.0));
  const double draws = std::ceil(std::log(1e-5) / std::log(outside));
  return static_cast<unsigned>(std::clamp(draws, 4.0, 1000.0));
}

std::string_view vertexOf(std::string_view distribution) {
  return distribution == "normal"            ? "poprand::Normal"
         : distribution == "truncatedNormal" ? "poprand::TruncatedNormal"
         : distribution == "bernoulli"       ? "poprand::Bernoulli"
                                             : "poprand::Uniform";
}

kernels::cost::Cycles cyclesOf(const Attributes &attributes,
                               const TileSpec &tile, support::DataType type,
                               std::uint64_t n) {
  const auto &distribution = attributes.getString("distribution");
  if (distribution == "normal") {
    return kernels::cost::normalRandom(tile, type, n);
  }
  if (distribution == "truncatedNormal") {
    const double alpha = attributes.getFloats("parameters").at(2);
    return kernels::cost::truncatedNormalRandom(tile, type, n,
                                                truncatedDraws(alpha));
  }
  if (distribution == "bernoulli") {
    return kernels::cost::bernoulliRandom(tile, type, n);
  }
  return kernels::cost::uniformRandom(tile, type, n);
}

// The seed goes to the tiles of the output.
GroupPhase seedPhase(const Graph &graph, const Tensor &seed,
                     const Tensor &output) {
  constexpr std::uint64_t seedBytes = 2 * sizeof(std::uint32_t);
  poputil::internal::PhaseBuilder phase("SetSeed");
  for (const auto &share : poputil::internal::sharesOf(graph, output)) {
    phase.receive(share.tiles, seedBytes);
    phase.addVertex(share.tiles,
                    poputil::internal::supervisorVertex(
                        "poprand::SetSeed", kernels::cost::setSeed(), 1));
  }
  for (const auto &share : poputil::internal::sharesOf(graph, seed)) {
    phase.send(share.tiles, static_cast<std::uint64_t>(share.elements) *
                                sizeof(std::uint32_t));
  }
  return phase.build();
}

std::vector<GroupPhase> planRandom(const Graph &graph,
                                   const Attributes &attributes,
                                   const Tensor &output) {
  const auto type = poplar::internal::tensorView(output).type;
  const auto &distribution = attributes.getString("distribution");
  if (distribution == "bits") {
    return {}; // the seeds of tiles, which setting them made
  }
  const VertexForShare vertex = [&](const TileSpec &tile, std::uint64_t n) {
    return poputil::internal::supervisorVertex(
        poputil::internal::vertexName(vertexOf(distribution), {type}),
        cyclesOf(attributes, tile, type, n), 1);
  };
  std::vector<GroupPhase> phases{
      popops::internal::planPass(graph, "", {}, output, vertex)};
  if (distribution == "logUniform") {
    const auto exponent = kernels::Expression::apply(
        kernels::ElementwiseOp::EXPONENT, {kernels::Expression::input(0)});
    phases.push_back(popops::internal::planPass(
        graph, "Exp", {output}, output,
        popops::internal::chooseVertex(exponent, {output}, output)));
  }
  return phases;
}

std::vector<GroupPhase> planDropout(const Graph &graph, const Tensor &input,
                                    const Tensor &output) {
  const auto type = poplar::internal::tensorView(output).type;
  const VertexForShare vertex = [&](const TileSpec &tile, std::uint64_t n) {
    return poputil::internal::supervisorVertex(
        poputil::internal::vertexName("poprand::Dropout", {type}),
        kernels::cost::dropoutRandom(tile, type, n), 2, n);
  };
  return {popops::internal::planPass(graph, "", {input}, output, vertex)};
}

} // namespace

void emitWithOutput(Graph &graph, std::string_view kind,
                    const Attributes &attributes,
                    const std::vector<Tensor> &inputs, const Tensor &output,
                    Sequence &program, const DebugContext &debugContext) {
  std::vector<GroupPhase> phases{seedPhase(graph, inputs.back(), output)};
  auto drawing = kind == "dropout" ? planDropout(graph, inputs.front(), output)
                                   : planRandom(graph, attributes, output);
  phases.insert(phases.end(), std::make_move_iterator(drawing.begin()),
                std::make_move_iterator(drawing.end()));
  poputil::internal::emit(
      graph, program, {kind, attributes, inputs, {output}, std::move(phases)},
      debugContext);
}

Tensor nextSeed(Graph &graph, const Tensor &output, Sequence &program,
                const DebugContext &debugContext) {
  const auto shares = poputil::internal::sharesOf(graph, output);
  const unsigned tile = shares.empty() ? 0 : shares.front().tiles.first;
  const Tensor state =
      poplar::internal::hwSeedsOfTile(graph, tile)[0]; // of the first worker
  const Tensor seed = graph.addVariable(poplar::UNSIGNED_INT, {2},
                                        {debugContext, "hardwareSeed"});
  const Tensor replica =
      graph.addReplicationIndexConstant({debugContext, "replica"});
  graph.setTileMapping(seed, tile);
  graph.setTileMapping(replica, tile);
  const Attributes attributes{
      {"tile", std::int64_t{graph.convertTileToTopLevelGraphTile(tile)}}};
  // The generator moves on by itself: no vertex, no cycles.
  poputil::internal::emit(
      graph, program,
      {"nextSeed", attributes, {state, replica}, {state, seed}, {}},
      {debugContext, "NextSeed"});
  return seed;
}

} // namespace poprand::internal
