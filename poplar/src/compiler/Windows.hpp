// Arithmetic on windows: which elements they cover and how one is seen through
// another.
#pragma once

#include "compiler/ValueIr.hpp"

#include <cstdint>
#include <optional>

namespace poplar::compiler {

Window wholeWindow(ValueId id, const Value &value);

// Every element of the value once, in order.
bool isWholeInOrder(const Window &window, const Value &value);
// Every element of the value once, in any order of dimensions.
bool isWholeInAnyOrder(const Window &window, const Value &value);
// One run of consecutive elements.
bool isContiguous(const Window &window);
// Some element appears more than once.
bool hasBroadcast(const Window &window);

// The same elements in the same order, whatever dimensions of extent 1 say.
bool isSameWindow(const Window &a, const Window &b);

// The lowest and one past the highest element that a window touches.
struct ElementRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool overlaps(const ElementRange &other) const {
    return begin < other.end && other.begin < end;
  }
};
ElementRange elementRange(const Window &window);

// Elements flow from `source` to `target`, two windows of one shape onto
// different values. The window onto source's value that shows what `read`, a
// window onto target's value, shows; nothing when that is not one window or
// when `read` leaves what `target` covers.
std::optional<Window> seeThrough(const Window &read, const Window &target,
                                 const Window &source);

// Cuts or joins the dimensions of two windows with equally many elements until
// their shapes agree. Returns false, leaving them alone, when that cannot be
// done.
bool makeShapesEqual(Window &a, Window &b);

// The window that shows the same elements in the same order under another shape
// of as many elements; nothing when that is not one window.
std::optional<Window> reshaped(const Window &window,
                               const support::Shape &shape);

} // namespace poplar::compiler
