// Convolutions with sixteen samples in the lanes, for laneLoops().
#pragma once

#include "Loops.hpp"

namespace kernels::loops::LOOPS_LEVEL {

void laneConvolution(const LaneLoops::Convolution &shape, const float *x,
                     const float *w, const float *bias, bool hasRelu, float *y,
                     std::int64_t channels, std::int64_t rowBegin,
                     std::int64_t rowEnd, std::int64_t lanes);

void laneWeightGradient(const LaneLoops::Convolution &shape, const float *dy,
                        std::int64_t dyImage, const float *x,
                        std::int64_t xImage, std::int64_t samples,
                        std::int64_t channels, float *dw);

} // namespace kernels::loops::LOOPS_LEVEL
