// Rearrangements of elements in memory. The values of results are those of
// their tensors; how a tensor lies on a tile is not modelled, so that groupings
// only decide what is copied.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Target.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>
#include <poputil/VarStructure.hpp>

#include <cstddef>
#include <vector>

namespace popops {
namespace rearrange {

// Whether the vertex that moves blocks of four by four elements of two bytes
// does these transpositions of matrices.
bool canUseFastTranspose(const poplar::Target &target, const poplar::Type &type,
                         unsigned numRows, unsigned numColumns,
                         unsigned numTranspositions);

// A new tensor with the innermost two dimensions swapped, written by vertices
// of the compute set.
poplar::Tensor partialTranspose(poplar::Graph &graph, const poplar::Tensor &in,
                                const poplar::ComputeSet &cs,
                                const poplar::DebugContext &debugContext = {});

// The tensor with elements grouped along `to` that were grouped along `from`:
// a copy of the same shape and values.
poplar::Tensor regroupTensor(poplar::Graph &graph, const poplar::Tensor &t,
                             poplar::program::Sequence &copies,
                             const poplar::ComputeSet &transposeCS,
                             const poputil::GroupingInfo &from,
                             const poputil::GroupingInfo &to,
                             const poplar::DebugContext &debugContext = {});
poplar::Tensor regroupTensor(poplar::Graph &graph, const poplar::Tensor &t,
                             std::vector<poplar::program::Copy> &copies,
                             const poplar::ComputeSet &transposeCS,
                             const poputil::GroupingInfo &from,
                             const poputil::GroupingInfo &to,
                             const poplar::DebugContext &debugContext = {});

// The tensor itself: a copy to the order of `ref` is never of use here.
poplar::Tensor regroupIfBeneficial(
    poplar::Graph &graph, const poplar::Tensor &in, const poplar::Tensor &ref,
    std::vector<poplar::program::Copy> &copies, poplar::ComputeSet transposeCS,
    const poplar::DebugContext &debugContext = {});
poplar::Tensor
regroupIfBeneficial(poplar::Graph &graph, const poplar::Tensor &in,
                    const poplar::Tensor &ref, poplar::program::Sequence &prog,
                    const poplar::DebugContext &debugContext = {});

// A copy with elements of the last dimension in groups of preferredGrouping, or
// of the largest number below that divides it, where they are in smaller groups
// and the copy costs no more than that; otherwise the tensor itself.
poplar::Tensor
regroupIfBeneficial(poplar::Graph &graph, const poplar::Tensor &in,
                    std::size_t preferredGrouping,
                    poplar::program::Sequence &prog,
                    const poplar::DebugContext &debugContext = {});
// The same to one grouping.
poplar::Tensor regroupIfPossible(poplar::Graph &graph, const poplar::Tensor &t,
                                 poplar::program::Sequence &prog,
                                 const poputil::GroupingInfo &to,
                                 const poplar::DebugContext &debugContext = {});

// The least group that fast transpositions work with.
unsigned getMinimumRegroupGrainSize(const poplar::Type &type);

} // namespace rearrange
} // namespace popops
