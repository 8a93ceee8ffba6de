// How poprand emits its kinds: "random", "dropout" and "nextSeed".
#pragma once

#include <kernels/Attributes.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <string_view>
#include <vector>

namespace poprand::internal {

// The seed that an operation without one draws with: taken from the hardware
// seeds of the tile that holds the first element of `output`, which move on.
poplar::Tensor nextSeed(poplar::Graph &graph, const poplar::Tensor &output,
                        poplar::program::Sequence &program,
                        const poplar::DebugContext &debugContext);

// `kind` with its result in `output`; the work follows the output's mapping.
void emitWithOutput(poplar::Graph &graph, std::string_view kind,
                    const kernels::Attributes &attributes,
                    const std::vector<poplar::Tensor> &inputs,
                    const poplar::Tensor &output,
                    poplar::program::Sequence &program,
                    const poplar::DebugContext &debugContext);

} // namespace poprand::internal
