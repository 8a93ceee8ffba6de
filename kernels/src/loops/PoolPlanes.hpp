// Poolings whose windows are whole planes, as PoolRowLoops says.
#pragma once

#include <cstdint>

namespace kernels::loops::LOOPS_LEVEL {

void planeSums(const float *x, std::int64_t planes, std::int64_t size,
               float factor, float *y);
void planeMaxima(const float *x, std::int64_t planes, std::int64_t size,
                 float *y);
void spreadPlanes(const float *dy, std::int64_t planes, std::int64_t size,
                  float factor, float *dx);

} // namespace kernels::loops::LOOPS_LEVEL
