// Which vertices compute an element-wise expression on each tile, and what they
// receive for it. Other libraries use it for the passes of their operations.
#pragma once

#include <kernels/Expression.hpp>
#include <poplar/internal/VertexGroup.hpp>
#include <poputil/internal/Emit.hpp>
#include <poputil/internal/Phases.hpp>

#include <functional>
#include <string>
#include <vector>

namespace popops::internal {

// The vertex for `elements` results on a tile.
using VertexForShare = std::function<poplar::internal::VertexUse(
    const kernels::cost::TileSpec &tile, std::uint64_t elements)>;

// The vertex type that suits an expression: 1D unary, binary, broadcast, cast
// or, for several operators, one generated vertex. `inputs` have the output's
// shape; stride 0 shows a broadcast.
VertexForShare chooseVertex(const kernels::Expression &expression,
                            const std::vector<poplar::Tensor> &inputs,
                            const poplar::Tensor &output);

// One superstep: the work follows the output's mapping, operands that lie
// elsewhere are exchanged in.
poplar::internal::GroupPhase planPass(const poplar::Graph &graph,
                                      std::string name,
                                      const std::vector<poplar::Tensor> &inputs,
                                      const poplar::Tensor &output,
                                      const VertexForShare &vertex);

// An expression over inputs broadcast to the output's shape, planned. An empty
// `vertex` lets chooseVertex decide.
poputil::internal::Operation
planExpression(const poplar::Graph &graph,
               const kernels::Expression &expression,
               const std::vector<poplar::Tensor> &inputs,
               const poplar::Tensor &output, const VertexForShare &vertex = {});

// A variable for a result, mapped as the operand without repeated elements that
// has the least on its fullest tile, then the most tiles, then the fewest
// regions; scalars as the first operand. If all operands repeat elements, and
// where views have too many runs to follow, it is spread over the tiles of the
// largest one.
poplar::Tensor addOutput(poplar::Graph &graph,
                         const std::vector<poplar::Tensor> &inputs,
                         const kernels::TensorType &type,
                         const poplar::DebugContext &debugContext);

} // namespace popops::internal
