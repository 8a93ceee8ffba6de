// One register of floats, as wide as the instruction set has them, and the
// functions that networks call most: inline and by polynomials, so that loops
// over them keep their values in registers. Other functions come from the C
// library (VectorMath.hpp).
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __AVX__
#include <immintrin.h>
#endif

namespace kernels::loops::LOOPS_LEVEL {

#if defined(__AVX512F__)
inline constexpr std::int64_t vectorCount = 16;
#elif defined(__AVX__)
inline constexpr std::int64_t vectorCount = 8;
#else
inline constexpr std::int64_t vectorCount = 4;
#endif
using Vector = float __attribute__((vector_size(vectorCount * sizeof(float))));
using IntVector =
    std::int32_t __attribute__((vector_size(vectorCount * sizeof(float))));

#ifdef __AVX512F__
// GCC 12 warns about the forms without a mask, and makes the same code of both.
inline constexpr __mmask16 allLanes = 0xffff;
#endif

static inline Vector vectorOf(float value) {
  return value - Vector{};
}

static inline Vector loadVector(const float *from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}
static inline void storeVector(float *to, Vector vector) {
  std::memcpy(to, &vector, sizeof vector);
}
// The first `count` elements, at most a whole vector; the others are `filler`.
static inline Vector loadFirst(const float *from, std::int64_t count,
                               float filler = 0) {
  Vector vector = vectorOf(filler);
#ifdef __AVX512F__
  const auto mask = static_cast<__mmask16>((1u << count) - 1);
  vector = _mm512_mask_loadu_ps(vector, mask, from);
#elif defined(__AVX__)
  const IntVector places{0, 1, 2, 3, 4, 5, 6, 7};
  const IntVector mask = places < static_cast<std::int32_t>(count);
  vector = mask ? _mm256_maskload_ps(from, (__m256i)mask) : vector;
#else
  for (std::int64_t i = 0; i < count; ++i) {
    vector[i] = from[i];
  }
#endif
  return vector;
}
static inline void storeFirst(float *to, Vector vector, std::int64_t count) {
#ifdef __AVX512F__
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1), vector);
#elif defined(__AVX__)
  if (count == vectorCount) {
    return storeVector(to, vector);
  }
  // By powers of two: stores by mask are slow on some of these machines.
  __m128 part = _mm256_castps256_ps128(vector);
  if ((count & 4) != 0) {
    _mm_storeu_ps(to, part);
    part = _mm256_extractf128_ps(vector, 1);
    to += 4;
  }
  if ((count & 2) != 0) {
    _mm_storel_pi(reinterpret_cast<__m64 *>(to), part);
    part = _mm_movehl_ps(part, part);
    to += 2;
  }
  if ((count & 1) != 0) {
    _mm_store_ss(to, part);
  }
#else
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = vector[i];
  }
#endif
}

// y[i] = function(x[i]) for vectors at a time; y may be x. The last vector has
// zeros where there are no elements.
template <typename Function>
static inline void mapVectors(float *y, const float *x, std::int64_t count,
                              const Function &function) {
  std::int64_t i = 0;
  for (; i + vectorCount <= count; i += vectorCount) {
    storeVector(y + i, function(loadVector(x + i)));
  }
  if (i < count) {
    storeFirst(y + i, function(loadFirst(x + i, count - i)), count - i);
  }
}

// The greater of a and b, and the lesser; b where one is no number.
static inline Vector greater(Vector a, Vector b) {
#ifdef __AVX512F__
  return _mm512_maskz_max_ps(allLanes, a, b);
#else
  return a > b ? a : b;
#endif
}
static inline Vector lesser(Vector a, Vector b) {
#ifdef __AVX512F__
  return _mm512_maskz_min_ps(allLanes, a, b);
#else
  return a < b ? a : b;
#endif
}
static inline Vector clamped(Vector x, float low, float high) {
  return lesser(vectorOf(high), greater(vectorOf(low), x));
}

// Where one of two is no number; results are joined by |.
#ifdef __AVX512F__
using NanMask = std::uint32_t;
#else
using NanMask = IntVector;
#endif
static inline NanMask unordered(Vector a, Vector b) {
#ifdef __AVX512F__
  return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q);
#else
  return (a != a) | (b != b);
#endif
}
static inline bool isAny(NanMask mask) {
#ifdef __AVX512F__
  return mask != 0;
#else
  std::int32_t any = 0;
  for (std::int64_t i = 0; i < vectorCount; ++i) {
    any |= mask[i];
  }
  return any != 0;
#endif
}

