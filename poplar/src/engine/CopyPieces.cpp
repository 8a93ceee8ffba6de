#include "engine/CopyPieces.hpp"

#include <cstring>

namespace poplar::engine {
namespace {

using internal::Piece;
using internal::TensorView;

// Copies dimensions [dim, rank) of the piece that starts at `at`;
// `move(element, packed, bytes)` does so for consecutive elements. Returns
// where the packed ones end.
template <typename Bytes, typename Packed, typename Move>
Packed *walk(const Piece &piece, std::size_t dim, Bytes *at, Packed *packed,
             std::int64_t size, const Move &move) {
  const std::size_t rank = piece.extents.size();
  if (dim == rank) {
    move(at, packed, size);
    return packed + size;
  }
  const std::int64_t extent = piece.extents[dim];
  const std::int64_t step = piece.strides[dim] * size;
  if (dim + 1 == rank && piece.strides[dim] == 1) {
    move(at, packed, extent * size);
    return packed + extent * size;
  }
  for (std::int64_t i = 0; i < extent; ++i) {
    packed = walk(piece, dim + 1, at + i * step, packed, size, move);
  }
  return packed;
}

template <typename Packed, typename Move>
void walk(const TensorView &view, std::byte *const *variables, Packed *packed,
          const Move &move) {
  const auto size = static_cast<std::int64_t>(support::sizeOf(view.type));
  for (const Piece &piece : view.pieces) {
    std::byte *first = variables[piece.variable.index()] + piece.offset * size;
    packed = walk(piece, 0, first, packed, size, move);
  }
}

} // namespace

void gather(const TensorView &view, std::byte *const *variables,
            std::byte *packed) {
  walk(view, variables, packed,
       [](const std::byte *element, std::byte *to, std::int64_t bytes) {
         std::memcpy(to, element, static_cast<std::size_t>(bytes));
       });
}

void scatter(const std::byte *packed, const TensorView &view,
             std::byte *const *variables) {
  walk(view, variables, packed,
       [](std::byte *element, const std::byte *from, std::int64_t bytes) {
         std::memcpy(element, from, static_cast<std::size_t>(bytes));
       });
}

} // namespace poplar::engine
