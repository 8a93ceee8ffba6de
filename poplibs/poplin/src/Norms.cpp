#include <poplin/Norms.hpp>

#include <poplin/internal/NormKinds.hpp>

#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace poplin {

using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::Type;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;
using namespace popops::expr;

namespace {

void requireActs(const Tensor &acts) {
  requireUser<poplibs_error>(
      acts.rank() >= 2,
      "[poplin::norm] the activations have rank {}; they must be [batch, "
      "channels, field...]",
      acts.rank());
}

void requireSame(const char *name, const Tensor &given, const Tensor &like) {
  requireUser<poplibs_error>(
      given.shape() == like.shape(),
      "[poplin::norm] the {} have shape {}; the activations have {}", name,
      given.shapeToString(), like.shapeToString());
}

void requireElements(const char *name, const Tensor &given,
                     std::size_t elements) {
  requireUser<poplibs_error>(
      given.numElements() == elements,
      "[poplin::norm] the {} has {} elements; {} are needed", name,
      given.numElements(), elements);
}

Tensor createParam(Graph &graph, const Tensor &acts, const Type &type,
                   const char *name, const DebugContext &debugContext) {
  requireActs(acts);
  const auto param =
      graph.addVariable(type, {acts.dim(1)}, {debugContext, name});
  poputil::mapTensorLinearly(graph, param);
  return param;
}

// A value per channel, to match the activations.
Tensor alongChannels(const Tensor &param, const Tensor &acts) {
  requireActs(acts);
  requireElements("parameter", param, acts.dim(1));
  std::vector<std::size_t> shape(acts.rank() - 1, 1);
  shape[0] = acts.dim(1);
  return param.reshape(shape);
}

// The mean of function(acts) over all replicas, a value per statistic in FLOAT.
std::vector<Tensor>
distributedMeans(Graph &graph,
                 const std::vector<std::pair<Tensor, popops::Operation>> &parts,
                 const internal::NormGrouping &grouping,
                 const internal::Distribution &distribution, Sequence &prog,
                 const DebugContext &debugContext) {
  const float scale = 1.0f / (static_cast<float>(grouping.count()) *
                              static_cast<float>(distribution.factor));
  std::vector<Tensor> means;
  for (const auto &[acts, operation] : parts) {
    const auto sum =
        popops::reduce(graph, grouping.view(acts), poplar::FLOAT, {1, 3},
                       operation, prog, {debugContext, "Sum"});
    means.push_back(popops::mul(graph, sum, scale, prog, debugContext));
  }
  if (distribution.factor > 1) {
    means = distribution.callback(graph, means, prog, distribution.factor,
                                  {debugContext, "DistributedReduce"}, {});
  }
  return means;
}

std::pair<Tensor, Tensor>
distributedStatistics(Graph &graph, const Tensor &acts,
                      const internal::NormGrouping &grouping,
                      const internal::StatisticsOptions &options,
                      const internal::Distribution &distribution,
                      Sequence &prog, const DebugContext &debugContext) {
  const auto count = static_cast<float>(grouping.count()) *
                     static_cast<float>(distribution.factor);
  const float correction = options.isUnbiased ? count / (count - 1) : 1;
  using popops::Operation;
  Tensor mean, variance;
  if (options.isStable) {
    mean = distributedMeans(graph, {{acts, Operation::ADD}}, grouping,
                            distribution, prog, {debugContext, "Mean"})[0];
    const auto centred =
        popops::map(graph, popops::expr::Cast(_1, poplar::FLOAT) - _2,
                    {grouping.view(acts), grouping.spread(mean)}, prog,
                    {debugContext, "Centre"});
    variance =
        distributedMeans(graph, {{centred, Operation::SQUARE_ADD}}, grouping,
                         distribution, prog, {debugContext, "Variance"})[0];
  } else {
    const auto means = distributedMeans(
        graph, {{acts, Operation::ADD}, {acts, Operation::SQUARE_ADD}},
        grouping, distribution, prog, debugContext);
    mean = means[0];
    variance = popops::map(graph, _2 - Square(_1), {mean, means[1]}, prog,
                           {debugContext, "Variance"});
  }
  const auto type = acts.elementType();
  const auto invStdDev = popops::map(
      graph, popops::expr::Cast(Rsqrt(_1 * correction + options.epsilon), type),
      {variance}, prog, {debugContext, "InvStdDev"});
  return {popops::cast(graph, mean, type, prog, debugContext).flatten(),
          invStdDev.flatten()};
}

} // namespace

