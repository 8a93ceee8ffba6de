// The products between the transforms of Winograd's method along rows, for
// laneWinogradLoops().
#pragma once

#include "LaneWinogradLoops.hpp"

namespace kernels::loops::LOOPS_LEVEL {

void laneWinogradGather(const LaneWinogradLoops::Product &product,
                        const float *x, const float *w, float *y);
void laneWinogradScatter(const LaneWinogradLoops::Product &product,
                         const float *x, const float *w, float *y);

} // namespace kernels::loops::LOOPS_LEVEL
