// The normalisations of poplin and popnn for the conformance tests.
#include "Libraries.hpp"

#include <poplin/Norms.hpp>
#include <popnn/BatchNorm.hpp>
#include <popnn/GroupNorm.hpp>
#include <popnn/InstanceNorm.hpp>
#include <popnn/LayerNorm.hpp>
#include <popnn/Norms.hpp>
#include <popnn/codelets.hpp>
#include <popops/ElementWise.hpp>
#include <poputil/Util.hpp>

namespace conformance {
namespace {

using poplar::Tensor;

// The functions of a family by one signature.
struct Family {
  std::pair<Tensor, Tensor> (*statistics)(Call &, const Tensor &acts);
  Tensor (*whiten)(poplar::Graph &, const Tensor &, const Tensor &,
                   const Tensor &, poplar::program::Sequence &,
                   const poplar::DebugContext &, const poplar::OptionFlags &);
  std::pair<Tensor, Tensor> (*normalise)(poplar::Graph &, const Tensor &,
                                         const Tensor &, const Tensor &,
                                         const Tensor &, const Tensor &,
                                         poplar::program::Sequence &,
                                         const poplar::DebugContext &,
                                         const poplar::OptionFlags &);
  std::pair<Tensor, Tensor> (*paramGradients)(
      poplar::Graph &, const Tensor &, const Tensor &, const Tensor &,
      const Tensor &, poplar::program::Sequence &, const poplar::Type &,
      const poplar::DebugContext &, const poplar::OptionFlags &);
  std::pair<Tensor, Tensor> (*paramGradientsOfWhitened)(
      poplar::Graph &, const Tensor &, const Tensor &,
      poplar::program::Sequence &, const poplar::Type &,
      const poplar::DebugContext &, const poplar::OptionFlags &);
  Tensor (*gradients)(poplar::Graph &, const Tensor &, const Tensor &,
                      const Tensor &, const Tensor &, const Tensor &,
                      poplar::program::Sequence &, const poplar::Type &,
                      const poplar::DebugContext &,
                      const poplar::OptionFlags &);
  Tensor (*gradientsOfWhitened)(poplar::Graph &, const Tensor &, const Tensor &,
                                const Tensor &, const Tensor &,
                                poplar::program::Sequence &,
                                const poplar::Type &,
                                const poplar::DebugContext &,
                                const poplar::OptionFlags &);
  void (*update)(poplar::Graph &, const Tensor &, const Tensor &, float,
                 Tensor &, Tensor &, poplar::program::Sequence &,
                 const poplar::DebugContext &, const poplar::OptionFlags &);
};

// Forward, both forms of each gradient, and the update of the parameters.
void runFamily(Call &call, const Family &family) {
  popnn::addCodelets(call.graph());
  auto &graph = call.graph();
  auto &prog = call.program();
  const auto &acts = call.tensor("acts");
  auto gamma = call.tensor("gamma");
  auto beta = call.tensor("beta");
  const auto &grads = call.tensor("grads");
  const auto &options = call.options();
  const auto [mean, inv] = family.statistics(call, acts);
  const auto [normalised, whitened] = family.normalise(
      graph, acts, gamma, beta, mean, inv, prog, "normalise", options);
  call.output("mean", mean);
  call.output("invStdDev", inv);
  call.output("normalised", normalised);
  call.output("whitened", whitened);
  call.output("whiten",
              family.whiten(graph, acts, mean, inv, prog, "whiten", options));
  const auto [byGamma, byBeta] =
      family.paramGradients(graph, acts, grads, mean, inv, prog, poplar::FLOAT,
                            "paramGrads", options);
  call.output("gammaGrad", byGamma);
  call.output("betaGrad", byBeta);
  call.output("gammaGrad2", family
                                .paramGradientsOfWhitened(
                                    graph, whitened, grads, prog, poplar::FLOAT,
                                    "paramGrads2", options)
                                .first);
  call.output("actsGrad",
              family.gradients(graph, acts, grads, mean, inv, gamma, prog,
                               poplar::FLOAT, "grads", options));
  call.output("actsGrad2", family.gradientsOfWhitened(
                               graph, whitened, grads, inv, gamma, prog,
                               poplar::FLOAT, "grads2", options));
  auto newGamma = poputil::duplicate(graph, gamma, prog);
  auto newBeta = poputil::duplicate(graph, beta, prog);
  family.update(graph, byGamma, byBeta, -0.5f, newGamma, newBeta, prog,
                "update", options);
  call.output("newGamma", newGamma);
  call.output("newBeta", newBeta);
}

// Statistics by the row's parameters.
template <typename Function, typename... Groups>
std::pair<Tensor, Tensor> statisticsBy(Function *function, Call &call,
                                       const Tensor &acts, Groups... groups) {
  return function(call.graph(), acts, call.get<float>("epsilon"),
                  call.program(), groups..., call.get<bool>("unbiased"),
                  call.get<bool>("stable"), poplar::FLOAT, "statistics",
                  call.options());
}

#define CONFORMANCE_FAMILY(NAMESPACE, NORM, NORMALISE, ...)                    \
  void NORM(Call &call) {                                                      \
    runFamily(call,                                                            \
              {[](Call &c, const Tensor &acts) {                               \
                 return statisticsBy(popnn::NAMESPACE::NORM##Statistics, c,    \
                                     acts __VA_OPT__(, ) __VA_ARGS__);         \
               },                                                              \
               popnn::NAMESPACE::NORM##Whiten, popnn::NAMESPACE::NORMALISE,    \
               popnn::NAMESPACE::NORM##ParamGradients,                         \
               popnn::NAMESPACE::NORM##ParamGradients,                         \
               popnn::NAMESPACE::NORM##Gradients,                              \
               popnn::NAMESPACE::NORM##Gradients,                              \
               popnn::NAMESPACE::NORM##ParamUpdate});                          \
  }
CONFORMANCE_FAMILY(bn, batchNorm, batchNormalise)
CONFORMANCE_FAMILY(gn, groupNorm, groupNormalise, c.get<unsigned>("groups"))
CONFORMANCE_FAMILY(ln, layerNorm, layerNormalise)
CONFORMANCE_FAMILY(in, instanceNorm, instanceNormalise)
#undef CONFORMANCE_FAMILY

// One replica stands for `replicas` equal ones: their sum is a multiple.
poplin::DistributedNormReduceCallback equalReplicas() {
  return [](poplar::Graph &graph, const std::vector<Tensor> &inputs,
            poplar::program::Sequence &prog, unsigned groupSize,
            const poplar::DebugContext &, const poplar::OptionFlags &) {
    std::vector<Tensor> sums;
    for (const auto &input : inputs) {
      sums.push_back(
          popops::mul(graph, input, static_cast<float>(groupSize), prog));
    }
    return sums;
  };
}

void distributedBatchNorm(Call &call) {
  popnn::addCodelets(call.graph());
  auto &graph = call.graph();
  auto &prog = call.program();
  const auto &acts = call.tensor("acts");
  const auto size =
      static_cast<unsigned>(acts.dim(0)) * call.get<unsigned>("replicas");
  const auto [mean, inv] = popnn::bn::distributedBatchNormStatistics(
      graph, acts, call.get<float>("epsilon"), prog, call.get<bool>("unbiased"),
      equalReplicas(), size, call.get<bool>("stable"));
  call.output("mean", mean);
  call.output("invStdDev", inv);
  call.output("actsGrad",
              popnn::bn::distributedBatchNormGradients(
                  graph, acts, call.tensor("grads"), mean, inv,
                  call.tensor("gamma"), prog, equalReplicas(), size));
}

// The form of inference.
void batchNormalise(Call &call) {
  popnn::addCodelets(call.graph());
  call.output("out",
              popnn::bn::batchNormalise(call.graph(), call.tensor("acts"),
                                        call.tensor("gamma"),
                                        call.tensor("beta"), call.program()));
}

} // namespace

void addPopnnNorms(Operations &operations) {
  operations["popnn.batchNorm"] = batchNorm;
  operations["popnn.groupNorm"] = groupNorm;
  operations["popnn.layerNorm"] = layerNorm;
  operations["popnn.instanceNorm"] = instanceNorm;
  operations["popnn.distributedBatchNorm"] = distributedBatchNorm;
  operations["popnn.batchNormalise"] = batchNormalise;
}

} // namespace conformance