namespace internal {

NormGrouping NormGrouping::perChannel(const Tensor &acts) {
  requireActs(acts);
  std::size_t size = 1;
  for (unsigned dim = 2; dim < acts.rank(); ++dim) {
    size *= acts.dim(dim);
  }
  return {1, acts.dim(0), acts.dim(1), size};
}

NormGrouping NormGrouping::perGroup(const Tensor &acts, std::size_t groups,
                                    bool isStrided) {
  const auto channels = perChannel(acts);
  const auto perGroup = acts.dim(1) / groups;
  return isStrided
             ? NormGrouping{acts.dim(0), perGroup, groups, channels.size}
             : NormGrouping{acts.dim(0), 1, groups, perGroup * channels.size};
}

Distribution distributionOf(const Tensor &acts,
                            DistributedNormReduceCallback callback,
                            unsigned normSize) {
  requireActs(acts);
  const auto batch = acts.dim(0);
  requireUser<poplibs_error>(
      normSize > 0 && batch > 0 && normSize % batch == 0,
      "[poplin::norm] the statistics' size {} is not a multiple of the batch "
      "size {}",
      normSize, batch);
  return {std::move(callback), static_cast<unsigned>(normSize / batch)};
}

std::pair<Tensor, Tensor> groupedStatistics(Graph &graph, const Tensor &acts,
                                            const NormGrouping &grouping,
                                            const StatisticsOptions &options,
                                            const Distribution &distribution,
                                            Sequence &prog,
                                            const DebugContext &debugContext) {
  if (distribution.factor > 1) {
    return distributedStatistics(graph, acts, grouping, options, distribution,
                                 prog, debugContext);
  }
  const auto outputs =
      normStatistics(graph,
                     {{"epsilon", double{options.epsilon}},
                      {"unbiased", std::int64_t{options.isUnbiased}},
                      {"stable", std::int64_t{options.isStable}}},
                     {grouping.view(acts)}, prog, debugContext, {});
  return {outputs[0].flatten(), outputs[1].flatten()};
}

Tensor groupedWhiten(Graph &graph, const Tensor &acts,
                     const NormGrouping &grouping, const Tensor &mean,
                     const Tensor &invStdDev, Sequence &prog,
                     const DebugContext &debugContext) {
  requireElements("mean", mean, grouping.outer * grouping.channels);
  requireElements("inverse standard deviation", invStdDev, mean.numElements());
  return popops::map(graph, (_1 - _2) * _3,
                     {grouping.view(acts), grouping.spread(mean),
                      grouping.spread(invStdDev)},
                     prog, {debugContext, "Whiten"})
      .reshape(acts.shape());
}

Tensor groupedStatisticsGradients(Graph &graph, const Tensor &actsWhitened,
                                  const Tensor &gradsIn,
                                  const NormGrouping &grouping,
                                  const Tensor &invStdDev,
                                  const Distribution &distribution,
                                  Sequence &prog,
                                  const DebugContext &debugContext) {
  requireSame("gradients", gradsIn, actsWhitened);
  requireElements("inverse standard deviation", invStdDev,
                  grouping.outer * grouping.channels);
  if (distribution.factor == 1) {
    return normStatisticsGrad(
               graph, {},
               {grouping.view(gradsIn), grouping.view(actsWhitened),
                invStdDev.reshape({grouping.outer, grouping.channels})},
               prog, debugContext, {})[0]
        .reshape(gradsIn.shape());
  }
  const auto products = popops::mul(graph, gradsIn, actsWhitened, prog,
                                    {debugContext, "GradTimesWhitened"});
  const auto means = distributedMeans(
      graph,
      {{products, popops::Operation::ADD}, {gradsIn, popops::Operation::ADD}},
      grouping, distribution, prog, {debugContext, "MeanGrad"});
  const auto inType = [&](const Tensor &mean) {
    return grouping.spread(
        popops::cast(graph, mean, gradsIn.elementType(), prog, debugContext));
  };
  return popops::map(graph, _5 * (_1 - _2 - _3 * _4),
                     {grouping.view(gradsIn), inType(means[1]),
                      grouping.view(actsWhitened), inType(means[0]),
                      grouping.spread(invStdDev)},
                     prog, {debugContext, "InputGrad"})
      .reshape(gradsIn.shape());
}

} // namespace internal

Tensor createNormGamma(Graph &graph, const Tensor &acts, const Type &type,
                       const DebugContext &debugContext) {
  return createParam(graph, acts, type, "gamma", debugContext);
}

