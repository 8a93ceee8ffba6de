// The weights' gradient with sixteen samples in the lanes: a tile of output
// channels and kernel columns is summed over all positions in registers; the
// lanes are added up once, at the end. A last block of at most eight samples is
// summed in vectors of half the size.
#include "LaneConvolution.hpp"

#include "LaneShuffles.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Shape = LaneLoops::Convolution;

#if defined(__AVX512F__)
constexpr int maxTaps = 5;
constexpr int maxChannels(int taps) {
  return taps >= 5 ? 5 : taps == 4 ? 6 : 8;
}
#else
// Twelve sums at most, a row of inputs and a gradient fit in 16 registers.
constexpr int maxTaps = 3;
constexpr int maxChannels(int taps) {
  return taps == 3 ? 4 : taps == 2 ? 5 : 8;
}
#endif

struct Range {
  std::int64_t begin, end;
};

// Output positions o in [0, outs) with 0 <= o * stride + shift < size.
Range positionsInside(std::int64_t shift, std::int64_t stride,
                      std::int64_t outs, std::int64_t size) {
  std::int64_t begin = shift < 0 ? quotient(-shift + stride - 1, stride) : 0;
  std::int64_t end = shift >= size ? 0 : quotient(size - 1 - shift, stride) + 1;
  end = end < outs ? end : outs;
  return {begin < end ? begin : end, end};
}

struct Images {
  const float *dy;
  const float *x;
  std::int64_t dyImage, xImage, count;

  Images from(std::int64_t image, std::int64_t some) const {
    return {dy + image * dyImage, x + image * xImage, dyImage, xImage, some};
  }
};

// What half the lanes are summed in.
#ifdef __AVX512F__
using HalfRegister = HalfLanes;
#else
using HalfRegister = Register;
#endif

// From one gradient to the next channel's, and from one tap's input to the
// next.
struct Steps {
  std::int64_t channel, tap;
};

template <typename Vector, int Channels, int Taps>
[[gnu::always_inline]] inline void addPosition(const float *dy, const float *x,
                                               Steps steps,
                                               Vector (&sums)[Channels][Taps]) {
  Vector values[Taps];
#pragma GCC unroll 8
  for (int t = 0; t < Taps; ++t) {
    values[t] = loadAs<Vector>(x + t * steps.tap);
    keepInRegister(values[t]);
  }
#pragma GCC unroll 8
  for (int o = 0; o < Channels; ++o) {
    const auto gradient = loadAs<Vector>(dy + o * steps.channel);
#pragma GCC unroll 8
    for (int t = 0; t < Taps; ++t) {
      sums[o][t] += gradient * values[t];
    }
  }
}

// Adds to sums[o][t] the products of dy's channel o with x moved by kernel row
// p and column q + t, over output columns [columns). Lanes that the vector does
// not have are added to those that it has.
template <typename Vector, std::int64_t LanesInUse, int Channels, int Taps>
void accumulate(const Shape &s, const Images &images, std::int64_t channel,
                std::int64_t p, std::int64_t q, Range columns,
                Vector (&sums)[Channels][Taps]) {
  constexpr int width = sizeof(Vector) / sizeof(float);
  const std::int64_t shift = p * s.dilationRows - s.padRows;
  const Range rows = positionsInside(shift, s.strideRows, s.outRows, s.inRows);
  const std::int64_t step = s.strideColumns * laneCount;
  const Steps steps{s.outRows * s.outColumns * laneCount,
                    s.dilationColumns * laneCount};
  for (std::int64_t image = 0; image < images.count; ++image) {
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const float *dy = images.dy + image * images.dyImage +
                        (row * s.outColumns + columns.begin) * laneCount;
      const std::int64_t line = channel * s.inRows + row * s.strideRows + shift;
      const std::int64_t column = columns.begin * s.strideColumns +
                                  q * s.dilationColumns - s.padColumns;
      const float *x = images.x + image * images.xImage +
                       (line * s.inColumns + column) * laneCount;
      for (std::int64_t i = columns.begin; i < columns.end; ++i) {
#pragma GCC unroll 4
        for (int lane = 0; lane < LanesInUse; lane += width) {
          addPosition(dy + lane, x + lane, steps, sums);
        }
        dy += laneCount;
        x += step;
      }
    }
  }
}

