// The optimisers' updates, each one pass over its arrays.
#include "Loops.hpp"

#include <cmath>

namespace kernels::loops::LOOPS_LEVEL {

namespace {

template <bool HasMomentum, bool IsNesterov>
void sgdOf(const UpdateLoops::Sgd &p, const float *w, const float *g,
           const float *v, float *wOut, float *vOut, std::int64_t count) {
  const auto [lr, weightDecay, momentum, dampening, scale, hasMomentum,
              isNesterov] = p;
  const float undamped = 1.0f - dampening;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    float step = scale * g[i] + weightDecay * w[i];
    if constexpr (HasMomentum) {
      const float velocity = momentum * v[i] + undamped * step;
      vOut[i] = velocity;
      step = IsNesterov ? step + momentum * velocity : velocity;
    }
    wOut[i] = w[i] - lr * step;
  }
}

void sgd(const UpdateLoops::Sgd &p, const float *w, const float *g,
         const float *v, float *wOut, float *vOut, std::int64_t count) {
  auto *function = !p.hasMomentum ? sgdOf<false, false>
                   : p.isNesterov ? sgdOf<true, true>
                                  : sgdOf<true, false>;
  function(p, w, g, v, wOut, vOut, count);
}

void adam(const UpdateLoops::Adam &p, const float *w, const float *g,
          const float *m, const float *v, float *wOut, float *mOut, float *vOut,
          std::int64_t count) {
  const auto [beta1, beta2, epsilon, scale, decay, shrink, stepSize,
              varianceInv] = p;
  const float rest1 = 1.0f - beta1;
  const float rest2 = 1.0f - beta2;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    const float gradient = scale * g[i] + decay * w[i];
    const float mean = beta1 * m[i] + rest1 * gradient;
    const float variance = beta2 * v[i] + rest2 * gradient * gradient;
    mOut[i] = mean;
    vOut[i] = variance;
    wOut[i] = shrink * w[i] -
              stepSize * mean / (std::sqrt(variance) * varianceInv + epsilon);
  }
}

template <bool HasMomentum, bool IsInside>
void rmspropOf(const UpdateLoops::Rmsprop &p, const float *w, const float *g,
               const float *s, const float *b, float *wOut, float *sOut,
               float *bOut, std::int64_t count) {
  const auto [lr, alpha, epsilon, weightDecay, momentum, scale, hasMomentum,
              isInside] = p;
  const float rest = 1.0f - alpha;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    const float gradient = scale * g[i] + weightDecay * w[i];
    const float square = alpha * s[i] + rest * gradient * gradient;
    sOut[i] = square;
    float step = IsInside ? gradient / std::sqrt(square + epsilon)
                          : gradient / (std::sqrt(square) + epsilon);
    if constexpr (HasMomentum) {
      step += momentum * b[i];
      bOut[i] = step;
    }
    wOut[i] = w[i] - lr * step;
  }
}

void rmsprop(const UpdateLoops::Rmsprop &p, const float *w, const float *g,
             const float *s, const float *b, float *wOut, float *sOut,
             float *bOut, std::int64_t count) {
  auto *function =
      p.hasMomentum
          ? (p.isEpsilonInside ? rmspropOf<true, true> : rmspropOf<true, false>)
          : (p.isEpsilonInside ? rmspropOf<false, true>
                               : rmspropOf<false, false>);
  function(p, w, g, s, b, wOut, sOut, bOut, count);
}

} // namespace

UpdateLoops updateLoops() {
  return {sgd, adam, rmsprop};
}

} // namespace kernels::loops::LOOPS_LEVEL
