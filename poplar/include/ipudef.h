// The element types of the IPU that C++ lacks. Its short vectors (float2,
// half4,
// ...) exist only where __IPU__ is defined, which it never is here.
#pragma once

#ifdef __cplusplus
#include <poplar/HalfFloat.hpp>
#include <poplar/QuarterFloat.hpp>
#endif

// Counts of the repeat instruction.
typedef unsigned rptsize_t;
