// Evenly spaced numbers, and grids of coordinates.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>
#include <vector>

namespace poplin {

// `count` numbers from left to right, both included, in FLOAT or HALF. A
// constant.
poplar::Tensor linspace(poplar::Graph &graph, const poplar::Type &type,
                        float left, float right, std::size_t count,
                        const poplar::DebugContext &debugContext = {});

// The coordinates of a grid, each [y's size, x's size]: x along the rows, y
// down the columns. Views of the vectors.
std::vector<poplar::Tensor> meshgrid2d(poplar::Graph &graph, poplar::Tensor x,
                                       poplar::Tensor y);

} // namespace poplin
