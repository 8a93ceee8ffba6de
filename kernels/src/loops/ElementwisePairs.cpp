// Sums and products in twos, over blocks of floats. Compiled so that a product
// and a sum stay two roundings, as they have when each is alone.
#include "Loops.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

template <PairOp op> float joined(float a, float b) {
  return op == PairOp::Add ? a + b : a * b;
}

// ivdep: y may be an operand, but only element by element.
template <PairOp first, PairOp second, unsigned singles>
void pair(float *y, const float *aBlock, const float *bBlock,
          const float *cBlock, std::int64_t count) {
  if (count == 0) {
    return; // there is not even one element
  }
  const float aSingle = *aBlock;
  const float bSingle = *bBlock;
  const float cSingle = *cBlock;
#pragma GCC ivdep
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < count; ++i) {
    const float a = singles & 1 ? aSingle : aBlock[i];
    const float b = singles & 2 ? bSingle : bBlock[i];
    const float c = singles & 4 ? cSingle : cBlock[i];
    y[i] = joined<second>(joined<first>(a, b), c);
  }
}

template <PairOp first, PairOp second>
void setForms(ElementwisePairLoops &loops) {
  auto &forms = loops.operators[static_cast<std::size_t>(first)]
                               [static_cast<std::size_t>(second)];
  forms[0] = pair<first, second, 0>;
  forms[1] = pair<first, second, 1>;
  forms[2] = pair<first, second, 2>;
  forms[3] = pair<first, second, 3>;
  forms[4] = pair<first, second, 4>;
  forms[5] = pair<first, second, 5>;
  forms[6] = pair<first, second, 6>;
  forms[7] = pair<first, second, 7>;
}

} // namespace

ElementwisePairLoops elementwisePairLoops() {
  ElementwisePairLoops loops{};
  setForms<PairOp::Add, PairOp::Add>(loops);
  setForms<PairOp::Add, PairOp::Multiply>(loops);
  setForms<PairOp::Multiply, PairOp::Add>(loops);
  setForms<PairOp::Multiply, PairOp::Multiply>(loops);
  return loops;
}

} // namespace kernels::loops::LOOPS_LEVEL
