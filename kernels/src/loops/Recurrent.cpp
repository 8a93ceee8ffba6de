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

// By the function's result, as GateFunction.
template <int Function> float slopeAt(float y) {
  switch (Function) {
  case 0:
    return y * (1.0f - y);
  case 1:
    return y > 0 && y < 1 ? 0.2f : 0.0f;
  case 2:
    return y > 0 ? 1.0f : 0.0f;
  default:
    return 1.0f - y * y;
  }
}

template <int Function>
void scale(float *__restrict g, const float *__restrict y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    g[i] *= slopeAt<Function>(y[i]);
  }
}

void multiplySlope(int function, float *g, const float *y, std::int64_t count) {
  constexpr decltype(&scale<0>) functions[] = {scale<0>, scale<1>, scale<2>,
                                               scale<3>};
  functions[function](g, y, count);
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

template <int Activation, int Recurrent>
void lstmGradOf(const RecurrentLoops::LstmGrad &rows, std::int64_t count) {
  const auto [forget, input, candidate, output, activated, before, dh, dc,
              dForget, dInput, dCandidate, dOutput] = rows;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    // Before anything is written: gradients may lie where their gates are.
    const float f = forget[i], n = input[i], c = candidate[i], o = output[i];
    const float gradient =
        dc[i] + dh[i] * o * slopeAt<Activation>(activated[i]);
    dForget[i] = gradient * before[i] * slopeAt<Recurrent>(f);
    dInput[i] = gradient * c * slopeAt<Recurrent>(n);
    dCandidate[i] = gradient * n * slopeAt<Activation>(c);
    dOutput[i] = dh[i] * activated[i] * slopeAt<Recurrent>(o);
    dc[i] = gradient * f;
  }
}

void lstmGrad(int activation, int recurrent,
              const RecurrentLoops::LstmGrad &rows, std::int64_t count) {
  using Function = decltype(&lstmGradOf<0, 0>);
  constexpr Function functions[4][4] = {
      {lstmGradOf<0, 0>, lstmGradOf<0, 1>, lstmGradOf<0, 2>, lstmGradOf<0, 3>},
      {lstmGradOf<1, 0>, lstmGradOf<1, 1>, lstmGradOf<1, 2>, lstmGradOf<1, 3>},
      {lstmGradOf<2, 0>, lstmGradOf<2, 1>, lstmGradOf<2, 2>, lstmGradOf<2, 3>},
      {lstmGradOf<3, 0>, lstmGradOf<3, 1>, lstmGradOf<3, 2>, lstmGradOf<3, 3>}};
  functions[activation][recurrent](rows, count);
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
  return {activate, multiplySlope, multiplyAdd, lstmState,
          lstmGrad, gruState,      gruStateGrad};
}

} // namespace kernels::loops::LOOPS_LEVEL
