// Whole kinds of popops that move, pick and order elements.
#pragma once

#include <popops/internal/SlicePlan.hpp>

#include <poputil/internal/KindFunction.hpp>

namespace popops::internal {

// Operands as docs/kinds.md lists them, with a leading dimension of groups;
// `plan` may be null. Slices go to `slices` where it is valid.
poplar::Tensor emitSlices(poplar::Graph &graph,
                          const kernels::Attributes &attributes,
                          const poplar::Tensor &t,
                          const poplar::Tensor &offsets, poplar::Tensor slices,
                          const EmbeddingPlan *plan,
                          poplar::program::Sequence &program,
                          const poplar::DebugContext &debugContext);
// Inputs t, s, offsets and, if the attributes say so, scale.
void emitUpdates(poplar::Graph &graph, const kernels::Attributes &attributes,
                 const std::vector<poplar::Tensor> &inputs,
                 const EmbeddingPlan *plan, poplar::program::Sequence &program,
                 const poplar::DebugContext &debugContext);

// The same without a plan.
poputil::internal::KindFunction dynamicSlice;
poputil::internal::KindFunction dynamicUpdate;

poputil::internal::KindFunction topK;
poputil::internal::KindFunction cumulate;

} // namespace popops::internal
