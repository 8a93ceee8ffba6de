// Tells the compiler that these functions of the C library have vector forms
// (libmvec, within 4 units in the last place), so that loops over them
// vectorise.
#pragma once

#include <cmath>

#define KERNELS_VECTOR_FORM __attribute__((simd("notinbranch")))
extern "C" {
KERNELS_VECTOR_FORM float asinf(float) noexcept;
KERNELS_VECTOR_FORM float atan2f(float, float) noexcept;
KERNELS_VECTOR_FORM float cbrtf(float) noexcept;
KERNELS_VECTOR_FORM float cosf(float) noexcept;
KERNELS_VECTOR_FORM float erff(float) noexcept;
KERNELS_VECTOR_FORM float exp2f(float) noexcept;
KERNELS_VECTOR_FORM float expf(float) noexcept;
KERNELS_VECTOR_FORM float expm1f(float) noexcept;
KERNELS_VECTOR_FORM float log1pf(float) noexcept;
KERNELS_VECTOR_FORM float logf(float) noexcept;
KERNELS_VECTOR_FORM float powf(float, float) noexcept;
KERNELS_VECTOR_FORM float sinf(float) noexcept;
KERNELS_VECTOR_FORM float sinhf(float) noexcept;
KERNELS_VECTOR_FORM float tanf(float) noexcept;
KERNELS_VECTOR_FORM float tanhf(float) noexcept;
}
#undef KERNELS_VECTOR_FORM
