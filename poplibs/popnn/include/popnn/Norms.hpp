// The parameters of normalisations, and how many operations one takes.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>
#include <cstdint>
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

// Floating-point operations of the forward pass, of the gradient by the
// activations and of the gradients by the parameters.
std::uint64_t getNormFwdFlops(std::size_t statisticsSize,
                              std::size_t numActsElements,
                              bool computeStats = true);
std::uint64_t getNormBwdFlops(std::size_t statisticsSize,
                              std::size_t numActsElements);
std::uint64_t getNormWuFlops(std::size_t statisticsSize,
                             std::size_t numActsElements);

} // namespace popnn