// The output columns where each tap, and where all of them, are inside.
template <int Taps> struct TapColumns {
  Range all;
  Range each[Taps];

  TapColumns(const Shape &s, std::int64_t q) : all{0, s.outColumns} {
    for (int t = 0; t < Taps; ++t) {
      each[t] = positionsInside((q + t) * s.dilationColumns - s.padColumns,
                                s.strideColumns, s.outColumns, s.inColumns);
      all.begin = each[t].begin > all.begin ? each[t].begin : all.begin;
      all.end = each[t].end < all.end ? each[t].end : all.end;
    }
    all.end = all.end > all.begin ? all.end : all.begin;
  }
  Range left(int t) const {
    return {each[t].begin, each[t].end < all.begin ? each[t].end : all.begin};
  }
  Range right(int t) const {
    return {each[t].begin > all.end ? each[t].begin : all.end, each[t].end};
  }
};

// A tile's place: an input channel, a kernel row and the first kernel column.
struct Place {
  std::int64_t channel, p, q;
};

// Adds the products of some columns with Taps kernel columns from `tap` on to
// sums [channels, taps, lanes].
template <typename Vector, std::int64_t LanesInUse, int Channels, int Taps,
          int AllTaps>
void addColumns(const Shape &s, const Images &images, const Place &at,
                const Range &columns, int tap, float *sums) {
  Vector part[Channels][Taps] = {};
  accumulate<Vector, LanesInUse>(s, images, at.channel, at.p, at.q + tap,
                                 columns, part);
#pragma GCC unroll 8
  for (int o = 0; o < Channels; ++o) {
#pragma GCC unroll 8
    for (int t = 0; t < Taps; ++t) {
      float *to = sums + (o * AllTaps + tap + t) * laneCount;
      storeAs(to, loadAs<Vector>(to) + part[o][t]);
    }
  }
}

template <typename Vector, std::int64_t LanesInUse, int Channels, int Taps>
void addImages(const Shape &s, const Images &images, const Place &at,
               float *sums) {
  const TapColumns<Taps> columns(s, at.q);
  addColumns<Vector, LanesInUse, Channels, Taps, Taps>(s, images, at,
                                                       columns.all, 0, sums);
  for (int t = 0; t < Taps; ++t) { // what padding leaves of single taps
    const Range parts[] = {columns.left(t), columns.right(t)};
    for (const Range part : parts) {
      if (part.begin < part.end) {
        addColumns<Vector, LanesInUse, Channels, 1, Taps>(s, images, at, part,
                                                          t, sums);
      }
    }
  }
}

// Sixteen sums of lanes at once, each in the order of sumOf(): in every step,
// two vectors of sums become one whose parts are half as long.
inline Lanes halved8(Lanes a, Lanes b) {
  return shuffled<0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23>(a,
                                                                          b) +
         shuffled<8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31>(
             a, b);
}
inline Lanes halved4(Lanes a, Lanes b) {
  return shuffled<0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27>(a,
                                                                            b) +
         shuffled<4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31>(
             a, b);
}
inline Lanes halved2(Lanes a, Lanes b) {
  return shuffled<0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29>(a,
                                                                            b) +
         shuffled<2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31>(
             a, b);
}
inline Lanes halved1(Lanes a, Lanes b) {
  return shuffled<0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30>(
             a, b) +
         shuffled<1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31>(a,
                                                                             b);
}
inline Lanes sumsOf(const float *sums) {
  Lanes fours[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    Lanes lanes[4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      lanes[k] = loadLanes(sums + (4 * i + k) * laneCount);
    }
    fours[i] =
        halved4(halved8(lanes[0], lanes[1]), halved8(lanes[2], lanes[3]));
  }
  return halved1(halved2(fours[0], fours[1]), halved2(fours[2], fours[3]));
}

