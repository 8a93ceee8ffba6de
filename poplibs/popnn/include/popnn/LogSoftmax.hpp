// The logarithm of softmax over the innermost dimension.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

namespace popnn {

poplar::Tensor logSoftmax(poplar::Graph &graph, poplar::Tensor t,
                          poplar::program::Sequence &prog,
                          const poplar::DebugContext &debugContext = {});
void logSoftmaxInPlace(poplar::Graph &graph, poplar::Tensor t,
                       poplar::program::Sequence &prog,
                       const poplar::DebugContext &debugContext = {});

} // namespace popnn
