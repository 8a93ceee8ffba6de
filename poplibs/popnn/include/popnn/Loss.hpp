// Losses over class labels, accuracy, and the indices of largest elements.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <utility>

namespace popnn {

enum LossType { SUM_SQUARED_LOSS, CROSS_ENTROPY_LOSS };

// Outputs [batch, classes], labels [batch] of INT or UNSIGNED_INT. Sets loss
// [batch] and deltas [batch, classes], the loss's gradient by the outputs (by
// the inputs of the softmax for the cross entropy). Labels of 0xFFFFFFFF
// contribute nothing.
poplar::program::Program
calcLoss(poplar::Graph &graph, const poplar::Tensor &modelOutputs,
         const poplar::Tensor &expected, const poplar::Tensor &loss,
         const poplar::Tensor &deltas, LossType lossType,
         const poplar::DebugContext &debugContext = {});
// Deltas are multiplied by deltasScale; the outputs, and so the deltas, were
// scaled by modelOutputScaling.
poplar::program::Program
calcLoss(poplar::Graph &graph, const poplar::Tensor &modelOutputs,
         const poplar::Tensor &expected, const poplar::Tensor &loss,
         const poplar::Tensor &deltas, const poplar::Tensor &deltasScale,
         const poplar::Tensor &modelOutputScaling, LossType lossType,
         const poplar::DebugContext &debugContext = {});
// These also add the number of outputs whose largest class is the label to
// numCorrect, an UNSIGNED_INT.
poplar::program::Program
calcLoss(poplar::Graph &graph, const poplar::Tensor &modelOutputs,
         const poplar::Tensor &expected, const poplar::Tensor &loss,
         const poplar::Tensor &deltas, const poplar::Tensor &numCorrect,
         LossType lossType, const poplar::DebugContext &debugContext = {});
poplar::program::Program
calcLoss(poplar::Graph &graph, const poplar::Tensor &modelOutputs,
         const poplar::Tensor &expected, const poplar::Tensor &loss,
         const poplar::Tensor &deltas, const poplar::Tensor &deltasScale,
         const poplar::Tensor &modelOutputScaling,
         const poplar::Tensor &numCorrect, LossType lossType,
         const poplar::DebugContext &debugContext = {});

poplar::program::Program
calcAccuracy(poplar::Graph &graph, const poplar::Tensor &modelOutputs,
             const poplar::Tensor &expected, const poplar::Tensor &numCorrect,
             const poplar::DebugContext &debugContext = {});

// The index, UNSIGNED_INT, of the first largest or smallest element of each
// row.
poplar::Tensor argMax(poplar::Graph &graph, const poplar::Tensor &input,
                      poplar::program::Sequence &prog,
                      const poplar::DebugContext &debugContext = {});
poplar::Tensor argMin(poplar::Graph &graph, const poplar::Tensor &input,
                      poplar::program::Sequence &prog,
                      const poplar::DebugContext &debugContext = {});
std::pair<poplar::Tensor, poplar::Tensor>
maxAndArgMax(poplar::Graph &graph, const poplar::Tensor &input,
             poplar::program::Sequence &prog,
             const poplar::DebugContext &debugContext = {});
std::pair<poplar::Tensor, poplar::Tensor>
minAndArgMin(poplar::Graph &graph, const poplar::Tensor &input,
             poplar::program::Sequence &prog,
             const poplar::DebugContext &debugContext = {});

// The K largest elements of each row, in descending order when `sort`, and
// their positions.
poplar::Tensor topK(poplar::Graph &graph, const poplar::Tensor &input,
                    poplar::Tensor &indices, unsigned K, bool sort,
                    poplar::program::Sequence &prog,
                    const poplar::DebugContext &debugContext = {});

} // namespace popnn
