// One loop per element-wise operator, over blocks of floats.
#include "Loops.hpp"
#include "VectorMath.hpp"
#include "Vectors.hpp"

#include "../elementwise/ScalarFunctions.hpp"

#include <support/Half.hpp>

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using namespace kernels::elementwise; // what the operator table calls
using T = float;                      // the operands' type there
using Integral = std::int64_t;

// ivdep: y may be an operand, but only element by element. Operators that make
// no sense for floats (say ~) have an empty loop, which no plan reaches.
#define KERNELS_LOOP(name, function)                                           \
  template <typename T>                                                        \
  void loop##name(T *y, const T *aBlock, [[maybe_unused]] const T *bBlock,     \
                  [[maybe_unused]] const T *cBlock, Integral count) {          \
    if constexpr (requires(T a, T b, T c) { T(function); }) {                  \
      _Pragma("GCC ivdep") for (Integral i = 0; i < count; ++i) {              \
        [[maybe_unused]] const T a = aBlock[i];                                \
        KERNELS_OPERANDS                                                       \
        y[i] = T(function);                                                    \
      }                                                                        \
    }                                                                          \
  }
#define KERNELS_UNARY(name, function, ...) KERNELS_LOOP(name, function)
#define KERNELS_UNARY_PREDICATE(name, function, ...)                           \
  KERNELS_LOOP(name, function)
#define KERNELS_OPERANDS
#include <kernels/ElementwiseOps.def>
#undef KERNELS_OPERANDS

const float *filled(float *y, float value, Integral count) {
  for (Integral i = 0; i < count; ++i) {
    y[i] = value;
  }
  return y;
}

// Operands that are one element for all i are read once: the first where
// `singles` has bit 0, the second where it has bit 1. Where both are, the first
// is written out, since a function of scalars may differ in its last bits from
// that of vectors. Unrolled, since the end of a row of a few iterations is
// foreseen, which keeps loads of the next row on their way.
#define KERNELS_BINARY(name, function, ...)                                    \
  template <typename T, unsigned singles>                                      \
  void binary##name(T *y, const T *aBlock, const T *bBlock, const T *,         \
                    Integral count) {                                          \
    if constexpr (requires(T a, T b) { T(function); }) {                       \
      if (singles == 3) {                                                      \
        return binary##name<T, 2>(y, filled(y, *aBlock, count), bBlock,        \
                                  nullptr, count);                             \
      }                                                                        \
      const T aSingle = singles & 1 ? *aBlock : T(0);                          \
      const T bSingle = singles & 2 ? *bBlock : T(0);                          \
      _Pragma("GCC ivdep")                                                     \
          _Pragma("GCC unroll 4") for (Integral i = 0; i < count; ++i) {       \
        const T a = singles & 1 ? aSingle : aBlock[i];                         \
        const T b = singles & 2 ? bSingle : bBlock[i];                         \
        y[i] = T(function);                                                    \
      }                                                                        \
    }                                                                          \
  }
#define KERNELS_PREDICATE(name, function, ...) KERNELS_BINARY(name, function)
#include <kernels/ElementwiseOps.def>

#define KERNELS_TERNARY(name, function, ...) KERNELS_LOOP(name, function)
#define KERNELS_OPERANDS                                                       \
  const T b = bBlock[i];                                                       \
  const T c = cBlock[i];
#include <kernels/ElementwiseOps.def>
#undef KERNELS_OPERANDS

// Faster than the library's, by our own polynomials.
template <>
void loopERF(float *y, const float *a, const float *, const float *,
             Integral count) {
  mapVectors(y, a, count, errorFunction);
}
template <>
void loopEXPONENT(float *y, const float *a, const float *, const float *,
                  Integral count) {
  mapVectors(y, a, count, exponential);
}
template <>
void loopGELU_ERF(float *y, const float *a, const float *, const float *,
                  Integral count) {
  mapVectors(y, a, count, [](Vector x) {
    return 0.5f * x * (1.0f + errorFunction(x * 0.70710678f));
  });
}
template <>
void loopSIGMOID(float *y, const float *a, const float *, const float *,
                 Integral count) {
  mapVectors(y, a, count,
             [](Vector x) { return 1.0f / (1.0f + exponential(-x)); });
}
template <>
void loopTANH(float *y, const float *a, const float *, const float *,
              Integral count) {
  mapVectors(y, a, count, hyperbolicTangent);
}

