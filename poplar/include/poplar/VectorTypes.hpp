// The names of half and quarter for codelets. The machine's short vectors
// (float2, half4, ...) exist only where __IPU__ is defined, which it never is
// here: codelets that use them have another way for hosts.
#pragma once

#include <poplar/HalfFloat.hpp>
#include <poplar/QuarterFloat.hpp>