template <int Channels, int Taps>
void runTile(const Shape &s, const Images &images, std::int64_t samples,
             const Place &at, float *dw) {
  const std::int64_t left = samples % laneCount;
  const bool hasHalf = left > 0 && left <= halfCount;
  const std::int64_t whole = images.count - (hasHalf ? 1 : 0);
  constexpr int count = Channels * Taps;
  constexpr int groups = (count + laneCount - 1) / laneCount;
  float sums[groups * laneCount * laneCount] = {};
  if (whole > 0) {
    addImages<Register, laneCount, Channels, Taps>(s, images.from(0, whole), at,
                                                   sums);
  }
  if (hasHalf) {
    addImages<HalfRegister, halfCount, Channels, Taps>(s, images.from(whole, 1),
                                                       at, sums);
  }
  float totals[groups * laneCount];
  for (int g = 0; g < groups; ++g) {
    storeLanes(totals + g * laneCount,
               sumsOf(sums + g * laneCount * laneCount));
  }
  const std::int64_t weights = s.inChannels * s.kernelRows * s.kernelColumns;
  dw += (at.channel * s.kernelRows + at.p) * s.kernelColumns + at.q;
  for (int o = 0; o < Channels; ++o) {
    std::memcpy(dw + o * weights, totals + o * Taps, Taps * sizeof(float));
  }
}

template <int Taps, int Channels = maxChannels(Taps)>
void runChannels(const Shape &s, const Images &images, std::int64_t samples,
                 std::int64_t channels, const Place &at, float *dw) {
  if constexpr (Channels > 1) {
    if (channels < Channels) {
      return runChannels<Taps, Channels - 1>(s, images, samples, channels, at,
                                             dw);
    }
  }
  runTile<Channels, Taps>(s, images, samples, at, dw);
}

using TapsFunction = void (*)(const Shape &, const Images &, std::int64_t,
                              std::int64_t, const Place &, float *);
template <int Taps = maxTaps> TapsFunction tapsOf(std::int64_t taps) {
  if constexpr (Taps > 1) {
    if (taps < Taps) {
      return tapsOf<Taps - 1>(taps);
    }
  }
  return runChannels<Taps>;
}
constexpr std::int64_t channelsOf(std::int64_t taps) {
  return maxChannels(static_cast<int>(taps));
}

} // namespace

void laneWeightGradient(const Shape &s, const float *dy, std::int64_t dyImage,
                        const float *x, std::int64_t xImage,
                        std::int64_t samples, std::int64_t channels,
                        float *dw) {
  const std::int64_t images = (samples + laneCount - 1) / laneCount;
  const std::int64_t plane = s.outRows * s.outColumns * laneCount;
  const std::int64_t weights = s.inChannels * s.kernelRows * s.kernelColumns;
  const std::int64_t groups = (s.kernelColumns + maxTaps - 1) / maxTaps;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t q = s.kernelColumns * g / groups;
    const std::int64_t taps = s.kernelColumns * (g + 1) / groups - q;
    const std::int64_t most = channelsOf(taps);
    const std::int64_t tiles = (channels + most - 1) / most;
    for (std::int64_t t = 0; t < tiles; ++t) {
      const std::int64_t first = channels * t / tiles;
      const std::int64_t count = channels * (t + 1) / tiles - first;
      const Images part{dy + first * plane, x, dyImage, xImage, images};
      for (std::int64_t c = 0; c < s.inChannels; ++c) {
        for (std::int64_t p = 0; p < s.kernelRows; ++p) {
          tapsOf<>(taps)(s, part, samples, count, {c, p, q},
                         dw + first * weights);
        }
      }
    }
  }
}

} // namespace kernels::loops::LOOPS_LEVEL
