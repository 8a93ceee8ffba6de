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
constexpr bool knowsTaps = false; // tiles are large enough without
#else
// Twelve accumulators of half the size, an input and a weight in 16 registers.
constexpr int maxChannels = 6;
constexpr int maxBorderChannels = 6;
constexpr int maxColumns(int channels) {
  return channels == 1 ? 4 : channels == 2 ? 2 : 1;
}
constexpr bool knowsTaps = true;
#endif

struct Range {
  std::int64_t begin, end;
};

// What a tile needs beside the shape.
struct Tile {
  const float *x; // its first tap's first input, of the first channel
  const float *w; // its first tap's weight, of the tile's first channel
  std::int64_t rows, columns; // of the kernel that are inside everywhere
};

// Where it goes, from the tile's first channel and column on.
struct Result {
  const float *bias; // may be null
  bool hasRelu;
  float *y;
  std::int64_t lanes;
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

// From an input to the next one of a tile, and from one channel's weight to the
// next channel's.
struct Steps {
  std::int64_t column, channel;
};

template <typename Vector, int Channels, int Columns>
[[gnu::always_inline]] inline void addTap(const float *from, const float *w,
                                          Steps steps,
                                          Vector (&sums)[Channels][Columns]) {
  Vector values[Columns];
#pragma GCC unroll 16
  for (int j = 0; j < Columns; ++j) {
    values[j] = loadAs<Vector>(from + j * steps.column);
    keepInRegister(values[j]);
  }
#pragma GCC unroll 8
  for (int o = 0; o < Channels; ++o) {
    const auto weight = broadcastAs<Vector>(w[o * steps.channel]);
#pragma GCC unroll 16
    for (int j = 0; j < Columns; ++j) {
      sums[o][j] += weight * values[j];
    }
  }
}

// Taps is the number of kernel columns where the compiler knows it, or 0.
template <typename Vector, int Channels, int Columns, int Taps>
void accumulate(const Shape &s, const Tile &tile,
                Vector (&sums)[Channels][Columns]) {
  const std::int64_t kernel = s.kernelRows * s.kernelColumns;
  const std::int64_t plane = s.inRows * s.inColumns * laneCount;
  const std::int64_t line = s.dilationRows * s.inColumns * laneCount;
  const std::int64_t tap = s.dilationColumns * laneCount;
  const Steps steps{s.strideColumns * laneCount, s.inChannels * kernel};
  for (std::int64_t c = 0; c < s.inChannels; ++c) {
    const float *from = tile.x + c * plane;
    const float *w = tile.w + c * kernel;
    for (std::int64_t p = 0; p < tile.rows; ++p) {
      if constexpr (Taps > 0) {
#pragma GCC unroll 8
        for (int q = 0; q < Taps; ++q) {
          addTap(from + q * tap, w + q, steps, sums);
        }
      } else {
        for (std::int64_t q = 0; q < tile.columns; ++q) {
          addTap(from + q * tap, w + q, steps, sums);
        }
      }
      from += line;
      w += s.kernelColumns;
    }
  }
}

template <typename Vector, int Channels, int Columns>
[[gnu::always_inline]] inline void begin(const float *bias,
                                         Vector (&sums)[Channels][Columns]) {
#pragma GCC unroll 8
  for (int o = 0; o < Channels; ++o) {
#pragma GCC unroll 16
    for (int j = 0; j < Columns; ++j) {
      sums[o][j] = broadcastAs<Vector>(bias != nullptr ? bias[o] : 0.0f);
    }
  }
}

// To planes that are `plane` floats apart.
template <typename Vector, int Channels, int Columns>
[[gnu::always_inline]] inline void
finish(const Vector (&sums)[Channels][Columns], const Result &result,
       const LaneMask &mask, std::int64_t plane) {
#pragma GCC unroll 8
  for (int o = 0; o < Channels; ++o) {
#pragma GCC unroll 16
    for (int j = 0; j < Columns; ++j) {
      Lanes lanes = wholeOf(sums[o][j]);
      if (result.hasRelu) {
        lanes = choose(lanes > 0, lanes, Lanes{});
      }
      storeLanes(result.y + o * plane + j * laneCount,
                 choose(mask, lanes, Lanes{}));
    }
  }
}

template <typename Vector, int Channels, int Columns, int Taps>
void runTile(const Shape &s, const Tile &tile, const Result &result) {
  Vector sums[Channels][Columns];
  begin(result.bias, sums);
  accumulate<Vector, Channels, Columns, Taps>(s, tile, sums);
  finish(sums, result, firstLanes(result.lanes),
         s.outRows * s.outColumns * laneCount);
}

// `count` columns of an image of one channel, one after another: a tile is so
// small there that finding its operands would take a third of the time.
template <typename Vector, int Channels, int Taps>
void runGrey(const Shape &s, Tile tile, Result result, std::int64_t count) {
  const std::int64_t plane = s.outRows * s.outColumns * laneCount;
  const std::int64_t line = s.dilationRows * s.inColumns * laneCount;
  const std::int64_t tap = s.dilationColumns * laneCount;
  const std::int64_t kernel = s.kernelRows * s.kernelColumns;
  const std::int64_t step = s.strideColumns * laneCount;
  const LaneMask mask = firstLanes(result.lanes);
  for (; count > 0; --count) {
    Vector sums[Channels][1];
    begin(result.bias, sums);
    const float *from = tile.x;
    const float *w = tile.w;
    for (std::int64_t p = 0; p < tile.rows; ++p) {
#pragma GCC unroll 8
      for (int q = 0; q < Taps; ++q) {
        addTap(from + q * tap, w + q, {0, kernel}, sums);
      }
      from += line;
      w += Taps;
    }
    finish(sums, result, mask, plane);
    tile.x += step;
    result.y += laneCount;
  }
}

using TileFunction = void (*)(const Shape &, const Tile &, const Result &);

// runTile with `columns` columns, from one of Channels' sizes.
template <typename Vector, int Channels, int Taps,
          int Columns = maxColumns(Channels)>
TileFunction tileOf(std::int64_t columns) {
  if constexpr (Columns > 1) {
    if (columns < Columns) {
      return tileOf<Vector, Channels, Taps, Columns - 1>(columns);
    }
  }
  return runTile<Vector, Channels, Columns, Taps>;
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

// One row of outputs.
struct Row {
  const Shape &shape;
  const Operands &operands;
  std::int64_t row;
  std::int64_t top; // of its windows
  Range taps;       // the kernel rows that are inside

  Row(const Shape &s, const Operands &operands, std::int64_t row)
      : shape(s), operands(operands), row(row),
        top(row * s.strideRows - s.padRows),
        taps(tapsInside(top, s.dilationRows, s.kernelRows, s.inRows)) {}

  // From `column` on, by the kernel columns that are given.
  Tile tile(std::int64_t column, Range columns) const {
    const Shape &s = shape;
    const std::int64_t left = column * s.strideColumns - s.padColumns;
    const std::int64_t line = top + taps.begin * s.dilationRows;
    const std::int64_t at = left + columns.begin * s.dilationColumns;
    return {operands.x + (line * s.inColumns + at) * laneCount,
            operands.w + taps.begin * s.kernelColumns + columns.begin,
            taps.end - taps.begin, columns.end - columns.begin};
  }
  Result result(std::int64_t column) const {
    return {operands.bias, operands.hasRelu,
            operands.y + (row * shape.outColumns + column) * laneCount,
            operands.lanes};
  }
};

// The columns whose windows are inside, in tiles of several columns.
template <typename Vector, int Channels, int Taps>
void runInteriorOf(const Shape &s, const Operands &operands) {
  const Range inside = interior(s);
  const std::int64_t count = inside.end - inside.begin;
  constexpr std::int64_t most = maxColumns(Channels);
  const std::int64_t tiles = (count + most - 1) / most;
  for (auto r = operands.rows.begin; r < operands.rows.end; ++r) {
    const Row row(s, operands, r);
    if constexpr (Taps > 0 && most == 1) {
      if (s.inChannels == 1) {
        runGrey<Vector, Channels, Taps>(
            s, row.tile(inside.begin, {0, s.kernelColumns}),
            row.result(inside.begin), count);
        continue;
      }
    }
    for (std::int64_t t = 0; t < tiles; ++t) {
      const std::int64_t begin = count * t / tiles;
      const std::int64_t column = inside.begin + begin;
      tileOf<Vector, Channels, Taps>(count * (t + 1) / tiles - begin)(
          s, row.tile(column, {0, s.kernelColumns}), row.result(column));
    }
  }
}

template <typename Vector, int Channels>
void runInterior(const Shape &s, const Operands &operands) {
  if constexpr (knowsTaps) {
    if (s.kernelColumns == 3) {
      return runInteriorOf<Vector, Channels, 3>(s, operands);
    }
    if (s.kernelColumns == 5) {
      return runInteriorOf<Vector, Channels, 5>(s, operands);
    }
  }
  runInteriorOf<Vector, Channels, 0>(s, operands);
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
    for (auto r = operands.rows.begin; r < operands.rows.end; ++r) {
      const Row row(s, operands, r);
      runTile<Vector, Channels, 1, 0>(s, row.tile(column, taps),
                                      row.result(column));
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
