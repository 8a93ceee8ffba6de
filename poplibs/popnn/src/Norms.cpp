#include <popnn/Norms.hpp>

#include <popnn/BatchNorm.hpp>
#include <popnn/GroupNorm.hpp>
#include <popnn/InstanceNorm.hpp>
#include <popnn/LayerNorm.hpp>

#include "Options.hpp"

#include <poplin/internal/NormKinds.hpp>

#include <popops/ScaledAdd.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace popnn {

using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::Type;
using poplar::program::Sequence;
using poplin::internal::Distribution;
using poplin::internal::NormGrouping;
using poputil::poplibs_error;

namespace {

using Pair = std::pair<Tensor, Tensor>;

// The four families differ in how elements share statistics only: of batch
// norms, channels have one each; of the others, groups of channels of each
// sample.
enum class Family { Batch, Group };

bool isStrided(const OptionFlags &options) {
  return internal::Options(options, {{"groupNormStridedChannelGrouping",
                                      internal::OptionKind::Bool}})
      .getBool("groupNormStridedChannelGrouping", true);
}

NormGrouping groupingOf(Family family, const Graph &graph, const Tensor &acts,
                        std::size_t groups, const OptionFlags &options) {
  poputil::internal::requireCodelets(graph, "popnn",
                                     "popnn::InverseStdDeviation");
  const bool strided = isStrided(options);
  const auto perChannel = NormGrouping::perChannel(acts);
  if (family == Family::Batch) {
    return perChannel;
  }
  support::requireUser<poplibs_error>(
      groups > 0 && acts.dim(1) % groups == 0,
      "[popnn::gn] {} channels cannot be put into {} equal groups", acts.dim(1),
      groups);
  return NormGrouping::perGroup(acts, groups, strided);
}

// As many groups as the statistics were made for.
NormGrouping groupingBy(Family family, const Graph &graph, const Tensor &acts,
                        const Tensor &statistic, const OptionFlags &options) {
  const auto batch = acts.rank() == 0 ? 0 : acts.dim(0);
  return groupingOf(family, graph, acts,
                    batch == 0 ? 1 : statistic.numElements() / batch, options);
}

Pair statistics(Family family, Graph &graph, const Tensor &acts,
                std::size_t groups,
                const poplin::internal::StatisticsOptions &how,
                const Distribution &distribution, Sequence &prog,
                const DebugContext &debugContext, const OptionFlags &options) {
  return poplin::internal::groupedStatistics(
      graph, acts, groupingOf(family, graph, acts, groups, options), how,
      distribution, prog, debugContext);
}

Tensor whiten(Family family, Graph &graph, const Tensor &acts,
              const Tensor &mean, const Tensor &invStdDev, Sequence &prog,
              const DebugContext &debugContext, const OptionFlags &options) {
  return poplin::internal::groupedWhiten(
      graph, acts, groupingBy(family, graph, acts, mean, options), mean,
      invStdDev, prog, debugContext);
}

Pair normalise(Family family, Graph &graph, const Tensor &acts,
               const Tensor &gamma, const Tensor &beta, const Tensor &mean,
               const Tensor &invStdDev, Sequence &prog,
               const DebugContext &debugContext, const OptionFlags &options) {
  const auto whitened =
      whiten(family, graph, acts, mean, invStdDev, prog, debugContext, options);
  return {poplin::normalise(graph, whitened, gamma, beta, prog, debugContext),
          whitened};
}

Pair paramGradients(Graph &graph, const Tensor &whitened, const Tensor &gradsIn,
                    Sequence &prog, const Type &partialsType,
                    const DebugContext &debugContext,
                    const OptionFlags &options) {
  isStrided(options); // rejects unknown ones
  return poplin::normParamGradients(graph, whitened, gradsIn, prog,
                                    partialsType, debugContext);
}

Tensor gradients(Family family, Graph &graph, const Tensor &whitened,
                 const Tensor &gradsIn, const Tensor &invStdDev,
                 const Tensor &gamma, const Distribution &distribution,
                 Sequence &prog, const DebugContext &debugContext,
                 const OptionFlags &options) {
  const auto grouping = groupingBy(family, graph, whitened, invStdDev, options);
  const auto scaled =
      poplin::normGradients(graph, gradsIn, gamma, prog, debugContext);
  return poplin::internal::groupedStatisticsGradients(
      graph, whitened, scaled, grouping, invStdDev, distribution, prog,
      debugContext);
}

template <typename Scale>
void paramUpdate(Graph &graph, const Tensor &gammaDelta,
                 const Tensor &betaDelta, const Scale &scale,
                 const Tensor &gamma, const Tensor &beta, Sequence &prog,
                 const DebugContext &debugContext, const OptionFlags &options) {
  isStrided(options);
  popops::scaledAddTo(graph, gamma, gammaDelta, scale, prog,
                      {debugContext, "GammaUpdate"});
  popops::scaledAddTo(graph, beta, betaDelta, scale, prog,
                      {debugContext, "BetaUpdate"});
}

} // namespace

