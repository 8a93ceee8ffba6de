// The transforms of Winograd's method F(4x4, 3x3): part of the table of
// Loops.hpp. Tiles of 6x6 pixels that overlap by 2 give tiles of 4x4 results;
// between the transforms are 36 matrix products, one for each place in a tile.
#pragma once

#include <cstdint>

namespace kernels {

struct WinogradLoops {
  // Images in Layout::ChannelBlocked16 and their tiles. Row 0 of the tiles
  // begins `padRows` above row 0 of the image.
  struct Field {
    std::int64_t channels, rows, columns;
    std::int64_t tileRows, tileColumns;
    std::int64_t padRows, padColumns;
  };
  // Tiles are counted over all images, row by row; of `count` of them from
  // `first` on, each place is a matrix [count, channels].
  struct Tiles {
    std::int64_t first, count;

    // Floats from one place's matrix to the next: not a power of two, which
    // would put the places of one tile on the same lines of the cache.
    std::int64_t apart(std::int64_t channels) const {
      return count * channels + 16;
    }
  };
  // Tiles of 6x6, as factors: blocks [begin, end) of the channels, whose
  // matrices have no others.
  void (*images)(const Field &field, const Tiles &tiles, std::int64_t begin,
                 std::int64_t end, const float *x, float *to);
  // Tiles of 4x4 that lie side by side, as the factors of gradients.
  void (*gradients)(const Field &field, const Tiles &tiles, std::int64_t begin,
                    std::int64_t end, const float *dy, float *to);
  // Products of blocks [begin, end) of the channels to tiles of 4x4; what lies
  // beyond the image is dropped. A bias may be null.
  void (*results)(const Field &field, const Tiles &tiles, std::int64_t begin,
                  std::int64_t end, const float *products, const float *bias,
                  bool hasRelu, float *y);

  // Products of tiles of 4x4 gradients to those of the tiles of 6x6 pixels, of
  // which the sum is taken where they overlap: an image's tiles must come in
  // their order.
  void (*pixelGradients)(const Field &field, const Tiles &tiles,
                         std::int64_t begin, std::int64_t end,
                         const float *products, float *dx);

  // Weights [3, 3] of a matrix, whose rows and columns are some elements apart.
  struct Weights {
    std::int64_t rows, columns; // columns: a multiple of sixteen
    std::int64_t rowStride, columnStride;
    bool isTurned; // by half a turn

    // Floats from one place's matrix to the next, for the caches as above.
    std::int64_t apart() const { return rows * columns + 16; }
  };
  // Rows [begin, end) of each place's matrix, in panels [rows, panel], the last
  // of which may be narrower.
  void (*weights)(const Weights &weights, std::int64_t begin, std::int64_t end,
                  std::int64_t panel, const float *from, float *to);
  // And back, columns [begin, end), multiples of sixteen, of the sum of `parts`
  // such sets of matrices.
  void (*weightGradients)(const Weights &weights, std::int64_t begin,
                          std::int64_t end, std::int64_t parts,
                          const float *from, float *to);
};

} // namespace kernels
