// Sums of probabilities by their logarithms, for connectionist temporal
// classification.
#include "Loops.hpp"
#include "VectorMath.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

void addThree(float *__restrict y, const float *__restrict a,
              const float *__restrict b, const float *__restrict c,
              const float *__restrict cShift, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float third = c[i] + cShift[i];
    const float two = a[i] > b[i] ? a[i] : b[i];
    const float top = two > third ? two : third;
    y[i] = top + std::log(std::exp(a[i] - top) + std::exp(b[i] - top) +
                          std::exp(third - top));
  }
}

} // namespace

CtcLoops ctcLoops() {
  return {addThree};
}

} // namespace kernels::loops::LOOPS_LEVEL
