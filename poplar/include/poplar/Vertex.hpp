// What codelets are written with: the classes that vertices derive from and the
// types of their fields. The host fills the fields' memory; no vertex is ever
// constructed, so what lies in a field is fixed: a pointer for a scalar edge, a
// pointer and a 64-bit count for a vector of any layout.
#pragma once

#include <poplar/VectorLayout.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

// Where the machine wants a worker's code; a host does not mind.
#define WORKER_ALIGN

namespace poplar {

class Vertex {};

class MultiVertex {
public:
  static constexpr unsigned numWorkers() { return 6; }
};

class SupervisorVertex {};

template <typename T, VectorLayout L = VectorLayout::SPAN,
          unsigned MinAlign = alignof(T), bool Interleaved = false>
class Vector;
template <typename T, VectorListLayout L = VectorListLayout::DELTAN,
          unsigned MinAlign = alignof(T), bool Interleaved = false>
class VectorList;

// A pointer and a count, seen as a vector of E.
template <typename E, VectorLayout L> class VectorView {
public:
  using value_type = typename std::remove_const<E>::type;
  using iterator = E *;
  using const_iterator = const E *;

  E &operator[](std::size_t i) const { return data_[i]; }
  E *data() const { return data_; }

  // 32 bits, as std::size_t has on the machine.
  unsigned size() const {
    static_assert(L == VectorLayout::SPAN || L == VectorLayout::SHORT_SPAN,
                  "a vector of this layout does not know its size");
    return static_cast<unsigned>(size_);
  }
  bool empty() const { return size() == 0; }
  E *begin() const { return data_; }
  E *end() const { return data_ + size(); }
  const E *cbegin() const { return begin(); }
  const E *cend() const { return end(); }
  E &front() const { return data_[0]; }
  E &back() const { return data_[size() - 1]; }

private:
  E *data_;
  std::uint64_t size_;
};

// State of the vertex, or a list of edges: Vector<Input<Vector<float>>>.
template <typename T, VectorLayout L, unsigned MinAlign, bool Interleaved>
class Vector : public VectorView<T, L> {};

// An edge to a vector is used as the vector, and as a pointer to it.
template <typename E, VectorLayout L>
class VectorEdge : public VectorView<E, L> {
public:
  const VectorEdge &operator*() const { return *this; }
  const VectorEdge *operator->() const { return this; }
};

namespace popc {

template <typename T>
struct IsPlain : std::integral_constant<bool, std::is_arithmetic<T>::value ||
                                                  std::is_enum<T>::value> {};

struct Unused {};

// A type like half turns into a float by a conversion of its own, and C++ does
// not chain two of those: edges to it convert directly.
template <typename T>
using FloatUnlessPlain =
    typename std::conditional<IsPlain<T>::value, Unused, float>::type;

} // namespace popc

// An edge to one element, read through `const T` or written through `T`.
template <typename E> class ScalarEdge {
public:
  using value_type = typename std::remove_const<E>::type;

  E &operator*() const { return *pointer_; }
  E *operator->() const { return pointer_; }
  operator E &() const { return *pointer_; }
  operator popc::FloatUnlessPlain<value_type>() const {
    return static_cast<float>(*pointer_);
  }

protected:
  E *pointer_;
};

namespace popc {

template <typename T> std::true_type isScalarEdge(const ScalarEdge<T> *);
std::false_type isScalarEdge(...);
template <typename A>
using IsScalarEdge = decltype(isScalarEdge(static_cast<A *>(nullptr)));

template <typename T> T &valueOf(const ScalarEdge<T> &edge) {
  return *edge;
}
template <typename T>
typename std::enable_if<!IsScalarEdge<const T>::value, const T &>::type
valueOf(const T &value) {
  return value;
}

template <typename A, typename B>
using RequireEdge = typename std::enable_if<IsScalarEdge<const A>::value ||
                                            IsScalarEdge<const B>::value>::type;

} // namespace popc

// Operators see through edges on either side.
#define POPLAR_EDGE_OPERATOR(op)                                               \
  template <typename A, typename B, typename = popc::RequireEdge<A, B>>        \
  auto operator op(const A &a, const B &b)                                     \
      ->decltype(popc::valueOf(a) op popc::valueOf(b)) {                       \
    return popc::valueOf(a) op popc::valueOf(b);                               \
  }
POPLAR_EDGE_OPERATOR(+)
POPLAR_EDGE_OPERATOR(-)
POPLAR_EDGE_OPERATOR(*)
POPLAR_EDGE_OPERATOR(/)
POPLAR_EDGE_OPERATOR(%)
POPLAR_EDGE_OPERATOR(&)
POPLAR_EDGE_OPERATOR(|)
POPLAR_EDGE_OPERATOR(^)
POPLAR_EDGE_OPERATOR(<<)
POPLAR_EDGE_OPERATOR(>>)
POPLAR_EDGE_OPERATOR(==)
POPLAR_EDGE_OPERATOR(!=)
POPLAR_EDGE_OPERATOR(<)
POPLAR_EDGE_OPERATOR(<=)
POPLAR_EDGE_OPERATOR(>)
POPLAR_EDGE_OPERATOR(>=)
#undef POPLAR_EDGE_OPERATOR

template <typename E>
auto operator-(const ScalarEdge<E> &edge) -> decltype(-*edge) {
  return -*edge;
}

// Assigning to an edge writes the element; it never moves the pointer.
template <typename T> class WrittenEdge : public ScalarEdge<T> {
public:
  WrittenEdge() = default;
  WrittenEdge(const WrittenEdge &) = default;
  T &operator=(const WrittenEdge &other) const { return **this = *other; }
  template <typename U> T &operator=(const U &value) const {
    return **this = popc::valueOf(value);
  }

#define POPLAR_EDGE_ASSIGNMENT(op)                                             \
  template <typename U> T &operator op(const U &value) const {                 \
    return **this op popc::valueOf(value);                                     \
  }
  POPLAR_EDGE_ASSIGNMENT(+=)
  POPLAR_EDGE_ASSIGNMENT(-=)
  POPLAR_EDGE_ASSIGNMENT(*=)
  POPLAR_EDGE_ASSIGNMENT(/=)
  POPLAR_EDGE_ASSIGNMENT(%=)
  POPLAR_EDGE_ASSIGNMENT(&=)
  POPLAR_EDGE_ASSIGNMENT(|=)
  POPLAR_EDGE_ASSIGNMENT(^=)
  POPLAR_EDGE_ASSIGNMENT(<<=)
  POPLAR_EDGE_ASSIGNMENT(>>=)
#undef POPLAR_EDGE_ASSIGNMENT

  T &operator++() const {
    return ++**this;
  }
  T &operator--() const {
    return --**this;
  }
  T operator++(int) const {
    return (**this)++;
  }
  T operator--(int) const {
    return (**this)--;
  }
};

template <typename T> class Input : public ScalarEdge<const T> {};
template <typename T> class Output : public WrittenEdge<T> {
public:
  using WrittenEdge<T>::operator=;
};
template <typename T> class InOut : public WrittenEdge<T> {
public:
  using WrittenEdge<T>::operator=;
};

template <typename T, VectorLayout L, unsigned A, bool I>
class Input<Vector<T, L, A, I>> : public VectorEdge<const T, L> {};
template <typename T, VectorLayout L, unsigned A, bool I>
class Output<Vector<T, L, A, I>> : public VectorEdge<T, L> {};
template <typename T, VectorLayout L, unsigned A, bool I>
class InOut<Vector<T, L, A, I>> : public VectorEdge<T, L> {};

// A list's items know their sizes, whatever the layout.
template <typename E>
using VectorListEdge =
    VectorEdge<VectorEdge<E, VectorLayout::SPAN>, VectorLayout::SPAN>;

template <typename T, VectorListLayout L, unsigned A, bool I>
class Input<VectorList<T, L, A, I>> : public VectorListEdge<const T> {};
template <typename T, VectorListLayout L, unsigned A, bool I>
class Output<VectorList<T, L, A, I>> : public VectorListEdge<T> {};
template <typename T, VectorListLayout L, unsigned A, bool I>
class InOut<VectorList<T, L, A, I>> : public VectorListEdge<T> {};

} // namespace poplar

#ifdef __POPC__
#include <poplar/popc/Register.hpp>
#endif
