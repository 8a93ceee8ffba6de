// Tensors that say what the bits of QUARTER elements mean: one byte, of type
// UNSIGNED_CHAR, on tile 0.
#pragma once

#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Quarter.hpp>
#include <poplar/Tensor.hpp>

namespace poplar {

// The scale is in [-32, 31].
Tensor createConstantMetadataTensor(Graph &graph,
                                    QuarterMetadata::Format format, int scale,
                                    const DebugContext &debugContext = {});
// A variable that has the value when the program is loaded.
Tensor createVariableMetadataTensor(Graph &graph,
                                    QuarterMetadata::Format format, int scale,
                                    const DebugContext &debugContext = {});

} // namespace poplar
