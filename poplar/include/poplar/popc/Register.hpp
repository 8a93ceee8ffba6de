// Describes vertex classes to the host: used by the code that popc adds to a
// codelet source. Compiled as C++17 or later, without access control.
#pragma once

#include <poplar/Vertex.hpp>
#include <poplar/popc/Table.hpp>

#include <csetjmp>
#include <type_traits>

class half;
class quarter;

namespace poplar {
namespace popc {

template <typename T> constexpr ElementType elementTypeOf() {
  if constexpr (std::is_enum_v<T>) {
    return elementTypeOf<std::underlying_type_t<T>>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return ElementType::Bool;
  } else if constexpr (std::is_same_v<T, char>) {
    return ElementType::Char;
  } else if constexpr (std::is_same_v<T, half>) {
    return ElementType::Half;
  } else if constexpr (std::is_same_v<T, quarter>) {
    return ElementType::Quarter;
  } else if constexpr (std::is_same_v<T, float>) {
    return ElementType::Float;
  } else if constexpr (std::is_integral_v<T>) {
    constexpr bool isSigned = std::is_signed_v<T>;
    switch (sizeof(T)) { // long counts as what it is on this host
    case 1:
      return isSigned ? ElementType::SignedChar : ElementType::UnsignedChar;
    case 2:
      return isSigned ? ElementType::Short : ElementType::UnsignedShort;
    case 4:
      return isSigned ? ElementType::Int : ElementType::UnsignedInt;
    default:
      return isSigned ? ElementType::LongLong : ElementType::UnsignedLongLong;
    }
  } else {
    return ElementType::Unsupported;
  }
}

constexpr FieldLayout toFieldLayout(VectorLayout layout) {
  return static_cast<FieldLayout>(static_cast<int>(layout) +
                                  static_cast<int>(FieldLayout::Span));
}
static_assert(toFieldLayout(VectorLayout::COMPACT_PTR) ==
              FieldLayout::CompactPtr);

constexpr FieldLayout toFieldLayout(VectorListLayout layout) {
  return layout < VectorListLayout::DELTAN
             ? static_cast<FieldLayout>(static_cast<int>(layout) +
                                        static_cast<int>(FieldLayout::OnePtr))
             : static_cast<FieldLayout>(
                   static_cast<int>(layout) -
                   static_cast<int>(VectorListLayout::DELTAN) +
                   static_cast<int>(FieldLayout::DeltaN));
}
static_assert(toFieldLayout(VectorListLayout::SCALED_PTR128) ==
              FieldLayout::ScaledPtr128);
static_assert(toFieldLayout(VectorListLayout::COMPACT_DELTAN) ==
              FieldLayout::CompactDeltaN);

// The record of a field of type T, all but its name and offset; its element
// type is Unsupported if a vertex cannot have such a field.
template <typename T> struct Describe {
  using Element = std::remove_cv_t<std::remove_all_extents_t<T>>;
  static constexpr FieldRecord record() {
    FieldRecord field{};
    field.type = elementTypeOf<Element>();
    field.count = sizeof(T) / sizeof(Element);
    field.alignment = alignof(T);
    return field;
  }
};
template <typename T> struct Describe<const T> : Describe<T> {};

// The same for what an edge leads to.
template <typename T> struct DescribeEdge {
  static constexpr FieldRecord record(EdgeDirection direction) {
    FieldRecord field = Describe<T>::record();
    field.shape = FieldShape::Scalar;
    field.direction = direction;
    if (std::is_array_v<T>) {
      field.type = ElementType::Unsupported;
    }
    return field;
  }
};
template <typename T, VectorLayout L, unsigned A, bool I>
struct DescribeEdge<Vector<T, L, A, I>> {
  static constexpr FieldRecord record(EdgeDirection direction) {
    FieldRecord field{};
    field.shape = FieldShape::Vector;
    field.direction = direction;
    field.type = elementTypeOf<std::remove_cv_t<T>>();
    field.layout = toFieldLayout(L);
    field.count = 1;
    field.alignment = A;
    field.isInterleaved = I;
    return field;
  }
};
template <typename T, VectorListLayout L, unsigned A, bool I>
struct DescribeEdge<VectorList<T, L, A, I>> {
  static constexpr FieldRecord record(EdgeDirection direction) {
    FieldRecord field =
        DescribeEdge<Vector<T, VectorLayout::SPAN, A, I>>::record(direction);
    field.shape = FieldShape::VectorList;
    field.layout = toFieldLayout(L);
    return field;
  }
};

template <typename T> struct Describe<Input<T>> {
  static constexpr FieldRecord record() {
    return DescribeEdge<T>::record(EdgeDirection::Input);
  }
};
template <typename T> struct Describe<Output<T>> {
  static constexpr FieldRecord record() {
    return DescribeEdge<T>::record(EdgeDirection::Output);
  }
};
template <typename T> struct Describe<InOut<T>> {
  static constexpr FieldRecord record() {
    return DescribeEdge<T>::record(EdgeDirection::InOut);
  }
};

// A vector of values, of scalar edges or of edges to vectors.
template <typename T, VectorLayout L, unsigned A, bool I>
struct Describe<Vector<T, L, A, I>> {
  static constexpr FieldRecord record() {
    FieldRecord field = Describe<T>::record();
    field.itemLayout = field.layout;
    field.layout = toFieldLayout(L);
    if (field.shape == FieldShape::Value) {
      field.shape = FieldShape::ValueVector;
      field.alignment = A;
      field.isInterleaved = I;
      if (std::is_array_v<T>) {
        field.type = ElementType::Unsupported;
      }
    } else if (field.shape == FieldShape::Scalar) {
      field.shape = FieldShape::ScalarList;
    } else if (field.shape == FieldShape::Vector) {
      field.shape = FieldShape::VectorList;
    } else { // a vector of lists, or of vectors that are no edges
      field.type = ElementType::Unsupported;
    }
    return field;
  }
};

template <typename T> constexpr bool isField() {
  return Describe<T>::record().type != ElementType::Unsupported;
}

template <typename T>
constexpr FieldRecord describeField(const char *name, std::size_t offset) {
  FieldRecord field = Describe<T>::record();
  field.name = name;
  field.offset = static_cast<std::uint32_t>(offset);
  return field;
}

// What stands for the template parameter A in "... [A = text]".
constexpr Text parameterIn(const char *function) {
  std::size_t begin = 0;
  while (function[begin] != '[') {
    ++begin;
  }
  begin += 5;
  std::size_t end = begin;
  while (function[end + 1] != '\0') {
    ++end;
  }
  return {function + begin, end - begin};
}

template <typename A> constexpr Text spellType() {
  return parameterIn(__PRETTY_FUNCTION__);
}

template <auto A> constexpr Text spellValue() {
  Text text = parameterIn(__PRETTY_FUNCTION__);
  if (std::is_integral_v<decltype(A)> && !std::is_same_v<decltype(A), bool>) {
    while (text.data[text.size - 1] == 'U' || text.data[text.size - 1] == 'L') {
      --text.size; // 3UL
    }
  }
  return text;
}

template <typename V> constexpr VertexBase baseOf() {
  return std::is_base_of_v<MultiVertex, V>        ? VertexBase::Multi
         : std::is_base_of_v<SupervisorVertex, V> ? VertexBase::Supervisor
                                                  : VertexBase::Worker;
}

// A compute() that returns nothing cannot fail.
template <typename V, typename... Worker>
bool runOne(V &vertex, Worker... worker) {
  if constexpr (std::is_void_v<decltype(vertex.compute(worker...))>) {
    vertex.compute(worker...);
    return true;
  } else {
    return vertex.compute(worker...);
  }
}

// On its own, so that setjmp does not hold back its optimisation.
template <typename V>
[[gnu::noinline]] bool runAll(std::byte *first, std::size_t stride,
                              std::size_t count) {
  bool ok = true;
  for (std::size_t i = 0; i < count; ++i) {
    V &vertex = *reinterpret_cast<V *>(first + i * stride);
    if constexpr (baseOf<V>() == VertexBase::Multi) {
      for (unsigned worker = 0; worker < MultiVertex::numWorkers(); ++worker) {
        ok &= runOne(vertex, worker);
      }
    } else {
      ok &= runOne(vertex);
    }
  }
  return ok;
}

[[gnu::visibility("hidden")]] inline const Host *host;
[[gnu::visibility("hidden")]] inline thread_local std::jmp_buf *failurePoint;

// A failed assert comes back here by longjmp and is thrown from here: the C
// library declares its handler as one that does not throw, so exceptions may
// not pass through the functions that called it.
template <typename V>
bool run(std::byte *first, std::size_t stride, std::size_t count) {
  std::jmp_buf here;
  failurePoint = &here;
  if (setjmp(here) != 0) {
    host->raise();
  }
  return runAll<V>(first, stride, count);
}

template <typename V>
constexpr TypeRecord describeType(const char *name, const Text *arguments,
                                  std::uint32_t argumentCount, bool isPrinting,
                                  const FieldRecord *fields,
                                  std::uint32_t fieldCount) {
  return {name,      arguments,  argumentCount, baseOf<V>(), isPrinting,
          sizeof(V), alignof(V), fieldCount,    fields,      run<V>};
}

} // namespace popc
} // namespace poplar

// In place of the C library's, for this codelet file only. Weak, because each
// source of a codelet file has them.
extern "C" {

__attribute__((weak, visibility("hidden"))) int printf(const char *format,
                                                       ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int count = poplar::popc::host->print(format, arguments);
  va_end(arguments);
  return count;
}

__attribute__((noreturn, weak, visibility("hidden"))) void
__assert_fail(const char *assertion, const char *file, unsigned line,
              const char *function) noexcept {
  poplar::popc::host->fail(assertion, file, line, function);
  std::longjmp(*poplar::popc::failurePoint, 1);
}
}
