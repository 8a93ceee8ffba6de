// "histogram" and "sequenceSlice": what they count, and how many rows they
// copy, only the run knows.
#include <popops/GatherStatistics.hpp>
#include <popops/SequenceSlice.hpp>

#include <popops/internal/ElementwisePlan.hpp>
#include <popops/internal/ReducePlan.hpp>

#include <kernels/cost/Random.hpp>
#include <kernels/cost/Slice.hpp>
#include <poplar/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <algorithm>

namespace popops {

using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::internal::GroupPhase;
using poplar::program::Sequence;
using poputil::internal::vertexName;

namespace {

void checkHistogramOptions(const poplar::OptionFlags &options) {
  for (const auto &[name, value] : options) {
    support::requireUser<poplar::invalid_option>(
        name == "useFloatArithmetic", "Unrecognised option '{}'", name);
    support::requireUser<poplar::invalid_option>(
        value == "true" || value == "false",
        "Invalid value '{}' for option '{}': Not one of the values: ['true', "
        "'false']",
        value, name);
  }
}

// Every tile counts what it holds; the counts are added up.
std::vector<GroupPhase> planHistogram(const Graph &graph, const Tensor &input,
                                      std::uint64_t bins,
                                      poputil::internal::TileRange tiles) {
  const auto type = poputil::internal::tensorType(input).type;
  std::vector<GroupPhase> phases{internal::planPass(
      graph, "OnTile", {}, input,
      [=](const kernels::cost::TileSpec &tile, std::uint64_t n) {
        return poputil::internal::supervisorVertex(
            vertexName("popops::HistogramMultiVertex", {type}),
            std::min(kernels::cost::histogramByLimit(tile, type, n, bins),
                     kernels::cost::histogramByData(tile, type, n, bins)),
            3, n * bins);
      })};
  auto shares = poputil::internal::sharesOf(graph, input);
  std::uint64_t used = 0;
  for (auto &share : shares) {
    share.elements = static_cast<std::int64_t>(bins);
    used += share.tiles.count;
  }
  for (auto &phase :
       internal::planReduction(graph, "",
                               {.op = "ADD",
                               .type = support::DataType::Float,
                               .outputType = support::DataType::Float,
                               .outputs = bins,
                               .partials = used,
                               .isInner = false},
                               shares, tiles)) {
    phases.push_back(std::move(phase));
  }
  return phases;
}

} // namespace

Tensor histogram(Graph &graph, const Tensor &input, const Tensor &levels,
                 bool absoluteOfInput, Sequence &prog,
                 const DebugContext &debugContext,
                 const poplar::OptionFlags &options) {
  checkHistogramOptions(options);
  poputil::internal::requireCodelets(graph, "popops",
                                     "popops::HistogramMultiVertex");
  const DebugContext context(debugContext, "histogram");
  const Attributes attributes{{"absolute", std::int64_t{absoluteOfInput}}};
  const auto tiles = poputil::internal::tilesOf(graph, input);
  const auto outputs = poputil::internal::addOutputs(
      graph, "histogram", attributes, {input, levels}, tiles, context);
  poputil::internal::emit(
      graph, prog,
      {"histogram",
       attributes,
       {input, levels},
       outputs,
       input.numElements() == 0
           ? std::vector<GroupPhase>{}
           : planHistogram(graph, input, outputs[0].numElements(), tiles)},
      context);
  return outputs.front();
}

void sequenceSlice(Graph &graph, const Tensor &in, const Tensor &out,
                   const Tensor &n, const Tensor &inOffset,
                   const Tensor &outOffset, bool zeroUnused, Sequence &prog,
                   const DebugContext &debugContext) {
  poputil::internal::requireCodelets(graph, "popops", "popops::SequenceSlice");
  const Attributes attributes{{"zeroUnused", std::int64_t{zeroUnused}}};
  const std::vector<Tensor> inputs{in, out, n, inOffset, outOffset};
  const auto type =
      poputil::internal::inferOutputs("sequenceSlice", attributes, inputs)[0]
          .type;
  if (out.numElements() == 0) {
    return;
  }
  const std::uint64_t sequences = n.numElements();
  auto phase = internal::planPass(
      graph, "", {in, n, inOffset, outOffset}, out,
      [=](const kernels::cost::TileSpec &, std::uint64_t elements) {
        const auto words = kernels::cost::ceilDiv(
            elements * support::sizeOf(type), std::uint64_t{4});
        return poputil::internal::supervisorVertex(
            vertexName("popops::SequenceSlice", {type}),
            kernels::cost::sequenceSlice(std::max<std::uint64_t>(sequences, 1),
                                         words),
            5);
      });
  poputil::internal::emit(
      graph, prog,
      {"sequenceSlice", attributes, inputs, {out}, {std::move(phase)}},
      {debugContext, "sequenceSlice"});
}

} // namespace popops
