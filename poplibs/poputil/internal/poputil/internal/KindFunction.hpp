// The one shape of every library function that emits a whole kind: operands and
// attributes as docs/kinds.md lists them, results already mapped to tiles.
#pragma once

#include <kernels/Attributes.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <vector>

namespace poputil::internal {

// Appends the operation to `program` and returns its outputs in the order of
// docs/kinds.md, side outputs included; an output that the kind updates in
// place is the input tensor itself. The work, and every new tensor, is placed
// on the tiles of the IPU that holds the first input. `options` are those of
// the public function (availableMemoryProportion, partialsType, ...); most take
// none.
using KindFunction = std::vector<poplar::Tensor>(
    poplar::Graph &graph, const kernels::Attributes &attributes,
    const std::vector<poplar::Tensor> &inputs,
    poplar::program::Sequence &program,
    const poplar::DebugContext &debugContext,
    const poplar::OptionFlags &options);

} // namespace poputil::internal
