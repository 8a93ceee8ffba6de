// Which vertex combines a tile's elements with an operand that repeats over
// them: one value for a run of results, or a vector for each run.
#pragma once

#include <kernels/Expression.hpp>
#include <kernels/cost/Tile.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/internal/VertexGroup.hpp>

namespace popops::internal {

// How an operand, seen in the shape of the result, repeats over it.
struct Repeat {
  enum class Kind {
    None,   // not at all, or in no regular way
    Scalar, // one value for all
    Inner,  // a vector of `length`, again and again
    Outer   // each value `length` times
  };
  Kind kind = Kind::None;
  std::uint64_t length = 1;
};
Repeat repeatOf(const poplar::Tensor &operand);

// The fastest vertex for `n` results on a tile that keeps its six workers busy
// (sections 7.2 and 8.3): where a tile has a part of a row, no element of a
// vector repeats; where it has few rows, workers take parts of each.
poplar::internal::VertexUse
broadcastVertex(const kernels::cost::TileSpec &tile,
                const kernels::ElementwiseOpInfo &op, support::DataType type,
                Repeat repeat, std::uint64_t n, bool inPlace);

} // namespace popops::internal
