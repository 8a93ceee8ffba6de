// The table of one instruction set.
#include "Loops.hpp"

namespace kernels::loops::LOOPS_LEVEL {

#define KERNELS_TEXT_OF(level) #level
#define KERNELS_TEXT(level) KERNELS_TEXT_OF(level)

const Loops &table() {
  static const Loops table = {KERNELS_TEXT(LOOPS_LEVEL),
                              elementwiseLoops(),
                              elementwisePairLoops(),
                              integerLoops(),
                              reduceLoops(),
                              poolLoops(),
                              poolRowLoops(),
                              normLoops(),
                              normRowLoops(),
                              normBlockLoops(),
                              softmaxLoops(),
                              recurrentLoops(),
                              ctcLoops(),
                              updateLoops(),
                              randomLoops(),
                              laneLoops(),
                              laneWinogradLoops(),
                              productLoops(),
                              winogradLoops(),
                              blockedConvolutionLoops(),
                              fewChannelConvolutionLoops()};
  return table;
}

} // namespace kernels::loops::LOOPS_LEVEL
