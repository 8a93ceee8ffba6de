#include <popops/internal/BroadcastVertex.hpp>

#include <kernels/cost/Elementwise.hpp>
#include <poplar/internal/Access.hpp>
#include <poplar/internal/TensorView.hpp>
#include <poputil/internal/Phases.hpp>
#include <poputil/internal/Tiles.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace popops::internal {

using kernels::ElementwiseOpInfo;
using kernels::cost::ceilDiv;
using kernels::cost::Cycles;
using kernels::cost::TileSpec;
using poplar::internal::VertexUse;
using support::DataType;

namespace {

constexpr std::uint32_t binaryEdges = 3;

// What a vertex is called and what it costs, in tile cycles.
struct Candidate {
  std::string_view name;
  Cycles cycles = 0;
  bool hasWorkers = false; // a vertex for each worker, not one for the tile
};

// Each type of vertex takes code on every tile that has it.
bool isWorthAnother(Cycles fast, Cycles usual) {
  constexpr Cycles times = 2; // [A]
  return times * fast < usual;
}

// Workers that share the elements, whatever runs they are in.
Candidate splitEvenly(const TileSpec &tile, const ElementwiseOpInfo &op,
                      DataType type, std::uint64_t n, bool inPlace) {
  return {"BinaryOp2D",
          tile.workers * kernels::cost::binaryOp2D(tile, op, type, 1,
                                                   perWorker(tile, n), inPlace),
          true};
}

Candidate innerVertex(const TileSpec &tile, const ElementwiseOpInfo &op,
                      DataType type, std::uint64_t length, std::uint64_t n,
                      bool inPlace) {
  if (n <= length) {
    return {"BinaryOp1D",
            kernels::cost::binaryOp1D(tile, op, type, n, inPlace)};
  }
  const auto split = splitEvenly(tile, op, type, n, inPlace);
  if (!kernels::cost::hasVectorInner(op.name, type)) {
    return split;
  }
  const auto whole = kernels::cost::vectorInner1D(
      tile, op.name, type,
      {.length = length, .repeats = ceilDiv(n, length), .isInPlace = inPlace});
  return isWorthAnother(split.cycles, whole)
             ? split
             : Candidate{"BroadcastVectorInner1D", whole};
}

Candidate outerVertex(const TileSpec &tile, DataType type, std::uint64_t length,
                      std::uint64_t n) {
  const auto columns = std::min(length, n);
  const auto rows = ceilDiv(n, columns);
  const auto byRow = kernels::cost::vectorOuterByRow(tile, type, rows, columns);
  const auto byColumn =
      kernels::cost::vectorOuterByColumn(tile, type, rows, columns);
  return isWorthAnother(byColumn, byRow)
             ? Candidate{"BroadcastVectorOuterByColumn1D", byColumn}
             : Candidate{"BroadcastVectorOuterByRow1D", byRow};
}

Candidate cheapest(const TileSpec &tile, const ElementwiseOpInfo &op,
                   DataType type, Repeat repeat, std::uint64_t n,
                   bool inPlace) {
  const auto length = std::max<std::uint64_t>(repeat.length, 1);
  switch (repeat.kind) {
  case Repeat::Kind::Scalar:
    return {"BroadcastScalar1D",
            kernels::cost::broadcastScalar1D(tile, op, type, n)};
  case Repeat::Kind::Inner:
    return innerVertex(tile, op, type, length, n, inPlace);
  case Repeat::Kind::Outer:
    return outerVertex(tile, type, length, n);
  case Repeat::Kind::None:
    break;
  }
  return {"BinaryOp1D", kernels::cost::binaryOp1D(tile, op, type, n, inPlace)};
}

} // namespace

Repeat repeatOf(const poplar::Tensor &operand) {
  using Kind = Repeat::Kind;
  if (poputil::internal::distinctElements(operand) == 1) {
    return {Kind::Scalar};
  }
  poplar::internal::AffineView view;
  if (!operand.containsAliases() ||
      !toAffine(poplar::internal::tensorView(operand), view)) {
    return {Kind::None};
  }
  // Innermost dimensions that all repeat, or none of which does.
  std::int64_t length = 1;
  bool isFirst = true;
  bool repeats = false;
  for (std::size_t d = view.shape.size(); d-- > 0;) {
    if (view.shape[d] == 1) {
      continue;
    }
    if (isFirst) {
      repeats = view.strides[d] == 0;
      isFirst = false;
    } else if (repeats != (view.strides[d] == 0)) {
      break;
    }
    length *= view.shape[d];
  }
  return {repeats ? Kind::Outer : Kind::Inner,
          static_cast<std::uint64_t>(length)};
}

VertexUse broadcastVertex(const TileSpec &tile, const ElementwiseOpInfo &op,
                          DataType type, Repeat repeat, std::uint64_t n,
                          bool inPlace) {
  const auto best = cheapest(tile, op, type, repeat, n, inPlace);
  const auto name =
      fmt::format("popops::{}{}<popops::expr::BinaryOpType::{},{}>", best.name,
                  inPlace ? "InPlace" : "", op.name, support::toString(type));
  return best.hasWorkers ? poputil::internal::workerVertices(
                               name, tile.workers, best.cycles / tile.workers,
                               binaryEdges, perWorker(tile, n))
                         : poputil::internal::supervisorVertex(
                               name, best.cycles, binaryEdges, n);
}

} // namespace popops::internal
