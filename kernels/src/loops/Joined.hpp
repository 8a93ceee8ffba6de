// A vector of two halves, for instruction sets whose registers are too narrow:
// GCC keeps a vector type that is wider than a register in memory, but the
// halves of this one in registers.
#pragma once

namespace kernels::loops::LOOPS_LEVEL {

template <typename Half> struct Joined { Half low, high; };

template <typename Type>
concept IsJoined = requires(Type value) {
  value.low;
};

template <typename Half>
[[gnu::always_inline]] inline Joined<Half> joined(Half low, Half high) {
  return {low, high};
}

template <typename Half>
[[gnu::always_inline]] inline Joined<Half> operator-(Joined<Half> a) {
  return {-a.low, -a.high};
}

// Of two vectors, or of one and a number that stands for all lanes.
#define JOINED_OPERATOR(op)                                                    \
  template <typename Half>                                                     \
  [[gnu::always_inline]] inline auto operator op(Joined<Half> a,               \
                                                 Joined<Half> b) {             \
    return joined(a.low op b.low, a.high op b.high);                           \
  }                                                                            \
  template <typename Half>                                                     \
  [[gnu::always_inline]] inline auto operator op(Joined<Half> a, float b) {    \
    return joined(a.low op b, a.high op b);                                    \
  }                                                                            \
  template <typename Half>                                                     \
  [[gnu::always_inline]] inline auto operator op(float a, Joined<Half> b) {    \
    return joined(a op b.low, a op b.high);                                    \
  }
JOINED_OPERATOR(+)
JOINED_OPERATOR(-)
JOINED_OPERATOR(*)
JOINED_OPERATOR(/)
JOINED_OPERATOR(<)
JOINED_OPERATOR(>)
JOINED_OPERATOR(!=)
#undef JOINED_OPERATOR

#define JOINED_ASSIGNMENT(op)                                                  \
  template <typename Half>                                                     \
  [[gnu::always_inline]] inline Joined<Half> &operator op(Joined<Half> &a,     \
                                                          Joined<Half> b) {    \
    a.low op b.low;                                                            \
    a.high op b.high;                                                          \
    return a;                                                                  \
  }
JOINED_ASSIGNMENT(+=)
JOINED_ASSIGNMENT(-=)
JOINED_ASSIGNMENT(|=)
#undef JOINED_ASSIGNMENT

} // namespace kernels::loops::LOOPS_LEVEL
