// Dimensions that operators name: where they come from, and shapes with and
// without them.
#pragma once

#include <popart/op.hpp>

#include <vector>

namespace popart {

// "axes", from the attribute or, in newer opsets, from constant input `input`:
// counted from the front in a tensor of `rank` (that of input 0 by default),
// ascending, each once. Empty where there are none.
Attributes::Ints givenAxes(const Op &op, InIndex input);
Attributes::Ints givenAxes(const Op &op, InIndex input, Rank rank);

// Every dimension.
Attributes::Ints allAxes(Rank rank);

// The shape with these dimensions of another size, and without them.
Shape withAxes(Shape shape, const Attributes::Ints &axes, std::int64_t size);
Shape withoutAxes(const Shape &shape, const Attributes::Ints &axes);

// The order of dimensions that puts `axes` last, and the way back from an
// order.
std::vector<unsigned> axesLast(const Attributes::Ints &axes, Rank rank);
std::vector<unsigned> inverseOrder(const std::vector<unsigned> &order);

} // namespace popart
