// The transforms of Winograd's method along rows, sixteen samples in the lanes.
// Polynomials are evaluated at 0 and infinity, the first pair of places, and at
// plus and minus each of three points, the others. Of points whose powers are
// exact these lose the fewest bits.
#include "LaneWinogradLoops.hpp"

#include "LaneWinogradProducts.hpp"
#include "Lanes.hpp"
#include "Loops.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Strip = LaneWinogradLoops::Strip;
using Places = LaneWinogradLoops::Places;
using Pairs = LaneWinogradLoops::Pairs;
using Weights = LaneWinogradLoops::Weights;

constexpr int size = 8;  // of a strip of pixels
constexpr int inner = 4; // of a strip of results
constexpr int taps = 5;
constexpr int pairs = size / 2;

constexpr float points[pairs] = {0, 0.5f, 1, 2}; // the first is not used
constexpr float square(int pair) {
  return points[pair] * points[pair];
}

// The polynomial whose zeros are the squares of all points,
// x^3 - all[2] x^2 + all[1] x - all[0].
constexpr float all[] = {square(1) * square(2) * square(3),
                         square(1) * square(2) + square(1) * square(3) +
                             square(2) * square(3),
                         square(1) + square(2) + square(3)};
// Without one of them: x^2 - sum x + product.
constexpr float sumWithout(int pair) {
  return all[2] - square(pair);
}
constexpr float productWithout(int pair) {
  return all[0] / square(pair);
}
// What makes a weight's factor of a value at a point.
constexpr float share(int pair) {
  return 1 / (2 * square(pair) *
              (square(pair) * (square(pair) - sumWithout(pair)) +
               productWithout(pair)));
}

struct Two {
  Lanes first, second;
};

template <int Pair> inline Two pixelPair(const Lanes (&d)[size]) {
  if constexpr (Pair == 0) {
    return {d[6] - all[2] * d[4] + all[1] * d[2] - all[0] * d[0],
            d[7] - all[2] * d[5] + all[1] * d[3] - all[0] * d[1]};
  } else {
    constexpr float sum = sumWithout(Pair), product = productWithout(Pair);
    const Lanes even = d[6] - sum * d[4] + product * d[2];
    const Lanes odd = points[Pair] * (d[5] - sum * d[3] + product * d[1]);
    return {even + odd, even - odd};
  }
}

template <int Pair> inline Two gradientPair(const Lanes (&d)[inner]) {
  if constexpr (Pair == 0) {
    return {d[0], d[3]};
  } else {
    const Lanes even = d[0] + square(Pair) * d[2];
    const Lanes odd = points[Pair] * (d[1] + square(Pair) * d[3]);
    return {even + odd, even - odd};
  }
}

// The places of one row: 0, infinity, and the other pairs by sums and
// differences.
struct Sides {
  Lanes zero, infinity;
  Lanes sums[pairs], differences[pairs];

  explicit Sides(const Lanes (&d)[size]) : zero(d[0]), infinity(d[1]) {
#pragma GCC unroll 4
    for (int pair = 1; pair < pairs; ++pair) {
      sums[pair] = d[2 * pair] + d[2 * pair + 1];
      differences[pair] = points[pair] * (d[2 * pair] - d[2 * pair + 1]);
    }
  }
};

inline void results(const Sides &s, Lanes (&t)[inner]) {
  t[0] = s.zero;
  t[1] = Lanes{};
  t[2] = Lanes{};
  t[3] = s.infinity;
#pragma GCC unroll 4
  for (int pair = 1; pair < pairs; ++pair) {
    t[0] += s.sums[pair];
    t[1] += s.differences[pair];
    t[2] += square(pair) * s.sums[pair];
    t[3] += square(pair) * s.differences[pair];
  }
}

inline void pixelGradients(const Sides &s, Lanes (&t)[size]) {
  const Lanes ends[2] = {s.zero, s.infinity};
#pragma GCC unroll 2
  for (int odd = 0; odd < 2; ++odd) {
    t[odd] = -all[0] * ends[odd];
    t[2 + odd] = all[1] * ends[odd];
    t[4 + odd] = -all[2] * ends[odd];
    t[6 + odd] = ends[odd];
  }
#pragma GCC unroll 4
  for (int pair = 1; pair < pairs; ++pair) {
    const float sum = sumWithout(pair), product = productWithout(pair);
    t[1] += product * s.differences[pair];
    t[2] += product * s.sums[pair];
    t[3] -= sum * s.differences[pair];
    t[4] -= sum * s.sums[pair];
    t[5] += s.differences[pair];
    t[6] += s.sums[pair];
  }
}