// What the families share, for each of them.
#define POPNN_NORM(FAMILY, NORM, NORMALISE)                                    \
  Tensor NORM##Whiten(Graph &graph, const Tensor &acts, const Tensor &mean,    \
                      const Tensor &invStdDev, Sequence &prog,                 \
                      const DebugContext &debugContext,                        \
                      const OptionFlags &options) {                            \
    return whiten(FAMILY, graph, acts, mean, invStdDev, prog, debugContext,    \
                  options);                                                    \
  }                                                                            \
  Pair NORMALISE(Graph &graph, const Tensor &acts, const Tensor &gamma,        \
                 const Tensor &beta, const Tensor &mean,                       \
                 const Tensor &invStdDev, Sequence &prog,                      \
                 const DebugContext &debugContext,                             \
                 const OptionFlags &options) {                                 \
    return normalise(FAMILY, graph, acts, gamma, beta, mean, invStdDev, prog,  \
                     debugContext, options);                                   \
  }                                                                            \
  Pair NORM##ParamGradients(                                                   \
      Graph &graph, const Tensor &acts, const Tensor &gradsIn,                 \
      const Tensor &mean, const Tensor &iStdDev, Sequence &prog,               \
      const Type &partialsType, const DebugContext &debugContext,              \
      const OptionFlags &options) {                                            \
    return paramGradients(graph,                                               \
                          whiten(FAMILY, graph, acts, mean, iStdDev, prog,     \
                                 debugContext, options),                       \
                          gradsIn, prog, partialsType, debugContext, options); \
  }                                                                            \
  Pair NORM##ParamGradients(                                                   \
      Graph &graph, const Tensor &actsWhitened, const Tensor &gradsIn,         \
      Sequence &prog, const Type &partialsType,                                \
      const DebugContext &debugContext, const OptionFlags &options) {          \
    return paramGradients(graph, actsWhitened, gradsIn, prog, partialsType,    \
                          debugContext, options);                              \
  }                                                                            \
  Tensor NORM##Gradients(                                                      \
      Graph &graph, const Tensor &acts, const Tensor &gradsIn,                 \
      const Tensor &mean, const Tensor &invStdDev, const Tensor &gamma,        \
      Sequence &prog, const Type &, const DebugContext &debugContext,          \
      const OptionFlags &options) {                                            \
    return gradients(FAMILY, graph,                                            \
                     whiten(FAMILY, graph, acts, mean, invStdDev, prog,        \
                            debugContext, options),                            \
                     gradsIn, invStdDev, gamma, {}, prog, debugContext,        \
                     options);                                                 \
  }                                                                            \
  Tensor NORM##Gradients(Graph &graph, const Tensor &actsWhitened,             \
                         const Tensor &gradsIn, const Tensor &invStdDev,       \
                         const Tensor &gamma, Sequence &prog, const Type &,    \
                         const DebugContext &debugContext,                     \
                         const OptionFlags &options) {                         \
    return gradients(FAMILY, graph, actsWhitened, gradsIn, invStdDev, gamma,   \
                     {}, prog, debugContext, options);                         \
  }                                                                            \
  void NORM##ParamUpdate(                                                      \
      Graph &graph, const Tensor &gammaDelta, const Tensor &betaDelta,         \
      float scale, Tensor &gamma, Tensor &beta, Sequence &prog,                \
      const DebugContext &debugContext, const OptionFlags &options) {          \
    paramUpdate(graph, gammaDelta, betaDelta, scale, gamma, beta, prog,        \
                debugContext, options);                                        \
  }                                                                            \
  void NORM##ParamUpdate(                                                      \
      Graph &graph, const Tensor &gammaDelta, const Tensor &betaDelta,         \
      const Tensor &scale, Tensor &gamma, Tensor &beta, Sequence &prog,        \
      const DebugContext &debugContext, const OptionFlags &options) {          \
    paramUpdate(graph, gammaDelta, betaDelta, scale, gamma, beta, prog,        \
                debugContext, options);                                        \
  }

