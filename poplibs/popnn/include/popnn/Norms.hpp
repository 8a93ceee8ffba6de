// The parameters of normalisations.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Tensor.hpp>

#include <utility>

namespace popnn {

// One value for each channel of activations [batch, channels, field...].
poplar::Tensor createNormGamma(poplar::Graph &graph, const poplar::Tensor &acts,
                               const poplar::DebugContext &debugContext = {});
poplar::Tensor createNormBeta(poplar::Graph &graph, const poplar::Tensor &acts,
                              const poplar::DebugContext &debugContext = {});
std::pair<poplar::Tensor, poplar::Tensor>
createNormParams(poplar::Graph &graph, const poplar::Tensor &acts,
                 const poplar::DebugContext &debugContext = {});

} // namespace popnn
