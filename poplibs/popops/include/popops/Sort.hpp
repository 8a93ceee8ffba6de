// Sorting along a dimension, ascending; TopK.hpp is the newer interface.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

namespace popops {

poplar::Tensor sort(poplar::Graph &graph, const poplar::Tensor &t, unsigned dim,
                    poplar::program::Sequence &prog,
                    const poplar::DebugContext &debugContext = {});
void sortInPlace(poplar::Graph &graph, const poplar::Tensor &t, unsigned dim,
                 poplar::program::Sequence &prog,
                 const poplar::DebugContext &debugContext = {});

// The values in the order of their keys.
poplar::Tensor sortKeyValue(poplar::Graph &graph, const poplar::Tensor &keys,
                            const poplar::Tensor &values, unsigned dim,
                            poplar::program::Sequence &prog,
                            const poplar::DebugContext &debugContext = {});
// Sorts both.
void sortKeyValueInPlace(poplar::Graph &graph, const poplar::Tensor &keys,
                         const poplar::Tensor &values, unsigned dim,
                         poplar::program::Sequence &prog,
                         const poplar::DebugContext &debugContext = {});

} // namespace popops
