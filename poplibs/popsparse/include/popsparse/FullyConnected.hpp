// A fully connected layer with sparse weights, and its gradients. Options as in
// MatMul.hpp.
#pragma once

#include <popsparse/FullyConnectedParams.hpp>
#include <popsparse/PlanningCache.hpp>
#include <popsparse/SparseTensor.hpp>

#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <tuple>

namespace popsparse {
namespace dynamic {

// Sparse [output channels, input channels].
SparseTensor
createFullyConnectedWeights(poplar::Graph &graph, const poplar::Type &inputType,
                            const FullyConnectedParams &params,
                            const poplar::DebugContext &debugContext = {},
                            const poplar::OptionFlags &options = {},
                            PlanningCache *cache = nullptr);

// [batch, input channels].
poplar::Tensor
createFullyConnectedInput(poplar::Graph &graph, const poplar::Type &inputType,
                          const FullyConnectedParams &params,
                          const poplar::DebugContext &debugContext = {},
                          const poplar::OptionFlags &options = {},
                          PlanningCache *cache = nullptr);

// [batch, output channels].
poplar::Tensor fullyConnectedFwd(poplar::Graph &graph,
                                 const SparseTensor &weights,
                                 const poplar::Tensor &activations,
                                 const FullyConnectedParams &params,
                                 poplar::program::Sequence &prog,
                                 const poplar::DebugContext &debugContext = {},
                                 const poplar::OptionFlags &options = {},
                                 PlanningCache *cache = nullptr);

// [batch, input channels], of the gradient [batch, output channels].
poplar::Tensor fullyConnectedGradA(
    poplar::Graph &graph, const SparseTensor &weights,
    const poplar::Tensor &gradients, const FullyConnectedParams &params,
    poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {}, PlanningCache *cache = nullptr);

// Like the weights' values: the gradient of those that are there.
poplar::Tensor fullyConnectedSparseGradW(
    poplar::Graph &graph, const poplar::Tensor &sparsityMetaInfo,
    const poplar::Tensor &gradA, const poplar::Tensor &activations,
    const FullyConnectedParams &params, poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {}, PlanningCache *cache = nullptr);

// In how many steps the dense gradient of the weights would be computed: over
// groups, input and output channels.
std::tuple<unsigned, unsigned, unsigned> fullyConnectedDenseGradWSerialSplits(
    const poplar::Graph &graph, const poplar::Type &inputType,
    const FullyConnectedParams &params, const poplar::OptionFlags &options = {},
    PlanningCache *cache = nullptr);

} // namespace dynamic
} // namespace popsparse
