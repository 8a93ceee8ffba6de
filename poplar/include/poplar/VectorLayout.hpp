// How a vertex refers to the data of a vector: what codelets write in the types
// of their fields, and the names by which hosts ask about them.
#pragma once

namespace poplar {

// Only SPAN and SHORT_SPAN know how many elements there are.
enum class VectorLayout {
  SPAN,
  SHORT_SPAN,
  ONE_PTR,
  SCALED_PTR32,
  SCALED_PTR64,
  SCALED_PTR128,
  COMPACT_PTR,
};

enum class VectorListLayout {
  ONE_PTR,
  SCALED_PTR32,
  SCALED_PTR64,
  SCALED_PTR128,
  DELTAN,
  DELTANELEMENTS,
  COMPACT_DELTAN,
};

namespace layout {

enum class Vector {
  NotAVector,
  Span,
  ShortSpan,
  OnePtr,
  ScaledPtr32,
  ScaledPtr64,
  ScaledPtr128,
};

enum class VectorList {
  NotAVector,
  OnePtr,
  ScaledPtr32,
  ScaledPtr64,
  ScaledPtr128,
  DeltaN,
  DeltaNElements,
};

} // namespace layout
} // namespace poplar
