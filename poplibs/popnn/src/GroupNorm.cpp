#include <popnn/GroupNorm.hpp>

#include <popnn/Norms.hpp>

#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace popnn {

using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;
using namespace popops::expr;

Tensor createNormGamma(Graph &graph, const Tensor &acts,
                       const DebugContext &debugContext) {
  const auto gamma = graph.addVariable(acts.elementType(), {acts.dim(1)},
                                       {debugContext, "gamma"});
  poputil::mapTensorLinearly(graph, gamma);
  return gamma;
}

Tensor createNormBeta(Graph &graph, const Tensor &acts,
                      const DebugContext &debugContext) {
  const auto beta = graph.addVariable(acts.elementType(), {acts.dim(1)},
                                      {debugContext, "beta"});
  poputil::mapTensorLinearly(graph, beta);
  return beta;
}

std::pair<Tensor, Tensor> createNormParams(Graph &graph, const Tensor &acts,
                                           const DebugContext &debugContext) {
  return {createNormGamma(graph, acts, debugContext),
          createNormBeta(graph, acts, debugContext)};
}

namespace gn {

namespace {

bool isStrided(const OptionFlags &options) {
  bool strided = true;
  for (const auto &[name, value] : options) {
    requireUser<poplar::invalid_option>(name ==
                                            "groupNormStridedChannelGrouping",
                                        "Unrecognised option '{}'", name);
    requireUser<poplar::invalid_option>(
        value == "true" || value == "false",
        "Invalid value '{}' for option '{}': Not one of the values: ['true', "
        "'false']",
        value, name);
    strided = value == "true";
  }
  return strided;
}

std::size_t fieldSize(const Tensor &acts) {
  return acts.numElements() / (acts.dim(0) * acts.dim(1));
}

// The activations as [batch, groups, elements of a group].
Tensor byGroup(const Tensor &acts, std::size_t groups, bool strided) {
  const auto batch = acts.dim(0);
  const auto perGroup = acts.dim(1) / groups;
  if (!strided) {
    return acts.reshape({batch, groups, perGroup * fieldSize(acts)});
  }
  return acts.reshape({batch, perGroup, groups, fieldSize(acts)})
      .dimShuffle({0, 2, 1, 3})
      .flatten(2, 4);
}

// A statistic of each sample and group, to match the activations.
Tensor perChannel(const Tensor &statistic, const Tensor &acts, bool strided) {
  const auto batch = acts.dim(0);
  const auto groups = statistic.numElements() / batch;
  const auto perGroup = static_cast<unsigned>(acts.dim(1) / groups);
  std::vector<std::size_t> shape(acts.rank(), 1);
  shape[0] = batch;
  shape[1] = acts.dim(1);
  const auto spread =
      strided ? statistic.reshape({batch, 1, groups}).broadcast(perGroup, 1)
              : statistic.reshape({batch, groups, 1}).broadcast(perGroup, 2);
  return spread.reshape(shape);
}

// A parameter of each channel, to match the activations.
Tensor alongChannels(const Tensor &parameter, const Tensor &acts) {
  std::vector<std::size_t> shape(acts.rank() - 1, 1);
  shape[0] = parameter.numElements();
  return parameter.reshape(shape);
}

std::vector<std::size_t> allButChannels(const Tensor &acts) {
  std::vector<std::size_t> dims{0};
  for (std::size_t dim = 2; dim < acts.rank(); ++dim) {
    dims.push_back(dim);
  }
  return dims;
}

void checkActs(const Graph &graph, const Tensor &acts) {
  requireUser<poplibs_error>(
      acts.rank() >= 2,
      "[popnn::gn] the activations have rank {}; they must be [batch, "
      "channels, field...]",
      acts.rank());
  poputil::internal::requireCodelets(graph, "popnn", "popnn::GroupNorm");
}

} // namespace

std::pair<Tensor, Tensor>
groupNormStatistics(Graph &graph, const Tensor acts, float eps, Sequence &prog,
                    unsigned numGroups, bool unbiasedVarEstimate,
                    bool stableAlgo, const poplar::Type &,
                    const DebugContext &debugContext,
                    const OptionFlags &options) {
  checkActs(graph, acts);
  requireUser<poplibs_error>(
      numGroups > 0 && acts.dim(1) % numGroups == 0,
      "[popnn::gn] {} channels cannot be put into {} equal groups", acts.dim(1),
      numGroups);
  const auto grouped = byGroup(acts, numGroups, isStrided(options));
  const auto count = static_cast<float>(grouped.dim(2));
  const auto sum = popops::reduce(graph, grouped, {2}, popops::Operation::ADD,
                                  prog, {debugContext, "Mean"});
  const auto mean = popops::map(graph, _1 * (1.0f / count), {sum}, prog,
                                {debugContext, "Mean"});
  // The stable way takes the squares of what is left after the mean.
  const auto centred = stableAlgo
                           ? popops::sub(graph, grouped, mean.expand({2}), prog,
                                         {debugContext, "Centre"})
                           : grouped;
  const auto power =
      popops::reduce(graph, centred, {2}, popops::Operation::SQUARE_ADD, prog,
                     {debugContext, "Power"});
  const float divisor = unbiasedVarEstimate ? count - 1 : count;
  const Any variance =
      stableAlgo ? Any(_1 * (1.0f / divisor))
                 : Any((_1 * (1.0f / count) - Square(_2)) * (count / divisor));
  const auto invStdDev =
      popops::map(graph, Rsqrt(Add(variance, Const(eps))), {power, mean}, prog,
                  {debugContext, "InvStdDev"});
  return {mean.flatten(), invStdDev.flatten()};
}

Tensor groupNormWhiten(Graph &graph, const Tensor &acts, const Tensor &mean,
                       const Tensor &invStdDev, Sequence &prog,
                       const DebugContext &debugContext,
                       const OptionFlags &options) {
  checkActs(graph, acts);
  const bool strided = isStrided(options);
  return popops::map(graph, (_1 - _2) * _3,
                     {acts, perChannel(mean, acts, strided),
                      perChannel(invStdDev, acts, strided)},
                     prog, {debugContext, "Whiten"});
}

std::pair<Tensor, Tensor>
groupNormalise(Graph &graph, const Tensor &acts, const Tensor &gamma,
               const Tensor &beta, const Tensor &mean, const Tensor &invStdDev,
               Sequence &prog, const DebugContext &debugContext,
               const OptionFlags &options) {
  const auto whitened = groupNormWhiten(graph, acts, mean, invStdDev, prog,
                                        debugContext, options);
  const auto normalised = popops::map(
      graph, _1 * _2 + _3,
      {whitened, alongChannels(gamma, acts), alongChannels(beta, acts)}, prog,
      {debugContext, "Normalise"});
  return {normalised, whitened};
}

std::pair<Tensor, Tensor> groupNormParamGradients(
    Graph &graph, const Tensor &acts, const Tensor &gradsIn, const Tensor &mean,
    const Tensor &invStdDev, Sequence &prog, const poplar::Type &partialsType,
    const DebugContext &debugContext, const OptionFlags &options) {
  const auto whitened = groupNormWhiten(graph, acts, mean, invStdDev, prog,
                                        debugContext, options);
  return groupNormParamGradients(graph, whitened, gradsIn, prog, partialsType,
                                 debugContext, options);
}

std::pair<Tensor, Tensor>
groupNormParamGradients(Graph &graph, const Tensor &actsWhitened,
                        const Tensor &gradsIn, Sequence &prog,
                        const poplar::Type &, const DebugContext &debugContext,
                        const OptionFlags &options) {
  checkActs(graph, actsWhitened);
  isStrided(options); // rejects unknown ones
  const auto dims = allButChannels(gradsIn);
  const auto products = popops::mul(graph, gradsIn, actsWhitened, prog,
                                    {debugContext, "GradTimesWhitened"});
  const auto gamma =
      popops::reduce(graph, products, dims, popops::Operation::ADD, prog,
                     {debugContext, "GammaGrad"});
  const auto beta = popops::reduce(graph, gradsIn, dims, popops::Operation::ADD,
                                   prog, {debugContext, "BetaGrad"});
  return {gamma, beta};
}

Tensor groupNormGradients(Graph &graph, const Tensor &acts,
                          const Tensor &gradsIn, const Tensor &mean,
                          const Tensor &invStdDev, const Tensor &gamma,
                          Sequence &prog, const poplar::Type &partialsType,
                          const DebugContext &debugContext,
                          const OptionFlags &options) {
  const auto whitened = groupNormWhiten(graph, acts, mean, invStdDev, prog,
                                        debugContext, options);
  return groupNormGradients(graph, whitened, gradsIn, invStdDev, gamma, prog,
                            partialsType, debugContext, options);
}

// With h = gamma * gradsIn: invStdDev * (h - mean(h) - whitened *
// mean(h * whitened)), means over a group.
Tensor groupNormGradients(Graph &graph, const Tensor &actsWhitened,
                          const Tensor &gradsIn, const Tensor &invStdDev,
                          const Tensor &gamma, Sequence &prog,
                          const poplar::Type &,
                          const DebugContext &debugContext,
                          const OptionFlags &options) {
  checkActs(graph, actsWhitened);
  const bool strided = isStrided(options);
  const auto groups = invStdDev.numElements() / actsWhitened.dim(0);
  const auto scaled = popops::mul(graph, gradsIn, alongChannels(gamma, gradsIn),
                                  prog, {debugContext, "MulGamma"});
  const auto products = popops::mul(graph, scaled, actsWhitened, prog,
                                    {debugContext, "GradTimesWhitened"});
  const auto meanOf = [&](const Tensor &of, const char *name) {
    const auto grouped = byGroup(of, groups, strided);
    const auto sum = popops::reduce(graph, grouped, {2}, popops::Operation::ADD,
                                    prog, {debugContext, name});
    const auto mean =
        popops::map(graph, _1 * (1.0f / static_cast<float>(grouped.dim(2))),
                    {sum}, prog, {debugContext, name});
    return perChannel(mean, of, strided);
  };
  const auto meanGradient = meanOf(scaled, "MeanGrad");
  const auto varianceGradient = meanOf(products, "VarGrad");
  return popops::map(graph, _5 * (_1 - _2 - _3 * _4),
                     {scaled, meanGradient, actsWhitened, varianceGradient,
                      perChannel(invStdDev, actsWhitened, strided)},
                     prog, {debugContext, "InputGrad"});
}

} // namespace gn
} // namespace popnn