namespace bn {

POPNN_NORM(Family::Batch, batchNorm, batchNormalise)

Pair batchNormStatistics(Graph &graph, const Tensor acts, float eps,
                         Sequence &prog, bool unbiasedVarEstimate,
                         bool stableAlgo, const Type &,
                         const DebugContext &debugContext,
                         const OptionFlags &options) {
  return statistics(Family::Batch, graph, acts, 1,
                    {eps, unbiasedVarEstimate, stableAlgo}, {}, prog,
                    debugContext, options);
}

Tensor batchNormalise(Graph &graph, const Tensor &acts,
                      const Tensor &combinedMultiplicand, const Tensor &addend,
                      Sequence &prog, const DebugContext &debugContext,
                      const OptionFlags &options) {
  isStrided(options);
  return poplin::normalise(graph, acts, combinedMultiplicand, addend, prog,
                           debugContext);
}

Pair distributedBatchNormStatistics(
    Graph &replicatedGraph, const Tensor acts, float eps, Sequence &prog,
    bool unbiasedVarEstimate,
    poplin::DistributedNormReduceCallback reduceCallback,
    unsigned normBatchSize, bool stableAlgo, const Type &,
    const DebugContext &debugContext, const OptionFlags &options) {
  return statistics(Family::Batch, replicatedGraph, acts, 1,
                    {eps, unbiasedVarEstimate, stableAlgo},
                    poplin::internal::distributionOf(
                        acts, std::move(reduceCallback), normBatchSize),
                    prog, debugContext, options);
}

Tensor distributedBatchNormGradients(
    Graph &replicatedGraph, const Tensor &acts, const Tensor &gradsIn,
    const Tensor &mean, const Tensor &invStdDev, const Tensor &gamma,
    Sequence &prog, poplin::DistributedNormReduceCallback reduceCallback,
    unsigned normBatchSize, const Type &partialsType,
    const DebugContext &debugContext, const OptionFlags &options) {
  const auto whitened = whiten(Family::Batch, replicatedGraph, acts, mean,
                               invStdDev, prog, debugContext, options);
  return distributedBatchNormGradients(replicatedGraph, whitened, gradsIn,
                                       invStdDev, gamma, prog,
                                       std::move(reduceCallback), normBatchSize,
                                       partialsType, debugContext, options);
}

Tensor distributedBatchNormGradients(
    Graph &replicatedGraph, const Tensor &actsWhitened, const Tensor &gradsIn,
    const Tensor &invStdDev, const Tensor &gamma, Sequence &prog,
    poplin::DistributedNormReduceCallback reduceCallback,
    unsigned normBatchSize, const Type &, const DebugContext &debugContext,
    const OptionFlags &options) {
  return gradients(Family::Batch, replicatedGraph, actsWhitened, gradsIn,
                   invStdDev, gamma,
                   poplin::internal::distributionOf(
                       actsWhitened, std::move(reduceCallback), normBatchSize),
                   prog, debugContext, options);
}

} // namespace bn

namespace gn {

POPNN_NORM(Family::Group, groupNorm, groupNormalise)

Pair groupNormStatistics(Graph &graph, const Tensor acts, float eps,
                         Sequence &prog, unsigned numGroups,
                         bool unbiasedVarEstimate, bool stableAlgo,
                         const Type &, const DebugContext &debugContext,
                         const OptionFlags &options) {
  return statistics(Family::Group, graph, acts, numGroups,
                    {eps, unbiasedVarEstimate, stableAlgo}, {}, prog,
                    debugContext, options);
}

} // namespace gn

namespace ln {

POPNN_NORM(Family::Group, layerNorm, layerNormalise)

Pair layerNormStatistics(Graph &graph, const Tensor acts, float eps,
                         Sequence &prog, bool unbiasedVarEstimate,
                         bool stableAlgo, const Type &,
                         const DebugContext &debugContext,
                         const OptionFlags &options) {
  return statistics(Family::Group, graph, acts, 1,
                    {eps, unbiasedVarEstimate, stableAlgo}, {}, prog,
                    debugContext, options);
}

} // namespace ln

namespace in {

POPNN_NORM(Family::Group, instanceNorm, instanceNormalise)

Pair instanceNormStatistics(Graph &graph, const Tensor acts, float eps,
                            Sequence &prog, bool unbiasedVarEstimate,
                            bool stableAlgo, const Type &,
                            const DebugContext &debugContext,
                            const OptionFlags &options) {
  const auto channels = acts.rank() < 2 ? 1 : acts.dim(1);
  return statistics(Family::Group, graph, acts, channels,
                    {eps, unbiasedVarEstimate, stableAlgo}, {}, prog,
                    debugContext, options);
}

} // namespace in

#undef POPNN_NORM

Tensor createNormGamma(Graph &graph, const Tensor &acts,
                       const DebugContext &debugContext) {
  return poplin::createNormGamma(graph, acts, debugContext);
}

Tensor createNormBeta(Graph &graph, const Tensor &acts,
                      const DebugContext &debugContext) {
  return poplin::createNormBeta(graph, acts, debugContext);
}

std::pair<Tensor, Tensor> createNormParams(Graph &graph, const Tensor &acts,
                                           const DebugContext &debugContext) {
  return poplin::createNormParams(graph, acts, debugContext);
}

// Per activation: a sum and a sum of squares for the statistics, a difference
// and a product to whiten, a product and a sum for gamma and beta. Per
// statistic: two scalings, the mean squared and subtracted, epsilon, the root
// and its inverse.
std::uint64_t getNormFwdFlops(std::size_t statisticsSize,
                              std::size_t numActsElements, bool computeStats) {
  const std::uint64_t statistics =
      computeStats ? 3 * numActsElements + 7 * statisticsSize : 0;
  return statistics + 4 * numActsElements;
}

// Per activation: times gamma, two sums with a product, two differences with a
// product, times the deviation. Per statistic: two scalings.
std::uint64_t getNormBwdFlops(std::size_t statisticsSize,
                              std::size_t numActsElements) {
  return 8 * numActsElements + 2 * statisticsSize;
}

// Two sums and a product; the sums start with a first element.
std::uint64_t getNormWuFlops(std::size_t statisticsSize,
                             std::size_t numActsElements) {
  return 3 * numActsElements - 2 * statisticsSize;
}

} // namespace popnn
