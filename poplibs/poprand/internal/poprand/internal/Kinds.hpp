// Whole kinds of poprand.
#pragma once

#include <poputil/internal/KindFunction.hpp>

namespace poprand::internal {

// Inputs: seed, and optionally a tensor whose mapping the result takes.
poputil::internal::KindFunction random;
// Inputs: x, seed.
poputil::internal::KindFunction dropout;

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
