// One loop per element-wise operator over blocks of each integer type, and the
// conversions between blocks. Integers wrap (-fwrapv).
#include "Loops.hpp"

#include "../elementwise/ScalarFunctions.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using namespace kernels::elementwise; // what the operator table calls
using Integral = std::int64_t;

// y[i] = function(a[i], b[i], c[i]); operands beyond the operator's arity are
// not read. Operators that make no sense for integers have an empty loop, which
// no plan reaches.
#define KERNELS_LOOP(name, function, Result, arity)                            \
  template <typename T>                                                        \
  void loop##name(void *to, const void *first, const void *second,             \
                  const void *third, Integral count) {                         \
    if constexpr (requires(T a, T b, T c) { Result(function); }) {             \
      auto *y = static_cast<Result *>(to);                                     \
      const auto *as = static_cast<const T *>(first);                          \
      [[maybe_unused]] const auto *bs = static_cast<const T *>(second);        \
      [[maybe_unused]] const auto *cs = static_cast<const T *>(third);         \
      _Pragma("GCC ivdep") for (Integral i = 0; i < count; ++i) {              \
        [[maybe_unused]] const T a = as[i];                                    \
        [[maybe_unused]] const T b = arity > 1 ? bs[i] : T(0);                 \
        [[maybe_unused]] const T c = arity > 2 ? cs[i] : T(0);                 \
        y[i] = Result(function);                                               \
      }                                                                        \
    }                                                                          \
  }
#define KERNELS_UNARY(name, function, ...) KERNELS_LOOP(name, function, T, 1)
#define KERNELS_BINARY(name, function, ...) KERNELS_LOOP(name, function, T, 2)
#define KERNELS_TERNARY(name, function, ...) KERNELS_LOOP(name, function, T, 3)
#define KERNELS_PREDICATE(name, function, ...)                                 \
  KERNELS_LOOP(name, function, float, 2)
#define KERNELS_UNARY_PREDICATE(name, function, ...)                           \
  KERNELS_LOOP(name, function, float, 1)
#include <kernels/ElementwiseOps.def>
#undef KERNELS_LOOP

template <typename T>
void select(void *to, const void *first, const void *second, const void *third,
            Integral count) {
  auto *y = static_cast<T *>(to);
  const auto *as = static_cast<const T *>(first);
  const auto *bs = static_cast<const T *>(second);
  const auto *predicates = static_cast<const float *>(third);
#pragma GCC ivdep
  for (Integral i = 0; i < count; ++i) {
    y[i] = predicates[i] != 0 ? as[i] : bs[i];
  }
}

template <typename T> void setOperators(IntegerLoops &loops, Lane lane) {
  auto *operators = loops.operators[static_cast<std::size_t>(lane)];
  std::size_t next = 0;
#define KERNELS_UNARY(name, ...) operators[next++] = loop##name<T>;
#define KERNELS_BINARY(name, ...) operators[next++] = loop##name<T>;
#define KERNELS_TERNARY(name, ...)                                             \
  operators[next++] =                                                          \
      #name[0] == 'S' ? select<T> : loop##name<T>; // SELECT or CLAMP
#define KERNELS_PREDICATE(name, ...) operators[next++] = loop##name<T>;
#define KERNELS_UNARY_PREDICATE(name, ...) operators[next++] = loop##name<T>;
#include <kernels/ElementwiseOps.def>
}

template <typename T> constexpr T lowestOf() {
  constexpr bool isSigned = T(-1) < T(0);
  return isSigned ? T(T(1) << (8 * sizeof(T) - 1)) : T(0);
}
template <typename T> constexpr T highestOf() {
  return T(~lowestOf<T>());
}

template <typename To, typename From> To convertOne(From value) {
  if constexpr (std::is_same_v<From, float> && !std::is_same_v<To, float>) {
    // The limits as floats: the highest rounds up to the first beyond.
    constexpr float low = float(lowestOf<To>());
    constexpr float high = float(highestOf<To>());
    const bool isInside = value > low && value < high; // and a number
    const To inside = To(isInside ? value : 0.0f);
    return value <= low ? lowestOf<To>()
                        : (value >= high ? highestOf<To>() : inside);
  } else {
    return To(value);
  }
}

