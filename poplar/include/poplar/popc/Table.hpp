// What compiled codelets and the host tell each other. popc compiles codelets
// against this header and libpoplar loads them by it: change `tableVersion`
// with it.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>

namespace poplar {
namespace popc {

constexpr std::uint32_t tableVersion = 1;

enum class VertexBase : std::uint8_t {
  Worker,     // Vertex: compute() on one worker context
  Multi,      // MultiVertex: compute(workerId) on every worker context
  Supervisor, // SupervisorVertex
};

enum class EdgeDirection : std::uint8_t { None, Input, Output, InOut };

// What a field is, and so what lies at its offset in the object.
enum class FieldShape : std::uint8_t {
  Value,       // T x, T x[n]: the bytes themselves
  ValueVector, // Vector<T>: a HostSpan of values
  Scalar,      // Input<T>: a T *
  Vector,      // Input<Vector<T>>: a HostSpan of elements
  ScalarList,  // Vector<Input<T>>: a HostSpan of T *
  VectorList,  // Vector<Input<Vector<T>>>, Input<VectorList<T>>: a HostSpan of
               // HostSpans
};

// As poplar::VectorLayout and VectorListLayout name them.
enum class FieldLayout : std::uint8_t {
  None, // not a vector
  Span,
  ShortSpan,
  OnePtr,
  ScaledPtr32,
  ScaledPtr64,
  ScaledPtr128,
  CompactPtr,
  DeltaN,
  DeltaNElements,
  CompactDeltaN,
};

enum class ElementType : std::uint8_t {
  Unsupported,
  Bool,
  Char,
  SignedChar,
  UnsignedChar,
  Short,
  UnsignedShort,
  Int,
  UnsignedInt,
  LongLong,
  UnsignedLongLong,
  Quarter,
  Half,
  Float,
};

struct FieldRecord {
  const char *name;
  FieldShape shape;
  EdgeDirection direction;
  ElementType type;
  FieldLayout layout;
  FieldLayout itemLayout;
  bool isInterleaved;
  std::uint32_t offset;
  std::uint32_t count;
  std::uint32_t alignment;
};

struct Text {
  const char *data;
  std::size_t size;
};

struct TypeRecord {
  const char *name;      // of a template, without its arguments
  const Text *arguments; // as the compiler spells them
  std::uint32_t argumentCount;
  VertexBase base;
  bool isPrinting;
  std::uint32_t size;
  std::uint32_t alignment;
  std::uint32_t fieldCount;
  const FieldRecord *fields;
  bool (*run)(std::byte *first, std::size_t stride, std::size_t count);
};

// What codelets ask of the host.
struct Host {
  int (*print)(const char *format, std::va_list arguments);
  // Keeps what a failed assert says; after it, `raise` throws it.
  void (*fail)(const char *assertion, const char *file, unsigned line,
               const char *function);
  void (*raise)();
};

// One for each source with vertices, exported as popcTable0, popcTable1, ...
struct Table {
  std::uint32_t version;
  std::uint32_t typeCount;
  const TypeRecord *types;
  const Host **host; // for the loader to set
};

} // namespace popc
} // namespace poplar
