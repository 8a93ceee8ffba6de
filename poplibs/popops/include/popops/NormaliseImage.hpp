// Images of three channels made ready for a network.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>
#include <vector>

namespace popops {

// A tensor for images: [..., 3].
poplar::Tensor
createNormaliseImageInput(poplar::Graph &graph, const poplar::Type &type,
                          const std::vector<std::size_t> &shape,
                          const poplar::DebugContext &debugContext = {});

// result[..., c] = (in[..., c] * scale - offsets[c]) * scales[c], and a fourth
// channel of zeros. The result has the type of the offsets for UNSIGNED_CHAR
// images, and otherwise that of the image.
poplar::Tensor normaliseImage(poplar::Graph &graph, poplar::Tensor tIn,
                              float inScale, poplar::Tensor inOffsets,
                              poplar::Tensor inScales,
                              poplar::program::Sequence &prog,
                              const poplar::DebugContext &debugContext = {});

} // namespace popops
