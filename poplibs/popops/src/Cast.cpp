#include <popops/Cast.hpp>

#include <popops/internal/ElementwisePlan.hpp>
#include <popops/internal/Kinds.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace popops {

using poplar::ComputeSet;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::Type;
using poplar::program::Program;
using poplar::program::Sequence;

namespace {

kernels::Expression castTo(const Type &type) {
  return kernels::Expression::cast(poplar::internal::toDataType(type),
                                   kernels::Expression::input(0));
}

void checkCast(const Graph &graph, const Type &from, const Type &to) {
  poputil::internal::requireCodelets(graph, "popops", "popops::Cast1D");
  support::requireUser<poputil::poplibs_error>(
      from == to || (from != poplar::QUARTER && to != poplar::QUARTER),
      "[popops::cast] from {} to {}: QUARTER values have no metadata here; "
      "convert them on the host with convertToDeviceType()",
      from.toString().cloneAsString(), to.toString().cloneAsString());
}

void checkShapes(const Tensor &src, const Tensor &dst) {
  support::requireUser<poputil::poplibs_error>(
      src.shape() == dst.shape(),
      "[popops::cast] the source has shape {}, the destination {}; they must "
      "be the same",
      src.shapeToString(), dst.shapeToString());
}

} // namespace

Tensor cast(Graph &graph, const Tensor &src, const Type &dstType,
            Sequence &prog, const DebugContext &debugContext) {
  if (src.elementType() == dstType) {
    const auto copy = graph.clone(src, {debugContext, "cast"});
    prog.add(poplar::program::Copy(src, copy, false, debugContext));
    return copy;
  }
  checkCast(graph, src.elementType(), dstType);
  return internal::elementwise(graph, castTo(dstType), {src}, prog,
                               {debugContext, "Cast"});
}

void castWithOutput(Graph &graph, const Tensor &src, const Tensor &dst,
                    Sequence &prog, const DebugContext &debugContext) {
  checkShapes(src, dst);
  if (src.elementType() == dst.elementType()) {
    prog.add(poplar::program::Copy(src, dst, false, debugContext));
    return;
  }
  checkCast(graph, src.elementType(), dst.elementType());
  internal::elementwiseWithOutput(graph, castTo(dst.elementType()), {src}, dst,
                                  prog, {debugContext, "Cast"});
}

Program cast(Graph &graph, Tensor src, Tensor dst,
             const DebugContext &debugContext) {
  Sequence prog(debugContext);
  castWithOutput(graph, src, dst, prog, debugContext);
  return prog;
}

void cast(Graph &graph, Tensor src, Tensor dst, ComputeSet computeSet) {
  checkShapes(src, dst);
  checkCast(graph, src.elementType(), dst.elementType());
  emit(graph, computeSet,
       internal::planExpression(graph, castTo(dst.elementType()), {src}, dst),
       "Cast");
}

Tensor cast(Graph &graph, Tensor src, const Type &dstType,
            ComputeSet computeSet, const DebugContext &debugContext) {
  checkCast(graph, src.elementType(), dstType);
  const auto dst =
      internal::addOutput(graph, {src},
                          {poplar::internal::toDataType(dstType),
                           poplar::internal::tensorView(src).shape},
                          {debugContext, "cast"});
  cast(graph, src, dst, computeSet);
  return dst;
}

} // namespace popops
