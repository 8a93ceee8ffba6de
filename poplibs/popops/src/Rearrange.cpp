#include <popops/Rearrange.hpp>

#include <popops/internal/ElementwisePlan.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <numeric>

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

Tensor regroupIfBeneficial(Graph &graph, const Tensor &in,
                           std::size_t preferredGrouping, Sequence &prog,
                           const DebugContext &debugContext) {
  requireUser<poputil::poplibs_error>(
      preferredGrouping > 0, "[popops::rearrange::regroupIfBeneficial] a group "
                             "has one element at least");
  if (in.rank() == 0 || in.numElements() == 0) {
    return in;
  }
  unsigned last = in.rank() - 1;
  std::size_t group = std::gcd(in.dim(last), preferredGrouping);
  return regroupIfPossible(graph, in, prog,
                           {last, static_cast<unsigned>(group)}, debugContext);
}

// A tensor that has such groups already, or whose dimension does not divide,
// stays.
Tensor regroupIfPossible(Graph &graph, const Tensor &t, Sequence &prog,
                         const GroupingInfo &to,
                         const DebugContext &debugContext) {
  auto [dim, size] = to;
  if (dim >= t.rank() || size < getMinimumRegroupGrainSize(t.elementType()) ||
      t.dim(dim) % size != 0) {
    return t;
  }
  unsigned now =
      poputil::detectInnermostGrouping(graph, t.dimRoll(dim, t.rank() - 1));
  if (now != 0 && now % size == 0) {
    return t;
  }
  // Laid out by what is asked for, and mapped as the tensor is.
  const Tensor result =
      graph.clone(t, {debugContext, "regroup"},
                  poplar::TensorCloneMethod::CREATE_NEW_ORDER);
  graph.setTileMapping(result, graph.getTileMapping(t));
  prog.add(Copy(t, result, false, debugContext));
  return result;
}

unsigned getMinimumRegroupGrainSize(const poplar::Type &type) {
  return type == poplar::HALF || type == poplar::UNSIGNED_SHORT ||
                 type == poplar::SHORT
             ? 4
             : 2;
}

} // namespace popops::rearrange
