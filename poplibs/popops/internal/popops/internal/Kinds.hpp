// Whole kinds of popops: element-wise expressions, fills, reductions and
// optimiser updates.
#pragma once

#include <kernels/Expression.hpp>
#include <poputil/internal/KindFunction.hpp>
#include <poputil/internal/Tiles.hpp>

namespace popops::internal {

// Inputs are broadcast to a common shape by NumPy's rules.
poputil::internal::KindFunction elementwise;
// Takes no inputs, so it needs a tensor to fill: inputs[0], which it returns.
poputil::internal::KindFunction fill;
poputil::internal::KindFunction reduce;
poputil::internal::KindFunction sgdUpdate;
poputil::internal::KindFunction adamUpdate;
poputil::internal::KindFunction rmspropUpdate;

// The same with an expression in hand; the result is a new tensor.
poplar::Tensor elementwise(poplar::Graph &graph,
                           const kernels::Expression &expression,
                           const std::vector<poplar::Tensor> &inputs,
                           poplar::program::Sequence &program,
                           const poplar::DebugContext &debugContext = {});

// Writes the result to `output`, which may be one of the inputs.
void elementwiseWithOutput(poplar::Graph &graph,
                           const kernels::Expression &expression,
                           const std::vector<poplar::Tensor> &inputs,
                           const poplar::Tensor &output,
                           poplar::program::Sequence &program,
                           const poplar::DebugContext &debugContext = {});

// Reduces into `output`, which has the type and the shape that the kind gives.
void reduceWithOutput(poplar::Graph &graph,
                      const kernels::Attributes &attributes,
                      const poplar::Tensor &input, const poplar::Tensor &output,
                      poplar::program::Sequence &program,
                      const poplar::DebugContext &debugContext = {});

// Sets every element of `tensor` to `value`.
void fill(poplar::Graph &graph, const poplar::Tensor &tensor, double value,
          poplar::program::Sequence &program,
          const poplar::DebugContext &debugContext = {});
// The same in a compute set, by vertices on these tiles.
void fill(poplar::Graph &graph, const poplar::Tensor &tensor, double value,
          poplar::ComputeSet computeSet,
          const std::vector<poputil::internal::TileShare> &shares);

} // namespace popops::internal