inline void weightPlaces(const Lanes (&d)[taps], Lanes (&t)[size]) {
  t[0] = -1 / all[0] * d[0];
  t[1] = d[4];
#pragma GCC unroll 4
  for (int pair = 1; pair < pairs; ++pair) {
    const float by = square(pair);
    const Lanes even = share(pair) * (d[0] + by * (d[2] + by * d[4]));
    const Lanes odd = share(pair) * points[pair] * (d[1] + by * d[3]);
    t[2 * pair] = even + odd;
    t[2 * pair + 1] = even - odd;
  }
}

inline void weightGradient(const Sides &s, Lanes (&t)[taps]) {
  t[0] = -1 / all[0] * s.zero;
  t[1] = t[2] = t[3] = Lanes{};
  t[4] = s.infinity;
#pragma GCC unroll 4
  for (int pair = 1; pair < pairs; ++pair) {
    const Lanes even = share(pair) * s.sums[pair];
    const Lanes odd = share(pair) * s.differences[pair];
    t[0] += even;
    t[1] += odd;
    t[2] += square(pair) * even;
    t[3] += square(pair) * odd;
    t[4] += square(pair) * square(pair) * even;
  }
}

// Some columns of one row; those beyond the image are zeros.
template <int Columns>
inline void loadColumns(const Strip &strip, const float *line,
                        Lanes (&columns)[Columns]) {
  const bool isInside =
      strip.column >= 0 && strip.column + Columns <= strip.columns;
#pragma GCC unroll 8
  for (int i = 0; i < Columns; ++i) {
    const std::int64_t column = strip.column + i;
    columns[i] = isInside || (column >= 0 && column < strip.columns)
                     ? loadLanes(line + column * laneCount)
                     : Lanes{};
  }
}

// Pairs [Pair, End) of places.
template <int Pair, int End, int Columns>
inline void storePairs(const Lanes (&columns)[Columns], float *to,
                       std::int64_t place) {
  Two two;
  if constexpr (Columns == size) {
    two = pixelPair<Pair>(columns);
  } else {
    two = gradientPair<Pair>(columns);
  }
  storeLanes(to, two.first);
  storeLanes(to + place, two.second);
  if constexpr (Pair + 1 < End) {
    storePairs<Pair + 1, End>(columns, to + 2 * place, place);
  }
}

template <int Columns, int Begin, int End>
void toPairs(const Strip &strip, const float *x, const Places &to) {
  const std::int64_t line = strip.columns * laneCount;
  for (std::int64_t c = 0; c < strip.channels; ++c) {
    float *at = to.data + c * to.channel;
    for (auto row = strip.rowBegin; row < strip.rowEnd; ++row) {
      Lanes columns[Columns] = {};
      if (row >= 0 && row < strip.rows) {
        loadColumns(strip, x + (c * strip.rows + row) * line, columns);
      }
      storePairs<Begin, End>(columns, at, to.place);
      at += laneCount;
    }
  }
}

// All pairs, or one.
template <int Columns>
void toPlaces(const Strip &strip, Pairs wanted, const float *x,
              const Places &to) {
  if (wanted.end - wanted.begin == pairs) {
    return toPairs<Columns, 0, pairs>(strip, x, to);
  }
  constexpr void (*functions[pairs])(const Strip &, const float *,
                                     const Places &) = {
      toPairs<Columns, 0, 1>, toPairs<Columns, 1, 2>, toPairs<Columns, 2, 3>,
      toPairs<Columns, 3, 4>};
  functions[wanted.begin](strip, x, to);
}

inline void loadPlaces(const float *from, std::int64_t place,
                       Lanes (&places)[size]) {
#pragma GCC unroll 8
  for (int i = 0; i < size; ++i) {
    places[i] = loadLanes(from + i * place);
  }
}

