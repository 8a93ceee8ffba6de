// Lists of dimensions.
#include <ops/Axes.hpp>

#include <ops/Common.hpp>

#include <algorithm>
#include <numeric>
#include <set>

namespace popart {

Attributes::Ints givenAxes(const Op &op, InIndex input) {
  return givenAxes(op, input, op.inInfo(0).rank());
}

Attributes::Ints givenAxes(const Op &op, InIndex input, Rank rank) {
  std::set<std::int64_t> axes;
  for (std::int64_t axis : op.hasInput(input)
                               ? constantInts(op, input)
                               : op.attributes.getInts("axes", {})) {
    axes.insert(normaliseAxis(op, axis, rank));
  }
  return {axes.begin(), axes.end()};
}

Attributes::Ints allAxes(Rank rank) {
  Attributes::Ints axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Shape withAxes(Shape shape, const Attributes::Ints &axes, std::int64_t size) {
  for (std::int64_t axis : axes) {
    shape[static_cast<std::size_t>(axis)] = size;
  }
  return shape;
}

Shape withoutAxes(const Shape &shape, const Attributes::Ints &axes) {
  Shape result;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) ==
        axes.end()) {
      result.push_back(shape[d]);
    }
  }
  return result;
}

std::vector<unsigned> axesLast(const Attributes::Ints &axes, Rank rank) {
  Attributes::Ints order = withoutAxes(allAxes(rank), axes);
  order.insert(order.end(), axes.begin(), axes.end());
  return {order.begin(), order.end()};
}

std::vector<unsigned> inverseOrder(const std::vector<unsigned> &order) {
  std::vector<unsigned> inverse(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) {
    inverse[order[d]] = static_cast<unsigned>(d);
  }
  return inverse;
}

} // namespace popart
