// The products of one place: sums over channels and the five rows of a kernel,
// sixteen samples in the lanes. A tile of rows and channels is kept in
// registers, and so are the rows that it reads, while weights are broadcast.
#include "LaneWinogradProducts.hpp"

#include "Lanes.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Product = LaneWinogradLoops::Product;

constexpr int taps = 5;
constexpr int reach = taps - 1;

// How many rows and channels fit into the registers.
#if defined(__AVX512F__)
constexpr int maxGathered = 5;
constexpr int gatherChannels(int rows) {
  return rows == 5 ? 4 : 5;
}
constexpr int maxScattered = 4;
constexpr int scatterChannels = 3;
#else
constexpr int maxGathered = 2;
constexpr int gatherChannels(int rows) {
  return rows == 2 ? 4 : 8;
}
constexpr int maxScattered = 2;
constexpr int scatterChannels = 2;
#endif

// A tile's operands: from its first row and its first channel of y.
struct Tile {
  const float *x;
  const float *w;
  float *y;
};

template <typename Vector, int Rows, int Channels>
void gatherTile(const Product &product, const Tile &tile) {
  const std::int64_t plane = (product.rows + reach) * laneCount;
  Vector sums[Channels][Rows] = {};
  for (std::int64_t c = 0; c < product.ins; ++c) {
    Vector values[Rows + reach];
#pragma GCC unroll 16
    for (int r = 0; r < Rows + reach; ++r) {
      values[r] = loadAs<Vector>(tile.x + c * plane + r * laneCount);
      keepInRegister(values[r]);
    }
#pragma GCC unroll 8
    for (int p = 0; p < taps; ++p) {
#pragma GCC unroll 8
      for (int k = 0; k < Channels; ++k) {
        const auto weight =
            broadcastAs<Vector>(tile.w[(k * product.ins + c) * taps + p]);
#pragma GCC unroll 8
        for (int r = 0; r < Rows; ++r) {
          sums[k][r] += weight * values[r + p];
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int k = 0; k < Channels; ++k) {
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      storeAs(tile.y + (k * product.rows + r) * laneCount, sums[k][r]);
    }
  }
}

// Adds to the first rows of y, which the tile above has made, if any.
template <typename Vector, int Rows, int Channels>
void scatterTile(const Product &product, const Tile &tile, bool isFirst) {
  const std::int64_t plane = (product.rows + reach) * laneCount;
  Vector sums[Channels][Rows + reach] = {};
  if (!isFirst) {
#pragma GCC unroll 8
    for (int k = 0; k < Channels; ++k) {
#pragma GCC unroll 8
      for (int r = 0; r < reach; ++r) {
        sums[k][r] = loadAs<Vector>(tile.y + k * plane + r * laneCount);
      }
    }
  }
  for (std::int64_t c = 0; c < product.ins; ++c) {
    Vector values[Rows];
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      values[r] = loadAs<Vector>(tile.x + (c * product.rows + r) * laneCount);
      keepInRegister(values[r]);
    }
#pragma GCC unroll 8
    for (int p = 0; p < taps; ++p) {
#pragma GCC unroll 8
      for (int k = 0; k < Channels; ++k) {
        const auto weight =
            broadcastAs<Vector>(tile.w[(k * product.ins + c) * taps + p]);
#pragma GCC unroll 8
        for (int r = 0; r < Rows; ++r) {
          sums[k][r + p] += weight * values[r];
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int k = 0; k < Channels; ++k) {
#pragma GCC unroll 16
    for (int r = 0; r < Rows + reach; ++r) {
      storeAs(tile.y + k * plane + r * laneCount, sums[k][r]);
    }
  }
}

// Equal shares of `count`, of at most `most`.
struct Shares {
  std::int64_t count, parts;

  Shares(std::int64_t count, std::int64_t most)
      : count(count), parts((count + most - 1) / most) {}
  std::int64_t begin(std::int64_t part) const { return count * part / parts; }
};

template <typename Vector, int Rows, int Channels = gatherChannels(Rows)>
void gatherChannelsOf(const Product &product, const Tile &tile,
                      std::int64_t channels) {
  if constexpr (Channels > 1) {
    if (channels < Channels) {
      return gatherChannelsOf<Vector, Rows, Channels - 1>(product, tile,
                                                          channels);
    }
  }
  gatherTile<Vector, Rows, Channels>(product, tile);
}

template <typename Vector, int Rows = maxGathered>
void gatherRows(const Product &product, const Tile &tile, std::int64_t rows) {
  if constexpr (Rows > 1) {
    if (rows < Rows) {
      return gatherRows<Vector, Rows - 1>(product, tile, rows);
    }
  }
  const Shares shares(product.outs, gatherChannels(Rows));
  for (std::int64_t i = 0; i < shares.parts; ++i) {
    const std::int64_t first = shares.begin(i);
    gatherChannelsOf<Vector, Rows>(product,
                                   {tile.x, tile.w + first * product.ins * taps,
                                    tile.y + first * product.rows * laneCount},
                                   shares.begin(i + 1) - first);
  }
}

template <typename Vector>
void gather(const Product &product, const Tile &tile) {
  const Shares shares(product.rows, maxGathered);
  for (std::int64_t i = 0; i < shares.parts; ++i) {
    const std::int64_t at = shares.begin(i) * laneCount;
    gatherRows<Vector>(product, {tile.x + at, tile.w, tile.y + at},
                       shares.begin(i + 1) - shares.begin(i));
  }
}

template <typename Vector, int Rows, int Channels = scatterChannels>
void scatterChannelsOf(const Product &product, const Tile &tile,
                       std::int64_t channels, bool isFirst) {
  if constexpr (Channels > 1) {
    if (channels < Channels) {
      return scatterChannelsOf<Vector, Rows, Channels - 1>(product, tile,
                                                           channels, isFirst);
    }
  }
  scatterTile<Vector, Rows, Channels>(product, tile, isFirst);
}

template <typename Vector, int Rows = maxScattered>
void scatterRows(const Product &product, const Tile &tile, std::int64_t rows,
                 bool isFirst) {
  if constexpr (Rows > 1) {
    if (rows < Rows) {
      return scatterRows<Vector, Rows - 1>(product, tile, rows, isFirst);
    }
  }
  const Shares shares(product.outs, scatterChannels);
  for (std::int64_t i = 0; i < shares.parts; ++i) {
    const std::int64_t first = shares.begin(i);
    scatterChannelsOf<Vector, Rows>(
        product,
        {tile.x, tile.w + first * product.ins * taps,
         tile.y + first * (product.rows + reach) * laneCount},
        shares.begin(i + 1) - first, isFirst);
  }
}

template <typename Vector>
void scatter(const Product &product, const Tile &tile) {
  const Shares shares(product.rows, maxScattered);
  for (std::int64_t i = 0; i < shares.parts; ++i) {
    const std::int64_t at = shares.begin(i) * laneCount;
    scatterRows<Vector>(product, {tile.x + at, tile.w, tile.y + at},
                        shares.begin(i + 1) - shares.begin(i), i == 0);
  }
}

// Calls function<Vector>(product, tile) for the lanes in use: in whole
// registers, or in halves where that is all that a register holds.
template <auto Whole, auto Half>
void forLanes(const Product &product, const Tile &tile) {
#if defined(__AVX512F__)
  if (product.lanes > halfCount) {
    return Whole(product, tile);
  }
#endif
  Half(product, tile);
#if !defined(__AVX512F__)
  if (product.lanes > halfCount) {
    Half(product, {tile.x + halfCount, tile.w, tile.y + halfCount});
  }
#endif
}

} // namespace

void laneWinogradGather(const Product &product, const float *x, const float *w,
                        float *y) {
  forLanes<gather<Lanes>, gather<HalfLanes>>(product, {x, w, y});
}

void laneWinogradScatter(const Product &product, const float *x, const float *w,
                         float *y) {
  forLanes<scatter<Lanes>, scatter<HalfLanes>>(product, {x, w, y});
}

} // namespace kernels::loops::LOOPS_LEVEL
