#include <popops/Encoding.hpp>

#include <popops/internal/ElementwisePlan.hpp>

#include <kernels/cost/Cast.hpp>
#include <poplar/internal/Access.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace popops {

using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;
using poputil::internal::vertexName;
using support::requireUser;

namespace {

Tensor constant(Graph &graph, const poplar::Type &type, float value) {
  const auto tensor = graph.addConstant(type, {}, value);
  graph.setTileMapping(tensor, 0);
  return tensor;
}

template <typename T>
void addIota(Graph &graph, const Tensor &t, const poplar::Type &type, T start,
             Sequence &prog, const DebugContext &debugContext) {
  poputil::internal::requireCodelets(graph, "popops", "popops::Iota");
  requireUser<poplibs_error>(
      t.rank() <= 1,
      "[popops::iota] the tensor has shape {}; its rank must be "
      "1 at most",
      t.shapeToString());
  requireUser<poplibs_error>(
      t.elementType() == type,
      "[popops::iota] the tensor has type {} and the start {}; they must be "
      "the same",
      std::string(t.elementType().toString()), std::string(type.toString()));
  if (t.numElements() == 0) {
    return;
  }
  const auto dataType = poplar::internal::toDataType(type);
  auto phase = internal::planPass(
      graph, "", {}, t,
      [dataType](const kernels::cost::TileSpec &tile, std::uint64_t n) {
        return poputil::internal::workerVertices(
            vertexName("popops::Iota", {dataType}), tile.workers,
            kernels::cost::iota2D(tile, dataType, 1, perWorker(tile, n)), 1);
      });
  poputil::internal::emit(
      graph, prog,
      {"iota",
       {{"type", static_cast<std::int64_t>(dataType)},
        {"count", static_cast<std::int64_t>(t.numElements())},
        {"start", std::int64_t{start}}},
       {},
       {t.flatten()},
       {std::move(phase)}},
      {debugContext, "iota"});
}

} // namespace

void encodeOneHot(Graph &graph, const Tensor &indices, const Tensor &encoded,
                  Sequence &prog, const Tensor &on, const Tensor &off,
                  const DebugContext &debugContext) {
  poputil::internal::requireCodelets(graph, "popops", "popops::EncodeOneHot");
  requireUser<poplibs_error>(
      indices.rank() == 1 && encoded.rank() == 2 &&
          encoded.dim(0) == indices.dim(0),
      "[popops::encodeOneHot] the indices have shape {} and the encoding {}; "
      "the encoding must have a row for each index",
      indices.shapeToString(), encoded.shapeToString());
  requireUser<poplibs_error>(
      on.elementType() == encoded.elementType() &&
          off.elementType() == encoded.elementType(),
      "[popops::encodeOneHot] on and off have types {} and {}; the encoding "
      "has {}",
      std::string(on.elementType().toString()),
      std::string(off.elementType().toString()),
      std::string(encoded.elementType().toString()));
  const kernels::Attributes attributes{
      {"classes", static_cast<std::int64_t>(encoded.dim(1))}};
  const std::vector<Tensor> inputs{indices, on, off};
  const auto type =
      poputil::internal::inferOutputs("oneHot", attributes, inputs)[0].type;
  if (encoded.numElements() == 0) {
    return;
  }
  const std::uint64_t classes = encoded.dim(1);
  auto phase = internal::planPass(
      graph, "", {indices}, encoded,
      [=](const kernels::cost::TileSpec &tile, std::uint64_t n) {
        const auto rows = kernels::cost::ceilDiv(n, classes);
        return poputil::internal::workerVertices(
            vertexName("popops::EncodeOneHot",
                       {support::DataType::UnsignedInt, type}),
            tile.workers,
            kernels::cost::encodeOneHot(type, perWorker(tile, rows)), 2);
      });
  poputil::internal::emit(
      graph, prog,
      {"oneHot", attributes, inputs, {encoded}, {std::move(phase)}},
      {debugContext, "encodeOneHot"});
}

void encodeOneHot(Graph &graph, const Tensor &indices, const Tensor &encoded,
                  Sequence &prog, const DebugContext &debugContext) {
  const auto type = encoded.elementType();
  encodeOneHot(graph, indices, encoded, prog, constant(graph, type, 1),
               constant(graph, type, 0), debugContext);
}

void iota(Graph &graph, const Tensor &t, unsigned start, Sequence &prog,
          const DebugContext &debugContext) {
  addIota(graph, t, poplar::UNSIGNED_INT, start, prog, debugContext);
}

void iota(Graph &graph, const Tensor &t, int start, Sequence &prog,
          const DebugContext &debugContext) {
  addIota(graph, t, poplar::INT, start, prog, debugContext);
}

} // namespace popops