void toResults(const Strip &strip, const Places &from, const float *bias,
               bool hasRelu, std::int64_t lanes, float *y) {
  const LaneMask mask = firstLanes(lanes);
  for (std::int64_t c = 0; c < strip.channels; ++c) {
    const Lanes shift = broadcast(bias != nullptr ? bias[c] : 0.0f);
    const float *at = from.data + c * from.channel;
    for (auto row = strip.rowBegin; row < strip.rowEnd; ++row) {
      Lanes places[size], values[inner];
      loadPlaces(at, from.place, places);
      results(Sides(places), values);
      float *line = y + (c * strip.rows + row) * strip.columns * laneCount;
#pragma GCC unroll 4
      for (int i = 0; i < inner; ++i) {
        Lanes value = values[i] + shift;
        if (hasRelu) {
          value = choose(value > 0, value, Lanes{});
        }
        if (strip.column + i < strip.columns) {
          storeLanes(line + (strip.column + i) * laneCount,
                     choose(mask, value, Lanes{}));
        }
      }
      at += laneCount;
    }
  }
}

void toPixelGradients(const Strip &strip, const Places &from, bool isFirst,
                      std::int64_t lanes, float *dx) {
  const LaneMask mask = firstLanes(lanes);
  for (std::int64_t c = 0; c < strip.channels; ++c) {
    for (auto row = strip.rowBegin; row < strip.rowEnd; ++row) {
      if (row < 0 || row >= strip.rows) {
        continue;
      }
      Lanes places[size], values[size];
      loadPlaces(from.data + c * from.channel +
                     (row - strip.rowBegin) * laneCount,
                 from.place, places);
      pixelGradients(Sides(places), values);
      float *line = dx + (c * strip.rows + row) * strip.columns * laneCount;
#pragma GCC unroll 8
      for (int i = 0; i < size; ++i) {
        const std::int64_t column = strip.column + i;
        if (column < 0 || column >= strip.columns) {
          continue;
        }
        float *to = line + column * laneCount;
        const Lanes value = choose(mask, values[i], Lanes{});
        storeLanes(to, i < inner && !isFirst ? loadLanes(to) + value : value);
      }
    }
  }
}

void weights(const Weights &shape, const float *from, float *to) {
  const std::int64_t perRow = shape.columns * taps;
  const std::int64_t count = shape.rows * perRow;
  for (std::int64_t first = 0; first < count; first += laneCount) {
    const std::int64_t some =
        count - first < laneCount ? count - first : laneCount;
    float elements[taps][laneCount] = {};
    for (std::int64_t i = 0; i < some; ++i) {
      const std::int64_t row = (first + i) / perRow;
      const std::int64_t inRow = (first + i) % perRow;
      const float *at = from + row * shape.rowStride +
                        inRow / taps * shape.columnStride + inRow % taps * taps;
      for (int q = 0; q < taps; ++q) {
        elements[q][i] = at[q];
      }
    }
    Lanes values[taps], places[size];
    for (int q = 0; q < taps; ++q) {
      values[q] = loadLanes(elements[q]);
    }
    weightPlaces(values, places);
    for (int i = 0; i < size; ++i) {
      storePart(to + i * count + first, places[i], some);
    }
  }
}

void weightGradients(std::int64_t count, std::int64_t parts, std::int64_t begin,
                     std::int64_t end, const float *from, float *to) {
  for (std::int64_t first = begin; first < end; first += laneCount) {
    const std::int64_t some = end - first < laneCount ? end - first : laneCount;
    Lanes places[size], values[taps];
    for (int i = 0; i < size; ++i) {
      const float *at = from + i * count + first;
      places[i] = loadPart(at, some);
      for (std::int64_t part = 1; part < parts; ++part) {
        places[i] += loadPart(at + part * size * count, some);
      }
    }
    weightGradient(Sides(places), values);
    float elements[taps][laneCount];
    for (int q = 0; q < taps; ++q) {
      storeLanes(elements[q], values[q]);
    }
    for (std::int64_t i = 0; i < some; ++i) {
      for (int q = 0; q < taps; ++q) {
        to[(first + i) * taps + q] = elements[q][i];
      }
    }
  }
}

} // namespace

LaneWinogradLoops laneWinogradLoops() {
  return {toPlaces<size>,     toPlaces<inner>,     toResults, toPixelGradients,
          laneWinogradGather, laneWinogradScatter, weights,   weightGradients};
}

} // namespace kernels::loops::LOOPS_LEVEL
