// Poolings whose windows are whole planes: along each plane in lanes, then the
// lanes of sixteen planes at once.
#include "PoolPlanes.hpp"

#include "LaneShuffles.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

struct Sum {
  static constexpr float start = 0;
  Lanes operator()(Lanes a, Lanes b) const { return a + b; }
};
struct Largest { // passes over NaNs in b
  static constexpr float start = -__builtin_inff();
  Lanes operator()(Lanes a, Lanes b) const { return choose(b > a, b, a); }
};

// Blocks of `Width` lanes, of a and b in turn, joined with their neighbours:
// four such steps make one register of sixteen.
template <int Width, typename Join>
Lanes joinBlocks(Lanes a, Lanes b, const Join &join) {
  if constexpr (Width == 1) {
    return join(
        shuffled<0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30>(a,
                                                                            b),
        shuffled<1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31>(a,
                                                                            b));
  } else if constexpr (Width == 2) {
    return join(
        shuffled<0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29>(a,
                                                                           b),
        shuffled<2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31>(
            a, b));
  } else if constexpr (Width == 4) {
    return join(
        shuffled<0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27>(a,
                                                                           b),
        shuffled<4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31>(
            a, b));
  } else {
    return join(
        shuffled<0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23>(a, b),
        shuffled<8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31>(
            a, b));
  }
}

// Planes follow each other, so that one chain of joins per plane is enough: the
// next plane's need not wait for it.
template <typename Join>
Lanes joinPlane(const float *x, std::int64_t size, const Join &join) {
  const std::int64_t left = size % laneCount;
  Lanes joined = loadPart(x + size - left, left, Join::start);
  for (std::int64_t i = 0; i + laneCount <= size; i += laneCount) {
    joined = join(joined, loadLanes(x + i));
  }
  return joined;
}

// Lane i of the result is all lanes of row(i) joined, for 2 * Width rows from
// `first`. A row is asked for when it is needed, so that few wait in registers.
template <int Width, typename Row, typename Join>
Lanes joinRows(std::int64_t first, const Row &row, const Join &join) {
  if constexpr (Width == 0) {
    return row(first);
  } else {
    const Lanes a = joinRows<Width / 2>(first, row, join);
    return joinBlocks<Width>(a, joinRows<Width / 2>(first + Width, row, join),
                             join);
  }
}

template <typename Join>
void joinPlanes(const float *x, std::int64_t planes, std::int64_t size,
                float factor, float *y) {
  const Join join;
  const auto plane = [&](std::int64_t i) {
    return joinPlane(x + i * size, size, join);
  };
  std::int64_t i = 0;
  for (; i + laneCount <= planes; i += laneCount) {
    storeLanes(y + i, joinRows<laneCount / 2>(i, plane, join) * factor);
  }
  if (i < planes) {
    const auto planeOrNone = [&](std::int64_t k) {
      return k < planes ? plane(k) : Lanes{};
    };
    storePart(y + i, joinRows<laneCount / 2>(i, planeOrNone, join) * factor,
              planes - i);
  }
}

} // namespace

void planeSums(const float *x, std::int64_t planes, std::int64_t size,
               float factor, float *y) {
  joinPlanes<Sum>(x, planes, size, factor, y);
}

void planeMaxima(const float *x, std::int64_t planes, std::int64_t size,
                 float *y) {
  joinPlanes<Largest>(x, planes, size, 1, y);
}

void spreadPlanes(const float *dy, std::int64_t planes, std::int64_t size,
                  float factor, float *dx) {
  const float *end = dx + planes * size;
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    const Lanes value = broadcast(dy[plane] * factor);
    float *to = dx + plane * size;
    for (std::int64_t i = 0; i < size; i += laneCount) {
      if (end - to >= laneCount) { // what follows is the next plane's to write
        storeLanes(to, value);
      } else {
        storePart(to, value, end - to);
      }
      to += laneCount;
    }
  }
}

} // namespace kernels::loops::LOOPS_LEVEL
