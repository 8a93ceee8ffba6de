// Forward convolution with sixteen samples in the lanes: a tile of output
// channels and columns is kept in registers while weights are broadcast over
// it. The data gradient runs through here, too, with turned weights. Blocks of
// at most eight samples take vectors of half the size and half the time.
#include "LaneConvolution.hpp"

#include "Lanes.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Shape = LaneLoops::Convolution;

#if defined(__AVX512F__)
constexpr int maxChannels = 4;
constexpr int maxBorderChannels = 8;
// Accumulators, a row of inputs and a weight fit in 32 registers.
constexpr int maxColumns(int channels) {
  return channels == 4 ? 6 : channels == 3 ? 7 : channels == 2 ? 10 : 14;
}
#else
// Twelve accumulators of half the size, an input and a weight in 16 registers.
constexpr int maxChannels = 6;
constexpr int maxBorderChannels = 6;
constexpr int maxColumns(int channels) {
  return channels == 1 ? 4 : channels == 2 ? 2 : 1;
}
#endif

// What a tile needs beside the shape.
struct Tile {
  const float *x;                // of the image
  const float *w;                // of the tile's first channel
  std::int64_t row;              // of the output
  std::int64_t column;           // the first one, of the output
  std::int64_t tapBegin, tapEnd; // kernel columns that are inside everywhere
};

struct Range {
  std::int64_t begin, end;
};

// Positions k in [0, kernel) with 0 <= start + k * dilation < size.
Range tapsInside(std::int64_t start, std::int64_t dilation, std::int64_t kernel,
                 std::int64_t size) {
  std::int64_t begin = 0;
  if (start < 0) {
    begin = quotient(-start + dilation - 1, dilation);
  }
  std::int64_t end =
      start >= size ? 0 : quotient(size - 1 - start, dilation) + 1;
  end = end < kernel ? end : kernel;
  return {begin < end ? begin : end, end};
}

template <typename Vector, int Channels, int Columns>
void accumulate(const Shape &s, const Tile &tile,
                Vector (&sums)[Channels][Columns]) {
  const std::int64_t kernel = s.kernelRows * s.kernelColumns;
  const std::int64_t top = tile.row * s.strideRows - s.padRows;
  const std::int64_t left = tile.column * s.strideColumns - s.padColumns;
  const Range rows = tapsInside(top, s.dilationRows, s.kernelRows, s.inRows);
  for (std::int64_t c = 0; c < s.inChannels; ++c) {
    for (std::int64_t p = rows.begin; p < rows.end; ++p) {
      const std::int64_t line = c * s.inRows + top + p * s.dilationRows;
      const float *from = tile.x + (line * s.inColumns + left) * laneCount;
      const float *w = tile.w + c * kernel + p * s.kernelColumns;
      for (std::int64_t q = tile.tapBegin; q < tile.tapEnd; ++q) {
        const float *at = from + q * s.dilationColumns * laneCount;
        Vector values[Columns];
#pragma GCC unroll 16
        for (int j = 0; j < Columns; ++j) {
          values[j] = loadAs<Vector>(at + j * s.strideColumns * laneCount);
          keepInRegister(values[j]);
        }
#pragma GCC unroll 8
        for (int o = 0; o < Channels; ++o) {
          const auto weight =
              broadcastAs<Vector>(w[o * s.inChannels * kernel + q]);
#pragma GCC unroll 16
          for (int j = 0; j < Columns; ++j) {
            sums[o][j] += weight * values[j];
          }
        }
      }
    }
  }
}

template <typename Vector, int Channels, int Columns>
void runTile(const Shape &s, const Tile &tile, const float *bias, bool hasRelu,
             float *y, std::int64_t lanes) {
  Vector sums[Channels][Columns];
#pragma GCC unroll 8
  for (int o = 0; o < Channels; ++o) {
#pragma GCC unroll 16
    for (int j = 0; j < Columns; ++j) {
      sums[o][j] = broadcastAs<Vector>(bias != nullptr ? bias[o] : 0.0f);
    }
  }
  accumulate(s, tile, sums);
  const LaneMask mask = firstLanes(lanes);
  const std::int64_t plane = s.outRows * s.outColumns;
#pragma GCC unroll 8
  for (int o = 0; o < Channels; ++o) {
#pragma GCC unroll 16
    for (int j = 0; j < Columns; ++j) {
      const std::int64_t at =
          o * plane + tile.row * s.outColumns + tile.column + j;
      Lanes result = wholeOf(sums[o][j]);
      if (hasRelu) {
        result = choose(result > 0, result, Lanes{});
      }
      storeLanes(y + at * laneCount, choose(mask, result, Lanes{}));
    }
  }
}

using TileFunction = void (*)(const Shape &, const Tile &, const float *, bool,
                              float *, std::int64_t);

// runTile with `columns` columns, from one of Channels' sizes.
template <typename Vector, int Channels, int Columns = maxColumns(Channels)>
TileFunction tileOf(std::int64_t columns) {
  if constexpr (Columns > 1) {
    if (columns < Columns) {
      return tileOf<Vector, Channels, Columns - 1>(columns);
    }
  }
  return runTile<Vector, Channels, Columns>;
}

