// The loss of connectionist temporal classification: data are [steps, batch,
// classes], labels [batch, length]. Options: includeSoftmaxGradient (true): the
// gradient is by what the logarithm of a softmax was taken of, not by the log
// probabilities; zeroInfinity (false): labels that cannot be cost nothing.
#pragma once

#include <popnn/CTCPlan.hpp>

#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>
#include <utility>

namespace popnn {
namespace ctc {

Plan plan(const poplar::Graph &graph, const poplar::Type &inType,
          const poplar::Type &outType, unsigned batchSize, unsigned maxTime,
          unsigned maxLabelLength, unsigned numClasses,
          const poplar::OptionFlags &options = {});

poplar::Tensor createDataInput(poplar::Graph &graph, const poplar::Type &type,
                               std::size_t batchSize, std::size_t maxTime,
                               std::size_t numClasses, const Plan &plan,
                               const poplar::DebugContext &debugContext = {});
poplar::Tensor createLabelsInput(poplar::Graph &graph, const poplar::Type &type,
                                 std::size_t batchSize,
                                 std::size_t maxLabelLength, const Plan &plan,
                                 const poplar::DebugContext &debugContext = {});

// The loss of each sample and its gradient by the data.
std::pair<poplar::Tensor, poplar::Tensor> calcLossAndGradientLogProbabilities(
    poplar::Graph &graph, const poplar::Type &outType,
    const poplar::Tensor &logProbs, const poplar::Tensor &labels,
    const poplar::Tensor &dataLengths, const poplar::Tensor &labelLengths,
    poplar::program::Sequence &prog, unsigned blankClass, const Plan &plan,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});
std::pair<poplar::Tensor, poplar::Tensor> calcLossAndGradientLogits(
    poplar::Graph &graph, const poplar::Type &outType,
    const poplar::Tensor &logits, const poplar::Tensor &labels,
    const poplar::Tensor &dataLengths, const poplar::Tensor &labelLengths,
    poplar::program::Sequence &prog, unsigned blankClass, const Plan &plan,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});

// The loss alone.
poplar::Tensor calcCTCLossLogProbabilities(
    poplar::Graph &graph, const poplar::Type &outType,
    const poplar::Tensor &logProbs, const poplar::Tensor &labels,
    const poplar::Tensor &dataLengths, const poplar::Tensor &labelLengths,
    poplar::program::Sequence &prog, unsigned blankClass, const Plan &plan,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});
poplar::Tensor calcCTCLossLogits(
    poplar::Graph &graph, const poplar::Type &outType,
    const poplar::Tensor &logits, const poplar::Tensor &labels,
    const poplar::Tensor &dataLengths, const poplar::Tensor &labelLengths,
    poplar::program::Sequence &prog, unsigned blankClass, const Plan &plan,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});

} // namespace ctc
} // namespace popnn