float halfToFloat(std::uint16_t bits) {
#ifdef __F16C__
  return _cvtsh_ss(bits);
#else
  return support::halfBitsToFloat(bits);
#endif
}

std::uint16_t floatToHalf(float value) {
#ifdef __F16C__
  return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
#else
  return support::floatToHalfBits(value);
#endif
}

// Eight at a time where the instructions are there; the rest one by one.
void halvesToFloats(float *to, const std::uint16_t *from, std::int64_t count) {
  std::int64_t i = 0;
#ifdef __F16C__
  for (; i + 8 <= count; i += 8) {
    const __m128i halves =
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(halves));
  }
#endif
  for (; i < count; ++i) {
    to[i] = halfToFloat(from[i]);
  }
}

void floatsToHalves(std::uint16_t *to, const float *from, std::int64_t count) {
  std::int64_t i = 0;
#ifdef __F16C__
  for (; i + 8 <= count; i += 8) {
    const __m128i halves =
        _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to + i), halves);
  }
#endif
  for (; i < count; ++i) {
    to[i] = floatToHalf(from[i]);
  }
}

void roundToHalf(float *y, const float *a, std::int64_t count) {
  std::uint16_t halves[64];
  for (std::int64_t i = 0; i < count; i += 64) {
    const std::int64_t part = count - i < 64 ? count - i : 64;
    floatsToHalves(halves, a + i, part);
    halvesToFloats(y + i, halves, part);
  }
}

float fromStored(float value) {
  return value;
}
float fromStored(std::uint16_t value) {
  return halfToFloat(value);
}
float fromStored(std::uint8_t value) {
  return value != 0 ? 1.0f : 0.0f;
}

template <typename Stored>
void load(float *to, const Stored *from, std::int64_t stride,
          std::int64_t count) {
  if (stride == 0) {
    const float value = fromStored(*from);
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = value;
    }
  } else if (stride == 1) {
    if constexpr (sizeof(Stored) == sizeof(std::uint16_t)) {
      halvesToFloats(to, from, count);
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        to[i] = fromStored(from[i]);
      }
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = fromStored(from[i * stride]);
    }
  }
}

void convert(float from, float &to) {
  to = from;
}
void convert(float from, std::uint16_t &to) {
  to = floatToHalf(from);
}
void convert(float from, std::uint8_t &to) {
  to = static_cast<std::uint8_t>(from != 0);
}

template <typename Stored>
void store(Stored *to, const float *from, std::int64_t stride,
           std::int64_t count) {
  if (stride == 1) {
    if constexpr (sizeof(Stored) == sizeof(std::uint16_t)) {
      floatsToHalves(to, from, count);
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        convert(from[i], to[i]);
      }
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      convert(from[i], to[i * stride]);
    }
  }
}

template <unsigned singles> void setSingles(ElementwiseLoops &loops) {
  auto *next = loops.singles[singles - 1];
#define KERNELS_UNARY(...) *next++ = nullptr;
#define KERNELS_BINARY(name, ...) *next++ = binary##name<float, singles>;
#define KERNELS_TERNARY(...) *next++ = nullptr;
#define KERNELS_PREDICATE(name, ...) *next++ = binary##name<float, singles>;
#define KERNELS_UNARY_PREDICATE(...) *next++ = nullptr;
#include <kernels/ElementwiseOps.def>
}

} // namespace

ElementwiseLoops elementwiseLoops() {
  ElementwiseLoops loops{{
#define KERNELS_UNARY(name, ...) loop##name<float>,
#define KERNELS_BINARY(name, ...) binary##name<float, 0>,
#define KERNELS_TERNARY(name, ...) loop##name<float>,
#define KERNELS_PREDICATE(name, ...) binary##name<float, 0>,
#define KERNELS_UNARY_PREDICATE(name, ...) loop##name<float>,
#include <kernels/ElementwiseOps.def>
                         },
                         {},
                         roundToHalf,
                         load<float>,
                         load<std::uint16_t>,
                         load<std::uint8_t>,
                         store<float>,
                         store<std::uint16_t>,
                         store<std::uint8_t>};
  setSingles<1>(loops);
  setSingles<2>(loops);
  setSingles<3>(loops);
  return loops;
}

} // namespace kernels::loops::LOOPS_LEVEL
