// Some pixels of sixteen channels stay in registers while the channels under
// their windows are broadcast over rows of the weights. Each element is one
// chain of products: tap by tap, channel by channel.
#include "BlockedConvolutionLoops.hpp"

#include "Ahead.hpp"
#include "Lanes.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Field = BlockedConvolutionLoops::Field;
using Part = BlockedConvolutionLoops::Part;
using Sums = BlockedConvolutionLoops::Sums;

// As many sums as registers hold beside weights and an element; of AVX-512's
// registers, as many as keep its units busy: more are no faster.
#if defined(__AVX512F__)
constexpr int tilePixels = 10;
#elif defined(__AVX__)
constexpr int tilePixels = 6;
#else
constexpr int tilePixels = 2;
#endif

// What a window has beyond the image.
alignas(64) constexpr float zeros[laneCount] = {};

// Where the pixels of a tile are read under one tap: in the first block of the
// channels, and how far it is to the next.
template <int Pixels> struct Tap {
  const float *at[Pixels];
  std::int64_t step[Pixels];

  Tap(const std::int32_t *places, const float *image, std::int64_t plane) {
#pragma GCC unroll 10
    for (int p = 0; p < Pixels; ++p) {
      const std::int64_t place = places[p];
      at[p] = place < 0 ? zeros : image + place;
      step[p] = place < 0 ? 0 : plane;
    }
  }
};

template <int Pixels>
void multiplyTile(const Field &field, const Part &part, const Sums &s,
                  std::int64_t first, Ahead &ahead) {
  float *const to = s.result + first * laneCount;
  Lanes sums[Pixels];
#pragma GCC unroll 10
  for (int p = 0; p < Pixels; ++p) {
    sums[p] = s.isAdded           ? loadLanes(to + p * laneCount)
              : s.bias != nullptr ? loadLanes(s.bias)
                                  : Lanes{};
  }
  const float *weights = s.weights;
  for (std::int64_t t = 0; t < part.taps; ++t) {
    Tap<Pixels> tap(field.places + (part.firstTap + t) * field.pixels + first,
                    s.image + part.firstBlock * field.plane, field.plane);
    for (std::int64_t block = 0; block < part.blocks; ++block) {
      ahead.fetch();
      // Planes are too far apart for the processor to see what comes next.
#pragma GCC unroll 10
      for (int p = 0; p < Pixels; ++p) {
        __builtin_prefetch(tap.at[p] + tap.step[p]);
      }
#pragma GCC unroll 8
      for (std::int64_t channel = 0; channel < laneCount; ++channel) {
        Lanes row = loadLanes(weights + channel * laneCount);
        keepInRegister(row);
#pragma GCC unroll 10
        for (int p = 0; p < Pixels; ++p) {
          sums[p] += broadcast(tap.at[p][channel]) * row;
        }
      }
      weights += laneCount * laneCount;
#pragma GCC unroll 10
      for (int p = 0; p < Pixels; ++p) {
        tap.at[p] += tap.step[p];
      }
    }
  }
#pragma GCC unroll 10
  for (int p = 0; p < Pixels; ++p) {
    const Lanes sum =
        s.hasRelu ? choose(sums[p] < 0, Lanes{}, sums[p]) : sums[p];
    storeLanes(to + p * laneCount, sum);
  }
}

using TileFunction = void (*)(const Field &, const Part &, const Sums &,
                              std::int64_t, Ahead &);

struct Tiles {
  TileFunction functions[tilePixels];
};

template <int Pixels> constexpr void addTiles(Tiles &tiles) {
  tiles.functions[Pixels - 1] = multiplyTile<Pixels>;
  if constexpr (Pixels > 1) {
    addTiles<Pixels - 1>(tiles);
  }
}

constexpr Tiles makeTiles() {
  Tiles tiles{};
  addTiles<tilePixels>(tiles);
  return tiles;
}

constexpr Tiles tiles = makeTiles();

// In tiles of nearly one size. What follows the weights are those of the next
// part or panel, of the next task's after the last: fetching reads nothing.
void multiply(const Field &field, const Part &part, const Sums &sums) {
  std::int64_t tilesLeft =
      (sums.end - sums.begin + tilePixels - 1) / tilePixels;
  const std::int64_t blocks = part.taps * part.blocks;
  Ahead ahead(sums.weights + blocks * laneCount * laneCount, blocks * laneCount,
              tilesLeft * blocks);
  for (std::int64_t pixel = sums.begin; pixel < sums.end; --tilesLeft) {
    const std::int64_t pixels = (sums.end - pixel + tilesLeft - 1) / tilesLeft;
    tiles.functions[pixels - 1](field, part, sums, pixel, ahead);
    pixel += pixels;
  }
}

} // namespace

BlockedConvolutionLoops blockedConvolutionLoops() {
  return {multiply};
}

} // namespace kernels::loops::LOOPS_LEVEL
