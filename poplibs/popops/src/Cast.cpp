#include <popops/Cast.hpp>

#include <popops/internal/Kinds.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace popops {

using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Program;
using poplar::program::Sequence;

namespace {

kernels::Expression castTo(const poplar::Type &type) {
  return kernels::Expression::cast(poplar::internal::toDataType(type),
                                   kernels::Expression::input(0));
}

} // namespace

Tensor cast(Graph &graph, const Tensor &src, const poplar::Type &dstType,
            Sequence &prog, const DebugContext &debugContext) {
  if (src.elementType() == dstType) {
    const auto copy = graph.clone(src, {debugContext, "cast"});
    prog.add(poplar::program::Copy(src, copy, false, debugContext));
    return copy;
  }
  poputil::internal::requireCodelets(graph, "popops", "popops::Cast1D");
  return internal::elementwise(graph, castTo(dstType), {src}, prog,
                               {debugContext, "Cast"});
}

void castWithOutput(Graph &graph, const Tensor &src, const Tensor &dst,
                    Sequence &prog, const DebugContext &debugContext) {
  support::requireUser<poputil::poplibs_error>(
      src.shape() == dst.shape(),
      "[popops::cast] the source has shape {}, the destination {}; they must "
      "be the same",
      src.shapeToString(), dst.shapeToString());
  if (src.elementType() == dst.elementType()) {
    prog.add(poplar::program::Copy(src, dst, false, debugContext));
    return;
  }
  poputil::internal::requireCodelets(graph, "popops", "popops::Cast1D");
  internal::elementwiseWithOutput(graph, castTo(dst.elementType()), {src}, dst,
                                  prog, {debugContext, "Cast"});
}

Program cast(Graph &graph, Tensor src, Tensor dst,
             const DebugContext &debugContext) {
  Sequence prog(debugContext);
  castWithOutput(graph, src, dst, prog, debugContext);
  return prog;
}

} // namespace popops