Tensor createNormGamma(Graph &graph, const Tensor &acts,
                       const DebugContext &debugContext) {
  return createNormGamma(graph, acts, acts.elementType(), debugContext);
}

Tensor createNormBeta(Graph &graph, const Tensor &acts, const Type &type,
                      const DebugContext &debugContext) {
  return createParam(graph, acts, type, "beta", debugContext);
}

Tensor createNormBeta(Graph &graph, const Tensor &acts,
                      const DebugContext &debugContext) {
  return createNormBeta(graph, acts, acts.elementType(), debugContext);
}

std::pair<Tensor, Tensor> createNormParams(Graph &graph, const Tensor &acts,
                                           const DebugContext &debugContext) {
  return {createNormGamma(graph, acts, debugContext),
          createNormBeta(graph, acts, debugContext)};
}

std::pair<Tensor, Tensor> normStatistics(Graph &graph, const Tensor &acts,
                                         float eps, Sequence &prog,
                                         bool unbiasedVarEstimate,
                                         bool stableAlgo, const Type &,
                                         const DebugContext &debugContext) {
  return internal::groupedStatistics(
      graph, acts, internal::NormGrouping::perChannel(acts),
      {eps, unbiasedVarEstimate, stableAlgo}, {}, prog, debugContext);
}

std::pair<Tensor, Tensor>
distributedNormStatistics(Graph &replicatedGraph, const Tensor &acts, float eps,
                          Sequence &prog, bool unbiasedVarEstimate,
                          DistributedNormReduceCallback callback,
                          unsigned normSize, bool stableAlgo, const Type &,
                          const DebugContext &debugContext) {
  return internal::groupedStatistics(
      replicatedGraph, acts, internal::NormGrouping::perChannel(acts),
      {eps, unbiasedVarEstimate, stableAlgo},
      internal::distributionOf(acts, std::move(callback), normSize), prog,
      debugContext);
}

Tensor normWhiten(Graph &graph, const Tensor &acts, const Tensor &mean,
                  const Tensor &iStdDev, Sequence &prog,
                  const DebugContext &debugContext) {
  return internal::groupedWhiten(graph, acts,
                                 internal::NormGrouping::perChannel(acts), mean,
                                 iStdDev, prog, debugContext);
}

Tensor normalise(Graph &graph, const Tensor &actsWhitened, const Tensor &gamma,
                 const Tensor &beta, Sequence &prog,
                 const DebugContext &debugContext) {
  return popops::map(graph, _1 * _2 + _3,
                     {actsWhitened, alongChannels(gamma, actsWhitened),
                      alongChannels(beta, actsWhitened)},
                     prog, {debugContext, "Normalise"});
}

std::pair<Tensor, Tensor> normParamGradients(Graph &graph,
                                             const Tensor &actsWhitened,
                                             const Tensor &gradsIn,
                                             Sequence &prog, const Type &,
                                             const DebugContext &debugContext) {
  requireSame("gradients", gradsIn, actsWhitened);
  const auto grouping = internal::NormGrouping::perChannel(gradsIn);
  const auto outputs = internal::normParamGrad(
      graph, {}, {grouping.view(gradsIn), grouping.view(actsWhitened)}, prog,
      debugContext, {});
  return {outputs[0].flatten(), outputs[1].flatten()};
}

Tensor normGradients(Graph &graph, const Tensor &gradsIn, const Tensor &gamma,
                     Sequence &prog, const DebugContext &debugContext) {
  return popops::mul(graph, gradsIn, alongChannels(gamma, gradsIn), prog,
                     {debugContext, "MulGamma"});
}

Tensor normStatisticsGradients(Graph &graph, const Tensor &actsWhitened,
                               const Tensor &gradsIn, const Tensor &invStdDev,
                               Sequence &prog, const Type &,
                               const DebugContext &debugContext) {
  return internal::groupedStatisticsGradients(
      graph, actsWhitened, gradsIn, internal::NormGrouping::perChannel(gradsIn),
      invStdDev, {}, prog, debugContext);
}

Tensor distributedNormStatisticsGradients(
    Graph &replicatedGraph, const Tensor &actsWhitened, const Tensor &gradsIn,
    const Tensor &invStdDev, Sequence &prog,
    DistributedNormReduceCallback callback, unsigned normSize, const Type &,
    const DebugContext &debugContext) {
  return internal::groupedStatisticsGradients(
      replicatedGraph, actsWhitened, gradsIn,
      internal::NormGrouping::perChannel(gradsIn), invStdDev,
      internal::distributionOf(gradsIn, std::move(callback), normSize), prog,
      debugContext);
}

} // namespace poplin