// Combines the lanes, in an order that never changes.
template <typename Combine>
static inline float fold(Vector vector, const Combine &combine) {
#if defined(__AVX512F__)
  const auto eight = combine(
      __builtin_shufflevector(vector, vector, 0, 1, 2, 3, 4, 5, 6, 7),
      __builtin_shufflevector(vector, vector, 8, 9, 10, 11, 12, 13, 14, 15));
#elif defined(__AVX__)
  const auto eight = vector;
#endif
#ifdef __AVX__
  const auto four = combine(__builtin_shufflevector(eight, eight, 0, 1, 2, 3),
                            __builtin_shufflevector(eight, eight, 4, 5, 6, 7));
#else
  const auto four = vector;
#endif
  return combine(combine(float(four[0]), float(four[2])),
                 combine(float(four[1]), float(four[3])));
}
static inline float sumOf(Vector vector) {
  return fold(vector, [](auto a, auto b) { return a + b; });
}
static inline float greatestOf(Vector vector) {
  return fold(vector, [](auto a, auto b) { return a > b ? a : b; });
}

// To the nearest integer, for numbers below 2^22.
static inline Vector rounded(Vector x) {
#ifdef __AVX512F__
  return _mm512_maskz_roundscale_ps(allLanes, x, _MM_FROUND_TO_NEAREST_INT);
#else
  constexpr float shift = 12582912; // here floats are 1 apart
  return (x + shift) - shift;
#endif
}

// x * 2^n for an integer n from -150 to 129.
static inline Vector scaledByPowerOfTwo(Vector x, Vector n) {
#ifdef __AVX512F__
  return _mm512_maskz_scalef_ps(allLanes, x, n);
#else
  // By two factors, since the power itself may be out of range.
  const IntVector whole = __builtin_convertvector(n, IntVector);
  const IntVector half = whole >> 1;
  return x * (Vector)((half + 127) << 23) *
         (Vector)((whole - half + 127) << 23);
#endif
}

// Within 1.2 units in the last place: e^x = 2^n e^r with |r| <= log(2) / 2.
static inline Vector exponential(Vector x) {
  x = clamped(x, -104, 89); // where it is 0 and infinite, rounded
  const Vector n = rounded(x * 1.44269504f);
  // log(2) in two parts; the first has so few bits that its product is exact.
  const Vector r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  Vector p = vectorOf(1.38145406e-3f);
  p = p * r + 8.36874545e-3f;
  p = p * r + 4.16683890e-2f;
  p = p * r + 1.66665211e-1f;
  p = p * r + 4.99999940e-1f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return scaledByPowerOfTwo(p, n);
}

// Within 1.5 units in the last place: x + x P(x^2) for small x, else
// 1 - e^R(|x|), with polynomials fitted to erf(x) / x and log(erfc(x)).
static inline Vector errorFunction(Vector x) {
  const Vector z = x * x;
  Vector p = vectorOf(-5.95373800e-4f);
  p = p * z + 4.98593971e-3f;
  p = p * z + -2.67617200e-2f;
  p = p * z + 1.12816826e-1f;
  p = p * z + -3.76124799e-1f;
  p = p * z + 1.28379151e-1f;
  const Vector small = x * p + x;
  const IntVector sign = (IntVector)x & INT32_MIN;
  const Vector t =
      lesser(vectorOf(4), (Vector)((IntVector)x ^ sign)); // 1 from there on
  Vector q = vectorOf(1.94777778e-4f);
  q = q * t + -3.03182076e-3f;
  q = q * t + 2.21813899e-2f;
  q = q * t + -1.03836916e-1f;
  q = q * t + -6.37290418e-1f;
  q = q * t + -1.12761116f;
  q = q * t + -2.11311475e-4f;
  const Vector large = 1.0f - exponential(q);
  return t < 0.93f ? small : (Vector)((IntVector)large ^ sign);
}

// Within 6 units in the last place: x P(x^2) / Q(x^2), fitted up to 9.1, from
// where on the result is 1.
static inline Vector hyperbolicTangent(Vector x) {
  x = clamped(x, -9.1f, 9.1f);
  const Vector z = x * x;
  Vector p = vectorOf(1.31775044e-8f);
  p = p * z + 2.04811695e-5f;
  p = p * z + 3.48780979e-3f;
  p = p * z + 1.33744746e-1f;
  p = p * z + 1.0f;
  Vector q = vectorOf(7.70403744e-7f);
  q = q * z + 3.27291840e-4f;
  q = q * z + 2.58473847e-2f;
  q = q * z + 4.67077881e-1f;
  q = q * z + 1.0f;
  return clamped(x * p / q, -1, 1);
}

} // namespace kernels::loops::LOOPS_LEVEL
