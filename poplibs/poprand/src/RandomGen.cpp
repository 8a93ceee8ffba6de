#include <poprand/RandomGen.hpp>

#include <poprand/codelets.hpp>

#include "Kinds.hpp"

#include <poplar/RandomSeed.hpp>
#include <poplar/internal/Access.hpp>
#include <popops/internal/Kinds.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <limits>

namespace poprand {

using kernels::Attributes;
using kernels::Expression;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::Type;
using poplar::program::Sequence;
using poputil::poplibs_error;

namespace {

void requireSeed(const Tensor &seed) {
  support::requireUser<poplibs_error>(
      seed.rank() == 1 && seed.dim(0) == 2 &&
          seed.elementType() == poplar::UNSIGNED_INT,
      "[poprand] seed tensor must have rank 1 and 2 elements of type "
      "UNSIGNED_INT; {}{} given",
      seed.elementType().toString().cloneAsString(), seed.shapeToString());
}

void requireCodelets(const Graph &graph, std::string_view vertex) {
  poputil::internal::requireCodelets(graph, "poprand", vertex);
}

// What an operation's numbers are made of, besides its seed.
struct Draw {
  std::string_view distribution;
  Attributes::Floats parameters;
  std::uint32_t modifier;
};

Attributes attributesOf(const Draw &draw, const kernels::TensorType &type) {
  return {{"distribution", std::string(draw.distribution)},
          {"parameters", draw.parameters},
          {"modifier", std::int64_t{draw.modifier}},
          {"type", static_cast<std::int64_t>(type.type)},
          {"shape", Attributes::Ints(type.shape)}};
}

Tensor seedOf(Graph &graph, const Tensor *seed, const Tensor &output,
              Sequence &prog, const DebugContext &debugContext) {
  return seed != nullptr
             ? *seed
             : internal::nextSeed(graph, output, prog, debugContext);
}

Tensor drawLike(Graph &graph, const Tensor *seed, const Tensor &reference,
                const Type &outType, const Draw &draw, Sequence &prog,
                const DebugContext &debugContext) {
  requireCodelets(graph, "poprand::SetSeed");
  if (seed != nullptr) {
    requireSeed(*seed);
  }
  auto type = poputil::internal::tensorType(reference);
  type.type = poplar::internal::toDataType(outType);
  const auto attributes = attributesOf(draw, type);
  const auto output = graph.clone(outType, reference, {debugContext, "out"});
  const auto from = seedOf(graph, seed, output, prog, debugContext);
  poputil::internal::inferOutputs("random", attributes, {from});
  internal::emitWithOutput(graph, "random", attributes, {from}, output, prog,
                           debugContext);
  return output;
}

// Bounds of INT must be integers that it can hold.
void requireBounds(std::string_view function, const Type &type, double low,
                   double high) {
  using Limits = std::numeric_limits<std::int32_t>;
  support::requireUser<poplibs_error>(
      type != poplar::INT ||
          (low >= Limits::min() && high <= Limits::max() &&
           std::floor(low) == low && std::floor(high) == high),
      "[poprand::{}] bounds {} and {} for INT: whole numbers from {} to {} are "
      "allowed",
      function, low, high, Limits::min(), Limits::max());
}

} // namespace

Tensor uniform(Graph &graph, const Tensor *seed, std::uint32_t seedModifier,
               const Tensor &reference, const Type &outType, double minVal,
               double maxVal, Sequence &prog,
               const DebugContext &debugContext) {
  requireBounds("uniform", outType, minVal, maxVal);
  return drawLike(graph, seed, reference, outType,
                  {"uniform", {minVal, maxVal}, seedModifier}, prog,
                  {debugContext, "Uniform"});
}

Tensor normal(Graph &graph, const Tensor *seed, std::uint32_t seedModifier,
              const Tensor &reference, const Type &outType, double mean,
              double stdDev, Sequence &prog, const DebugContext &debugContext) {
  return drawLike(graph, seed, reference, outType,
                  {"normal", {mean, stdDev}, seedModifier}, prog,
                  {debugContext, "Normal"});
}

Tensor truncatedNormal(Graph &graph, const Tensor *seed,
                       std::uint32_t seedModifier, const Tensor &reference,
                       const Type &outType, double mean, double stdDev,
                       double alpha, Sequence &prog,
                       const DebugContext &debugContext) {
  return drawLike(graph, seed, reference, outType,
                  {"truncatedNormal", {mean, stdDev, alpha}, seedModifier},
                  prog, {debugContext, "TruncatedNormal"});
}

Tensor bernoulli(Graph &graph, const Tensor *seed, std::uint32_t seedModifier,
                 const Tensor &reference, const Type &outType, double prob,
                 Sequence &prog, const DebugContext &debugContext) {
  return drawLike(graph, seed, reference, outType,
                  {"bernoulli", {prob}, seedModifier}, prog,
                  {debugContext, "Bernoulli"});
}

Tensor logUniform(Graph &graph, const Tensor *seed, std::uint32_t seedModifier,
                  const Tensor &reference, const Type &outType, double minVal,
                  double maxVal, Sequence &prog, double base,
                  const DebugContext &debugContext) {
  requireBounds("logUniform", outType, minVal, maxVal);
  support::requireUser<poplibs_error>(
      base > 0 && base != 1,
      "[poprand::logUniform] base {} given; a number above 0 other than 1 is "
      "needed",
      base);
  return drawLike(graph, seed, reference, outType,
                  {"logUniform", {minVal, maxVal}, seedModifier}, prog,
                  {debugContext, "LogUniform"});
}

Tensor dropout(Graph &graph, const Tensor *seed, std::uint32_t seedModifier,
               const Tensor &input, const Tensor &reference,
               double keepProbability, double scale, bool outputClonesRef,
               Sequence &prog, const DebugContext &debugContext) {
  requireCodelets(graph, "poprand::Dropout");
  support::requireUser<poplibs_error>(
      input.shape() == reference.shape(),
      "[poprand::dropout] the input has shape {}, the reference {}; they must "
      "be the same",
      input.shapeToString(), reference.shapeToString());
  if (seed != nullptr) {
    requireSeed(*seed);
  }
  const DebugContext context{debugContext, "Dropout"};
  const auto output =
      graph.clone(input.elementType(), outputClonesRef ? reference : input,
                  {context, "out"});
  const Attributes attributes{{"keepProbability", keepProbability},
                              {"scale", scale},
                              {"modifier", std::int64_t{seedModifier}}};
  const auto from = seedOf(graph, seed, output, prog, context);
  poputil::internal::inferOutputs("dropout", attributes, {input, from});
  internal::emitWithOutput(graph, "dropout", attributes, {input, from}, output,
                           prog, context);
  return output;
}

Tensor dropout(Graph &graph, const Tensor *seed, std::uint32_t seedModifier,
               const Tensor &input, const Tensor &reference,
               double keepProbability, double scale, Sequence &prog,
               const DebugContext &debugContext) {
  return dropout(graph, seed, seedModifier, input, reference, keepProbability,
                 scale, true, prog, debugContext);
}

Tensor shapedDropout(Graph &graph, const Tensor *seed,
                     std::uint32_t seedModifier, const Tensor &input,
                     const Tensor &reference, double keepProbability,
                     double scale, Sequence &prog,
                     const DebugContext &debugContext) {
  const DebugContext context{debugContext, "ShapedDropout"};
  const auto mask =
      bernoulli(graph, seed, seedModifier, reference, input.elementType(),
                keepProbability, prog, context);
  constexpr std::string_view names[] = {"x", "mask"};
  const auto expression = Expression::parse(
      fmt::format("x*mask*{:.9g}", static_cast<float>(scale)), names);
  return popops::internal::elementwise(graph, expression, {input, mask}, prog,
                                       context);
}

void setSeed(Graph &graph, const Tensor &masterSeed, std::uint32_t seedModifier,
             Sequence &prog, const DebugContext &debugContext) {
  requireCodelets(graph, "poprand::SetSeed");
  requireSeed(masterSeed);
  const DebugContext context{debugContext, "SetSeed"};
  const auto &target = graph.getTarget();
  const auto seeds = graph.addVariable(
      poplar::UNSIGNED_INT,
      {target.getNumTiles(), target.getNumWorkerContexts(), 4},
      {context, "seeds"});
  for (unsigned tile = 0; tile < target.getNumTiles(); ++tile) {
    graph.setTileMapping(seeds[tile], tile);
  }
  internal::emitWithOutput(graph, "random",
                           attributesOf({"bits", {}, seedModifier},
                                        poputil::internal::tensorType(seeds)),
                           {masterSeed}, seeds, prog, context);
  poplar::setHwSeeds(graph, seeds, prog, context);
}

void addCodelets(Graph &graph) {
  poputil::internal::addLibraryCodelets(graph, "poprand");
}

} // namespace poprand
