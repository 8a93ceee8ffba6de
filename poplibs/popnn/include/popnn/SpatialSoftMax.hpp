// Where the maximum of a two-dimensional field is, as an expectation.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <utility>

namespace popnn {

// Of fields {F, H, W}: the expected row and column of each field, {F, 2}, both
// from -1 to 1, by the softmax of the field divided by a temperature; and the
// temperature, a variable of one element that starts as given. With
// `disableSoftmax` the fields are taken as probabilities.
std::pair<poplar::Tensor, poplar::Tensor>
spatialSoftMax2D(poplar::Graph &graph, poplar::program::Sequence &prog,
                 const poplar::Tensor &fields, float temperature,
                 bool disableSoftmax = false,
                 const poplar::DebugContext &debugContext = {});

} // namespace popnn
