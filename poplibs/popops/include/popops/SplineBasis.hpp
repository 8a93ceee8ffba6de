// B-spline kernels over continuous coordinates: the weights that an edge of a
// graph takes part in, and by how much.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <utility>

namespace popops {

// For edges whose coordinates in [0, 1] are `pseudo`, {edges, dimensions}, and
// a grid of kernelSize (INT) weights in each dimension, open or closed
// (isOpenSpline, UNSIGNED_CHAR): the products of B-splines of degree 1, 2 or 3
// and the weights they belong to, INT, both {edges, (degree + 1)^dimensions}.
std::pair<poplar::Tensor, poplar::Tensor>
splineBasis(poplar::Graph &graph, const poplar::Tensor &pseudo,
            const poplar::Tensor &kernelSize,
            const poplar::Tensor &isOpenSpline, unsigned degree,
            poplar::program::Sequence &prog,
            const poplar::DebugContext &debugContext = {},
            const poplar::OptionFlags &options = {});

} // namespace popops
