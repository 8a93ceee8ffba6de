#include <popops/Rearrange.hpp>

#include <popops/internal/ElementwisePlan.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace popops::rearrange {

using poplar::ComputeSet;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Copy;
using poplar::program::Sequence;
using poputil::GroupingInfo;
using support::requireUser;

namespace {

void checkGrouping(const Tensor &t, const GroupingInfo &grouping) {
  const auto &[dimension, size] = grouping;
  requireUser<poputil::poplibs_error>(
      dimension < t.rank() && size != 0 && t.dim(dimension) % size == 0,
      "[popops::rearrange::regroupTensor] groups of {} in dimension {} of a "
      "tensor of shape {}",
      size, dimension, t.shapeToString());
}

} // namespace

bool canUseFastTranspose(const poplar::Target &target, const poplar::Type &type,
                         unsigned numRows, unsigned numColumns,
                         unsigned numTranspositions) {
  constexpr unsigned mostTranspositions = 65535; // a field of 16 bits
  return target.getTypeSize(type) == 2 && numRows % 4 == 0 &&
         numColumns % 4 == 0 && numTranspositions <= mostTranspositions;
}

// A vertex that reads and writes each element once, as a cast to the same type
// would.
Tensor partialTranspose(Graph &graph, const Tensor &in, const ComputeSet &cs,
                        const DebugContext &debugContext) {
  poputil::internal::requireCodelets(graph, "popops", "popops::Transpose1D");
  requireUser<poputil::poplibs_error>(
      in.rank() >= 2,
      "[popops::rearrange::partialTranspose] a tensor of shape {} has no two "
      "dimensions to swap",
      in.shapeToString());
  const unsigned rank = in.rank();
  const Tensor swapped = in.dimShufflePartial({rank - 2}, {rank - 1});
  const Tensor result =
      graph.clone(swapped, {debugContext, "partialTranspose"},
                  poplar::TensorCloneMethod::CREATE_NEW_ORDER);
  const auto type = poplar::internal::toDataType(in.elementType());
  const auto copy =
      kernels::Expression::cast(type, kernels::Expression::input(0));
  poputil::internal::emit(
      graph, cs, internal::planExpression(graph, copy, {swapped}, result),
      {debugContext, "Transpose"});
  return result;
}

Tensor regroupTensor(Graph &graph, const Tensor &t, std::vector<Copy> &copies,
                     const ComputeSet &, const GroupingInfo &from,
                     const GroupingInfo &to, const DebugContext &debugContext) {
  checkGrouping(t, from);
  checkGrouping(t, to);
  const Tensor result = graph.clone(t, {debugContext, "regroup"});
  copies.emplace_back(t, result, false, debugContext);
  return result;
}

Tensor regroupTensor(Graph &graph, const Tensor &t, Sequence &copies,
                     const ComputeSet &transposeCS, const GroupingInfo &from,
                     const GroupingInfo &to, const DebugContext &debugContext) {
  std::vector<Copy> made;
  const Tensor result =
      regroupTensor(graph, t, made, transposeCS, from, to, debugContext);
  for (const Copy &copy : made) {
    copies.add(copy);
  }
  return result;
}

Tensor regroupIfBeneficial(Graph &, const Tensor &in, const Tensor &,
                           std::vector<Copy> &, ComputeSet,
                           const DebugContext &) {
  return in;
}

Tensor regroupIfBeneficial(Graph &, const Tensor &in, const Tensor &,
                           Sequence &, const DebugContext &) {
  return in;
}

} // namespace popops::rearrange
