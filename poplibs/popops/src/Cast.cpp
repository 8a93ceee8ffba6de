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

void requireCastCodelets(const Graph &graph) {
  poputil::internal::requireCodelets(graph, "popops", "popops::Cast1D");
}

void checkShapes(const Tensor &src, const Tensor &dst) {
  support::requireUser<poputil::poplibs_error>(
      src.shape() == dst.shape(),
      "[popops::cast] the source has shape {}, the destination {}; they must "
      "be the same",
      src.shapeToString(), dst.shapeToString());
}

bool isQuarter(const Tensor &tensor) {
  return tensor.elementType() == poplar::QUARTER;
}

bool isFloatOrHalf(const Tensor &tensor) {
  return tensor.elementType() == poplar::FLOAT ||
         tensor.elementType() == poplar::HALF;
}

Tensor addResult(Graph &graph, const Tensor &src, const Type &type,
                 const DebugContext &debugContext) {
  return internal::addOutput(graph, {src},
                             {poplar::internal::toDataType(type),
                              poplar::internal::tensorView(src).shape},
                             {debugContext, "cast"});
}

// One pass; QUARTER is on one side at most, and HALF or FLOAT on the other.
poputil::internal::Operation planCast(const Graph &graph, const Tensor &src,
                                      const Tensor &dst) {
  const auto expression = castTo(dst.elementType());
  if (!isQuarter(src) && !isQuarter(dst)) {
    return internal::planExpression(graph, expression, {src}, dst);
  }
  const auto phase = internal::planPass(
      graph, "", {src}, dst, internal::chooseVertex(expression, {src}, dst));
  if (isQuarter(dst)) {
    return {"toQuarter", {}, {src, dst.getMetadata()}, {dst}, {phase}};
  }
  const auto type = poplar::internal::toDataType(dst.elementType());
  return {"fromQuarter",
          {{"outType", static_cast<std::int64_t>(type)}},
          {src, src.getMetadata()},
          {dst},
          {phase}};
}

// Whether planCast() does it.
bool isOnePass(const Tensor &src, const Tensor &dst) {
  return (!isQuarter(src) || isFloatOrHalf(dst)) &&
         (!isQuarter(dst) || isFloatOrHalf(src));
}

bool isCopy(const Tensor &src, const Tensor &dst) {
  return src.elementType() == dst.elementType() &&
         (!isQuarter(src) || !src.hasMetadata() || !dst.hasMetadata() ||
          src.getMetadata() == dst.getMetadata());
}

} // namespace

Tensor cast(Graph &graph, const Tensor &src, const Type &dstType,
            Sequence &prog, const DebugContext &debugContext) {
  if (src.elementType() == dstType) {
    const auto copy = graph.clone(src, {debugContext, "cast"});
    prog.add(poplar::program::Copy(src, copy, false, debugContext));
    return copy;
  }
  requireCastCodelets(graph);
  if (!isQuarter(src) && dstType != poplar::QUARTER) {
    return internal::elementwise(graph, castTo(dstType), {src}, prog,
                                 {debugContext, "Cast"});
  }
  const auto dst = addResult(graph, src, dstType, debugContext);
  castWithOutput(graph, src, dst, prog, debugContext);
  return dst;
}

Tensor cast(Graph &graph, const Tensor &src, const Type &dstType,
            const Tensor &metadata, Sequence &prog,
            const DebugContext &debugContext) {
  requireCastCodelets(graph);
  auto dst = addResult(graph, src, dstType, debugContext);
  dst.associateMetadata(metadata);
  castWithOutput(graph, src, dst, prog, debugContext);
  return dst;
}

void castWithOutput(Graph &graph, const Tensor &src, const Tensor &dst,
                    Sequence &prog, const DebugContext &debugContext) {
  checkShapes(src, dst);
  if (isCopy(src, dst)) {
    prog.add(poplar::program::Copy(src, dst, false, debugContext));
    return;
  }
  requireCastCodelets(graph);
  if (!isOnePass(src, dst)) {
    const auto inFloat =
        cast(graph, src, poplar::FLOAT, prog, {debugContext, "Cast"});
    castWithOutput(graph, inFloat, dst, prog, debugContext);
    return;
  }
  poputil::internal::emit(graph, prog, planCast(graph, src, dst),
                          {debugContext, "Cast"});
}

Program cast(Graph &graph, Tensor src, Tensor dst,
             const DebugContext &debugContext) {
  Sequence prog(debugContext);
  castWithOutput(graph, src, dst, prog, debugContext);
  return prog;
}

void cast(Graph &graph, Tensor src, Tensor dst, ComputeSet computeSet) {
  checkShapes(src, dst);
  requireCastCodelets(graph);
  support::requireUser<poputil::poplibs_error>(
      isOnePass(src, dst),
      "[popops::cast] from {} to {} takes two passes; a compute set has one",
      src.elementType().toString().cloneAsString(),
      dst.elementType().toString().cloneAsString());
  poputil::internal::emit(graph, computeSet, planCast(graph, src, dst), "Cast");
}

Tensor cast(Graph &graph, Tensor src, const Type &dstType,
            ComputeSet computeSet, const DebugContext &debugContext) {
  requireCastCodelets(graph);
  const auto dst = addResult(graph, src, dstType, debugContext);
  cast(graph, src, dst, computeSet);
  return dst;
}

Tensor cast(Graph &graph, Tensor src, const Type &dstType, Tensor metadata,
            ComputeSet computeSet, const DebugContext &debugContext) {
  requireCastCodelets(graph);
  auto dst = addResult(graph, src, dstType, debugContext);
  dst.associateMetadata(metadata);
  cast(graph, src, dst, computeSet);
  return dst;
}

} // namespace popops
