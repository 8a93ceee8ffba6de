// Tensors made from indices: one-hot rows and counts.
#pragma once

#include <popops/EncodingConstants.hpp>

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

namespace popops {

// encoded[i][indices[i]] = on, all else off (1 and 0 where they are not given).
// Rows whose index is MASKED_LABEL_CODE, or otherwise out of range, are off.
void encodeOneHot(poplar::Graph &graph, const poplar::Tensor &indices,
                  const poplar::Tensor &encoded,
                  poplar::program::Sequence &prog,
                  const poplar::DebugContext &debugContext = {});
void encodeOneHot(poplar::Graph &graph, const poplar::Tensor &indices,
                  const poplar::Tensor &encoded,
                  poplar::program::Sequence &prog, const poplar::Tensor &on,
                  const poplar::Tensor &off,
                  const poplar::DebugContext &debugContext = {});

// start, start + 1, ... along a tensor of rank 1 at most; the start's type must
// be the tensor's.
void iota(poplar::Graph &graph, const poplar::Tensor &t, unsigned start,
          poplar::program::Sequence &prog,
          const poplar::DebugContext &debugContext = {});
void iota(poplar::Graph &graph, const poplar::Tensor &t, int start,
          poplar::program::Sequence &prog,
          const poplar::DebugContext &debugContext = {});

} // namespace popops
