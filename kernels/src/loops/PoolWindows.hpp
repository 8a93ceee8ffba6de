// Maximum pooling of one plane with windows other than 2x2 side by side.
#pragma once

#include "Loops.hpp"

namespace kernels::loops::LOOPS_LEVEL {

// Any size, stride and padding.
void maxPoolWindows(const PoolLoops::Plane &plane, const float *x, float *y,
                    std::uint8_t *indices, float *scratch);
void maxPoolWindowsGrad(const PoolLoops::Plane &plane, const float *dy,
                        const std::uint8_t *indices, float *dx, float *scratch);
// Row `row` of the outputs by the definition, which says what becomes of NaNs:
// one stays where it is the first element of a window and is passed over
// elsewhere.
void maxPoolRow(const PoolLoops::Plane &plane, const float *x, std::int64_t row,
                float *y, std::uint8_t *indices);

// Windows of 3x3, two apart, after one row and one column of padding.
bool isPool3x3(const PoolLoops::Plane &plane);
void maxPool3x3(const PoolLoops::Plane &plane, const float *x, float *y,
                std::uint8_t *indices, float *scratch);
void maxPool3x3Grad(const PoolLoops::Plane &plane, const float *dy,
                    const std::uint8_t *indices, float *dx, float *scratch);

} // namespace kernels::loops::LOOPS_LEVEL
