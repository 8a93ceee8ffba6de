// The kinds of normalisations, and the parts of one for any grouping of
// channels, of which the public functions of poplin and popnn are made.
#pragma once

#include <poplin/Norms.hpp>
#include <poputil/internal/KindFunction.hpp>

#include <utility>

namespace poplin::internal {

poputil::internal::KindFunction batchNorm;          // y, mean, invStdDev
poputil::internal::KindFunction batchNormGrad;      // dx, dgamma, dbeta
poputil::internal::KindFunction normStatistics;     // mean, invStdDev
poputil::internal::KindFunction normStatisticsGrad; // dx
poputil::internal::KindFunction normParamGrad;      // dgamma, dbeta

// Which elements share a statistic: activations as [outer, rows, channels,
// size] have one for each outer index and channel.
struct NormGrouping {
  std::size_t outer, rows, channels, size;

  static NormGrouping perChannel(const poplar::Tensor &acts);
  // Of a group norm: channel c in group c mod groups when `isStrided`, else in
  // group c / (channels / groups).
  static NormGrouping perGroup(const poplar::Tensor &acts, std::size_t groups,
                               bool isStrided);

  poplar::Tensor view(const poplar::Tensor &acts) const {
    return acts.reshape({outer, rows, channels, size});
  }
  // A value per statistic, to match view(acts).
  poplar::Tensor spread(const poplar::Tensor &statistic) const {
    return statistic.reshape({outer, 1, channels, 1});
  }
  std::size_t count() const { return rows * size; } // of one statistic
};

// Statistics over more than one replica: `factor` replicas' activations.
struct Distribution {
  DistributedNormReduceCallback callback;
  unsigned factor = 1;
};
Distribution distributionOf(const poplar::Tensor &acts,
                            DistributedNormReduceCallback callback,
                            unsigned normSize);

struct StatisticsOptions {
  float epsilon;
  bool isUnbiased;
  bool isStable; // by the squares of differences: one more pass on the IPU
};
// Vectors of outer * channels elements.
std::pair<poplar::Tensor, poplar::Tensor> groupedStatistics(
    poplar::Graph &graph, const poplar::Tensor &acts,
    const NormGrouping &grouping, const StatisticsOptions &options,
    const Distribution &distribution, poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext);

poplar::Tensor groupedWhiten(poplar::Graph &graph, const poplar::Tensor &acts,
                             const NormGrouping &grouping,
                             const poplar::Tensor &mean,
                             const poplar::Tensor &invStdDev,
                             poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext);

poplar::Tensor groupedStatisticsGradients(
    poplar::Graph &graph, const poplar::Tensor &actsWhitened,
    const poplar::Tensor &gradsIn, const NormGrouping &grouping,
    const poplar::Tensor &invStdDev, const Distribution &distribution,
    poplar::program::Sequence &prog, const poplar::DebugContext &debugContext);

} // namespace poplin::internal
