// The element-wise parts of recurrent cells, over the units of one sample.
#include "Loops.hpp"
#include "VectorMath.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

// y = function(a + b); y may be a.
template <typename Function>
void forEach(float *y, const float *a, const float *b, std::int64_t count,
             const Function &function) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] = function(a[i] + b[i]);
  }
}

void activate(int function, float *y, const float *a, const float *b,
              std::int64_t count) {
  switch (function) { // as GateFunction
  case 0:
    forEach(y, a, b, count,
            [](float x) { return 1.0f / (1.0f + std::exp(-x)); });
    return;
  case 1:
    forEach(y, a, b, count, [](float x) {
      const float line = 0.2f * x + 0.5f;
      const float low = line > 0 ? line : 0.0f;
      return low < 1 ? low : 1.0f;
    });
    return;
  case 2:
    forEach(y, a, b, count, [](float x) { return x > 0 ? x : 0.0f; });
    return;
  default:
    forEach(y, a, b, count, [](float x) { return std::tanh(x); });
  }
}

template <typename Slope>
void scale(float *__restrict g, const float *__restrict y, std::int64_t count,
           const Slope &slope) {
  for (std::int64_t i = 0; i < count; ++i) {
    g[i] *= slope(y[i]);
  }
}

void multiplySlope(int function, float *g, const float *y, std::int64_t count) {
  switch (function) {
  case 0:
    scale(g, y, count, [](float v) { return v * (1.0f - v); });
    return;
  case 1:
    scale(g, y, count, [](float v) { return v > 0 && v < 1 ? 0.2f : 0.0f; });
    return;
  case 2:
    scale(g, y, count, [](float v) { return v > 0 ? 1.0f : 0.0f; });
    return;
  default:
    scale(g, y, count, [](float v) { return 1.0f - v * v; });
  }
}

void multiplyAdd(float *__restrict y, const float *__restrict a,
                 const float *__restrict b, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] += a[i] * b[i];
  }
}

void lstmState(float *c, const float *forget, const float *before,
               const float *input, const float *candidate, std::int64_t count) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    c[i] = forget[i] * before[i] + input[i] * candidate[i];
  }
}

void gruState(float *h, float attention, const float *update,
              const float *before, const float *candidate, std::int64_t count) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    const float u = (1.0f - attention) * update[i];
    h[i] = u * before[i] + (1.0f - u) * candidate[i];
  }
}

void gruStateGrad(const float *dh, float attention, const float *update,
                  const float *before, const float *candidate, float *dUpdate,
                  float *dCandidate, float *dBefore, std::int64_t count) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    const float u = (1.0f - attention) * update[i];
    const float d = dh[i];
    dUpdate[i] = d * (before[i] - candidate[i]);
    dCandidate[i] = d * (1.0f - u);
    dBefore[i] = d * u;
  }
}

} // namespace

RecurrentLoops recurrentLoops() {
  return {activate,  multiplySlope, multiplyAdd,
          lstmState, gruState,      gruStateGrad};
}

} // namespace kernels::loops::LOOPS_LEVEL