template <typename To, typename From>
void convertBlock(void *to, const void *from, Integral count) {
  auto *y = static_cast<To *>(to);
  const auto *a = static_cast<const From *>(from);
#pragma GCC ivdep
  for (Integral i = 0; i < count; ++i) {
    y[i] = convertOne<To>(a[i]);
  }
}

template <typename From>
void toBool(void *to, const void *from, Integral count) {
  auto *y = static_cast<float *>(to);
  const auto *a = static_cast<const From *>(from);
#pragma GCC ivdep
  for (Integral i = 0; i < count; ++i) {
    y[i] = a[i] != From(0) ? 1.0f : 0.0f;
  }
}

template <typename From> void setConversions(IntegerLoops &loops, Lane from) {
  const auto index = static_cast<std::size_t>(from);
  loops.convert[index][0] = convertBlock<float, From>;
  loops.convert[index][1] = convertBlock<std::int32_t, From>;
  loops.convert[index][2] = convertBlock<std::uint32_t, From>;
  loops.convert[index][3] = convertBlock<std::int64_t, From>;
  loops.convert[index][4] = convertBlock<std::uint64_t, From>;
  loops.toBool[index] = toBool<From>;
}

template <typename T> void wrap(void *to, const void *from, Integral count) {
  auto *y = static_cast<std::int32_t *>(to);
  const auto *a = static_cast<const std::int32_t *>(from);
#pragma GCC ivdep
  for (Integral i = 0; i < count; ++i) {
    y[i] = T(a[i]);
  }
}

template <typename T> void clamp(void *to, const void *from, Integral count) {
  auto *y = static_cast<std::int32_t *>(to);
  const auto *a = static_cast<const std::int32_t *>(from);
  constexpr std::int32_t low = lowestOf<T>();
  constexpr std::int32_t high = highestOf<T>();
#pragma GCC ivdep
  for (Integral i = 0; i < count; ++i) {
    y[i] = a[i] < low ? low : (a[i] > high ? high : a[i]);
  }
}

template <typename To, typename From>
void load(void *to, const void *from, Integral stride, Integral count) {
  auto *y = static_cast<To *>(to);
  const auto *a = static_cast<const From *>(from);
  if (stride == 1) {
    for (Integral i = 0; i < count; ++i) {
      y[i] = To(a[i]);
    }
  } else {
    for (Integral i = 0; i < count; ++i) {
      y[i] = To(a[i * stride]);
    }
  }
}

template <typename To, typename From>
void store(void *to, const void *from, Integral stride, Integral count) {
  auto *y = static_cast<To *>(to);
  const auto *a = static_cast<const From *>(from);
  if (stride == 1) {
    for (Integral i = 0; i < count; ++i) {
      y[i] = To(a[i]);
    }
  } else {
    for (Integral i = 0; i < count; ++i) {
      y[i * stride] = To(a[i]);
    }
  }
}

template <typename T> void setNarrow(IntegerLoops &loops, Narrow narrow) {
  const auto index = static_cast<std::size_t>(narrow);
  loops.wrap[index] = wrap<T>;
  loops.clamp[index] = clamp<T>;
  loops.loadNarrow[index] = load<std::int32_t, T>;
  loops.storeNarrow[index] = store<T, std::int32_t>;
}

} // namespace

IntegerLoops integerLoops() {
  IntegerLoops loops{};
  setOperators<std::int32_t>(loops, Lane::Int);
  setOperators<std::uint32_t>(loops, Lane::UnsignedInt);
  setOperators<std::int64_t>(loops, Lane::Long);
  setOperators<std::uint64_t>(loops, Lane::UnsignedLong);
  setConversions<float>(loops, Lane::Float);
  setConversions<std::int32_t>(loops, Lane::Int);
  setConversions<std::uint32_t>(loops, Lane::UnsignedInt);
  setConversions<std::int64_t>(loops, Lane::Long);
  setConversions<std::uint64_t>(loops, Lane::UnsignedLong);
  setNarrow<std::int8_t>(loops, Narrow::Char);
  setNarrow<std::uint8_t>(loops, Narrow::UnsignedChar);
  setNarrow<std::int16_t>(loops, Narrow::Short);
  setNarrow<std::uint16_t>(loops, Narrow::UnsignedShort);
  loops.loadLong = load<std::uint64_t, std::uint64_t>;
  loops.storeLong = store<std::uint64_t, std::uint64_t>;
  return loops;
}

} // namespace kernels::loops::LOOPS_LEVEL
