// Batch normalisation of sixteen channels that lie side by side: one in each
// lane. Statistics are taken chunk by chunk, each read once from memory, and
// joined so that differences from the mean are squared, never whole values.
#include "Lanes.hpp"
#include "Loops.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Block = NormBlockLoops::Block;

constexpr std::int64_t chunkPixels = 256; // 16 KB

// Calls visit(first float, pixels) for every chunk, in order.
template <typename Visit>
inline void forEachChunk(const Block &block, const Visit &visit) {
  for (std::int64_t n = 0; n < block.samples; ++n) {
    for (std::int64_t p = 0; p < block.pixels; p += chunkPixels) {
      const std::int64_t left = block.pixels - p;
      visit(n * block.sampleStride + p * laneCount,
            left < chunkPixels ? left : chunkPixels);
    }
  }
}

// The sum of term(offset) over the pixels of a chunk, in four chains.
template <typename Term>
inline Lanes sumOver(std::int64_t first, std::int64_t pixels,
                     const Term &term) {
  Lanes sums[4] = {};
  std::int64_t p = 0;
  for (; p + 4 <= pixels; p += 4) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      sums[i] += term(first + (p + i) * laneCount);
    }
  }
  for (; p < pixels; ++p) {
    sums[0] += term(first + p * laneCount);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void statistics(const Block &block, const float *x, float epsilon, float *mean,
                float *invStdDev) {
  Lanes average{}, squares{};
  float count = 0;
  forEachChunk(block, [&](std::int64_t first, std::int64_t pixels) {
    const auto size = static_cast<float>(pixels);
    const Lanes own =
        sumOver(first, pixels,
                [&](std::int64_t at) { return loadLanes(x + at); }) /
        size;
    squares += sumOver(first, pixels, [&](std::int64_t at) {
      const Lanes difference = loadLanes(x + at) - own;
      return difference * difference;
    });
    const Lanes step = own - average;
    count += size;
    average += step * (size / count);
    squares += step * step * ((count - size) * size / count);
  });
  storeLanes(mean, average);
  storeLanes(invStdDev, 1.0f / squareRoot(squares / count + epsilon));
}

void sums(const Block &block, const float *dy, const float *x,
          const float *mean, float *products, float *gradients) {
  const Lanes means = loadLanes(mean);
  Lanes byDifference{}, whole{};
  forEachChunk(block, [&](std::int64_t first, std::int64_t pixels) {
    byDifference += sumOver(first, pixels, [&](std::int64_t at) {
      return loadLanes(dy + at) * (loadLanes(x + at) - means);
    });
    whole += sumOver(first, pixels,
                     [&](std::int64_t at) { return loadLanes(dy + at); });
  });
  storeLanes(products, byDifference);
  storeLanes(gradients, whole);
}

void affine(const Block &block, const float *x, const float *factor,
            const float *shift, float *y) {
  const Lanes factors = loadLanes(factor), shifts = loadLanes(shift);
  forEachChunk(block, [&](std::int64_t first, std::int64_t pixels) {
    for (std::int64_t at = first; at < first + pixels * laneCount;
         at += laneCount) {
      storeLanes(y + at, loadLanes(x + at) * factors + shifts);
    }
  });
}

void combine(const Block &block, const float *dy, const float *x,
             const float *byDy, const float *byX, const float *shift,
             float *dx) {
  const Lanes ofDy = loadLanes(byDy), ofX = loadLanes(byX),
              shifts = loadLanes(shift);
  forEachChunk(block, [&](std::int64_t first, std::int64_t pixels) {
    for (std::int64_t at = first; at < first + pixels * laneCount;
         at += laneCount) {
      storeLanes(dx + at, loadLanes(dy + at) * ofDy +
                              (loadLanes(x + at) * ofX + shifts));
    }
  });
}

} // namespace

NormBlockLoops normBlockLoops() {
  return {statistics, sums, affine, combine};
}

} // namespace kernels::loops::LOOPS_LEVEL