// Output columns whose whole window is inside the image.
Range interior(const Shape &s) {
  const std::int64_t stride = s.strideColumns;
  const std::int64_t pad = s.padColumns;
  const std::int64_t reach = (s.kernelColumns - 1) * s.dilationColumns;
  const std::int64_t last = s.inColumns - 1 - reach + pad;
  std::int64_t begin = pad > 0 ? (pad + stride - 1) / stride : 0;
  std::int64_t end = last < 0 ? 0 : last / stride + 1;
  end = end < s.outColumns ? end : s.outColumns;
  begin = begin < s.outColumns ? begin : s.outColumns;
  return {begin, end > begin ? end : begin};
}

// One call's operands from some output channel on.
struct Operands {
  const float *x, *w, *bias;
  bool hasRelu;
  float *y;
  Range rows;
  std::int64_t lanes;

  Operands from(std::int64_t channel, const Shape &s) const {
    const std::int64_t weights = s.inChannels * s.kernelRows * s.kernelColumns;
    const std::int64_t plane = s.outRows * s.outColumns * laneCount;
    return {x,
            w + channel * weights,
            bias != nullptr ? bias + channel : nullptr,
            hasRelu,
            y + channel * plane,
            rows,
            lanes};
  }
};

// The columns whose windows are inside, in tiles of several columns.
template <typename Vector, int Channels>
void runInterior(const Shape &s, const Operands &operands) {
  const Range inside = interior(s);
  const std::int64_t count = inside.end - inside.begin;
  constexpr std::int64_t most = maxColumns(Channels);
  const std::int64_t tiles = (count + most - 1) / most;
  for (auto row = operands.rows.begin; row < operands.rows.end; ++row) {
    for (std::int64_t t = 0; t < tiles; ++t) {
      const std::int64_t begin = count * t / tiles;
      const Tile tile{operands.x,           operands.w, row,
                      inside.begin + begin, 0,          s.kernelColumns};
      tileOf<Vector, Channels>(count * (t + 1) / tiles - begin)(
          s, tile, operands.bias, operands.hasRelu, operands.y, operands.lanes);
    }
  }
}

// The columns left and right of them, one at a time: only the taps inside are
// computed, so independent sums must come from many channels.
template <typename Vector, int Channels>
void runBorder(const Shape &s, const Operands &operands) {
  const Range inside = interior(s);
  for (std::int64_t column = 0; column < s.outColumns; ++column) {
    if (column >= inside.begin && column < inside.end) {
      continue;
    }
    const Range taps =
        tapsInside(column * s.strideColumns - s.padColumns, s.dilationColumns,
                   s.kernelColumns, s.inColumns);
    for (auto row = operands.rows.begin; row < operands.rows.end; ++row) {
      const Tile tile{operands.x, operands.w, row,
                      column,     taps.begin, taps.end};
      runTile<Vector, Channels, 1>(s, tile, operands.bias, operands.hasRelu,
                                   operands.y, operands.lanes);
    }
  }
}

using ChannelsFunction = void (*)(const Shape &, const Operands &);

template <typename Vector, int Channels = maxChannels>
ChannelsFunction interiorOf(std::int64_t channels) {
  if constexpr (Channels > 1) {
    if (channels < Channels) {
      return interiorOf<Vector, Channels - 1>(channels);
    }
  }
  return runInterior<Vector, Channels>;
}

template <typename Vector, int Channels = maxBorderChannels>
ChannelsFunction borderOf(std::int64_t channels) {
  if constexpr (Channels > 1) {
    if (channels < Channels) {
      return borderOf<Vector, Channels - 1>(channels);
    }
  }
  return runBorder<Vector, Channels>;
}

// Calls function(count)(shape, operands) for equal shares of the channels.
template <typename Function>
void forShares(const Shape &s, const Operands &operands, std::int64_t channels,
               std::int64_t most, const Function &function) {
  const std::int64_t tiles = (channels + most - 1) / most;
  for (std::int64_t t = 0; t < tiles; ++t) {
    const std::int64_t begin = channels * t / tiles;
    const std::int64_t count = channels * (t + 1) / tiles - begin;
    function(count)(s, operands.from(begin, s));
  }
}

template <typename Vector>
void runChannels(const Shape &s, const Operands &operands,
                 std::int64_t channels) {
  forShares(s, operands, channels, maxChannels, interiorOf<Vector>);
  const Range inside = interior(s);
  if (inside.end - inside.begin < s.outColumns) {
    forShares(s, operands, channels, maxBorderChannels, borderOf<Vector>);
  }
}

} // namespace

void laneConvolution(const Shape &s, const float *x, const float *w,
                     const float *bias, bool hasRelu, float *y,
                     std::int64_t channels, std::int64_t rowBegin,
                     std::int64_t rowEnd, std::int64_t lanes) {
  const Operands operands{x, w, bias, hasRelu, y, {rowBegin, rowEnd}, lanes};
  if (lanes <= halfCount) {
    runChannels<HalfLanes>(s, operands, channels);
  } else {
    runChannels<Lanes>(s, operands, channels);
  }
}

} // namespace kernels::loops::LOOPS_LEVEL
