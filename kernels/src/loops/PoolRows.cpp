// Poolings of any rank, a row at a time, in phases: whatever the stride,
// element q of the windows is a run of cells.
#include "Loops.hpp"
#include "Phases.hpp"
#include "PoolPlanes.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Row = PoolRowLoops::Row;

std::int64_t least(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

// Joins the elements of each window; padding holds `start`.
template <typename Join>
void joinWindows(const Row &row, const float *x, float *y, float *scratch,
                 float start, const Join &join) {
  const Phases phases(row.stride, row.pad, row.in,
                      (row.out - 1) * row.stride + row.kernel, start);
  if (row.pad > 0 || phases.padded > row.pad + row.in) {
    phases.clear(scratch);
  }
  phases.split(x, scratch);
  for (std::int64_t o = 0; o < row.out; o += laneCount) {
    Lanes joined = broadcast(start);
    for (std::int64_t block = 0; block < row.kernel; block += row.stride) {
      // Elements one apart are in one phase after the other.
      const float *cells = scratch + quotient(block, row.stride) + o;
      const std::int64_t count = least(row.stride, row.kernel - block);
      for (std::int64_t q = 0; q < count; ++q) {
        joined = join(joined, loadLanes(cells + q * phases.length()));
      }
    }
    storePart(y + o, joined, least(row.out - o, laneCount));
  }
}

void sums(const Row &row, const float *x, float *y, float *scratch) {
  joinWindows(row, x, y, scratch, 0, [](Lanes a, Lanes b) { return a + b; });
}

void maxima(const Row &row, const float *x, float *y, float *scratch) {
  joinWindows(row, x, y, scratch, -__builtin_inff(),
              [](Lanes a, Lanes b) { return choose(b > a, b, a); });
}

// The elements residue, residue + stride, ... are in the same windows, counted
// from the last one that reaches them.
struct Reach {
  std::int64_t last, count;

  Reach(const Row &row, std::int64_t residue) {
    const std::int64_t at = residue + row.pad; // may be negative
    last = (at >= 0 ? at : at - row.stride + 1) / row.stride;
    const std::int64_t phase = at - last * row.stride;
    count = (row.kernel - 1 - phase + row.stride) / row.stride;
  }

  // Of elements i to i + 15; `dy` has zeros before and after its row.
  Lanes sum(const float *dy, std::int64_t i) const {
    Lanes total{};
    for (std::int64_t m = count - 1; m >= 0; --m) {
      total += loadLanes(dy + last + i - m);
    }
    return total;
  }
};

void spread(const Row &row, const float *dy, float *dx, float *scratch) {
  const std::int64_t front = row.kernel / row.stride + 1;
  const std::int64_t truncated =
      row.pad < 0 ? (row.stride - 1 - row.pad) / row.stride : 0;
  const std::int64_t length =
      front + truncated + row.out +
      (row.in + (row.pad > 0 ? row.pad : 0)) / row.stride + 3 * laneCount;
  for (std::int64_t i = 0; i < length; ++i) {
    scratch[i] = 0;
  }
  float *padded = scratch + front + truncated;
  for (std::int64_t o = 0; o < row.out; ++o) {
    padded[o] = dy[o];
  }
  if (row.stride == 2) {
    const Reach even(row, 0);
    const Reach odd(row, 1);
    for (std::int64_t i = 0; 2 * i < row.in; i += laneCount) {
      storePairs(dx + 2 * i, {even.sum(padded, i), odd.sum(padded, i)},
                 least(row.in - 2 * i, 2 * laneCount));
    }
    return;
  }
  for (std::int64_t residue = 0; residue < least(row.stride, row.in);
       ++residue) {
    const Reach reach(row, residue);
    const std::int64_t count =
        quotient(row.in - residue + row.stride - 1, row.stride);
    for (std::int64_t i = 0; i < count; i += laneCount) {
      const Lanes sum = reach.sum(padded, i);
      const std::int64_t left = least(count - i, laneCount);
      if (row.stride == 1) {
        storePart(dx + i, sum, left);
        continue;
      }
      float sums[laneCount];
      storeLanes(sums, sum);
      for (std::int64_t k = 0; k < left; ++k) {
        dx[(i + k) * row.stride + residue] = sums[k];
      }
    }
  }
}

void multiply(float *__restrict y, const float *__restrict a,
              const float *__restrict b, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] = a[i] * b[i];
  }
}

// Neighbours, the common case, have a loop of their own that vectorises.
template <typename Body>
void forEachElement(std::int64_t stride, std::int64_t count, const Body &body) {
  if (stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) {
      body(i, i);
    }
  } else if (stride == 2) {
    for (std::int64_t i = 0; i < count; ++i) {
      body(i, 2 * i);
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      body(i, i * stride);
    }
  }
}

void addWhereEqual(float *__restrict dx, const float *__restrict x,
                   std::int64_t stride, const float *__restrict y,
                   const float *__restrict dy, std::int64_t count) {
  forEachElement(stride, count, [&](std::int64_t i, std::int64_t at) {
    dx[at] += x[at] == y[i] ? dy[i] : 0.0f;
  });
}

void countEqual(float *__restrict counts, const float *__restrict x,
                std::int64_t stride, const float *__restrict y,
                std::int64_t count) {
  forEachElement(stride, count, [&](std::int64_t i, std::int64_t at) {
    counts[i] += x[at] == y[i] ? 1.0f : 0.0f;
  });
}

void divide(float *__restrict y, const float *__restrict a,
            const float *__restrict b, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] = a[i] / b[i];
  }
}

} // namespace

PoolRowLoops poolRowLoops() {
  return {sums,         maxima,   spread, planeSums,     planeMaxima,
          spreadPlanes, multiply, divide, addWhereEqual, countEqual};
}

} // namespace kernels::loops::LOOPS_LEVEL
