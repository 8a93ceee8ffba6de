// Poolings of any rank, a row of outputs at a time: one element of every window
// of the row, `stride` apart in the input.
#include "Loops.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

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

void addTo(float *__restrict dx, std::int64_t stride,
           const float *__restrict dy, std::int64_t count) {
  forEachElement(stride, count,
                 [&](std::int64_t i, std::int64_t at) { dx[at] += dy[i]; });
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
  return {multiply, divide, addTo, addWhereEqual, countEqual};
}

} // namespace kernels::loops::LOOPS_LEVEL
