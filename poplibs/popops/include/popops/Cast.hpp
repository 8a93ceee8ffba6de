// Conversions between element types. Floating point to integer truncates and
// stays within the integer's range; between integers bits are cut off; BOOL is
// whether a number is not 0. The same type is a copy. QUARTER elements have the
// meaning that their tensor's metadata gives them: they are rounded to nearest
// even, and the largest stands for all that are larger; other types than HALF
// and FLOAT become FLOAT on the way.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

namespace popops {

poplar::Tensor cast(poplar::Graph &graph, const poplar::Tensor &src,
                    const poplar::Type &dstType,
                    poplar::program::Sequence &prog,
                    const poplar::DebugContext &debugContext = {});
// To QUARTER elements of this meaning, which the result is associated with.
poplar::Tensor cast(poplar::Graph &graph, const poplar::Tensor &src,
                    const poplar::Type &dstType, const poplar::Tensor &metadata,
                    poplar::program::Sequence &prog,
                    const poplar::DebugContext &debugContext = {});
void castWithOutput(poplar::Graph &graph, const poplar::Tensor &src,
                    const poplar::Tensor &dst, poplar::program::Sequence &prog,
                    const poplar::DebugContext &debugContext = {});
poplar::program::Program cast(poplar::Graph &graph, poplar::Tensor src,
                              poplar::Tensor dst,
                              const poplar::DebugContext &debugContext = {});

// As vertices of a compute set, which have QUARTER on one side at most and then
// HALF or FLOAT on the other.
void cast(poplar::Graph &graph, poplar::Tensor src, poplar::Tensor dst,
          poplar::ComputeSet computeSet);
poplar::Tensor cast(poplar::Graph &graph, poplar::Tensor src,
                    const poplar::Type &dstType, poplar::ComputeSet computeSet,
                    const poplar::DebugContext &debugContext = {});
poplar::Tensor cast(poplar::Graph &graph, poplar::Tensor src,
                    const poplar::Type &dstType, poplar::Tensor metadata,
                    poplar::ComputeSet computeSet,
                    const poplar::DebugContext &debugContext = {});

} // namespace popops
