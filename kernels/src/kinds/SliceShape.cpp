#include "SliceShape.hpp"

#include <algorithm>

namespace kernels {

namespace {

OutOfRange parseOutOfRange(std::string_view kind,
                           const Attributes &attributes) {
  const auto &name = requireChoice(kind, attributes, "outOfRange",
                                   {"skip", "first", "clamp", "window"});
  return name == "skip"    ? OutOfRange::Skip
         : name == "first" ? OutOfRange::First
         : name == "clamp" ? OutOfRange::Clamp
                           : OutOfRange::Window;
}

} // namespace

SliceShape::SliceShape(std::string_view kind, const Attributes &attributes,
                       const Shape &whole, const TensorType &offsets)
    : outOfRange(parseOutOfRange(kind, attributes)) {
  const auto &given = attributes.getInts("dims");
  require(!whole.empty() && !given.empty() && given.size() < whole.size(),
          "[{}] dims is {}; a tensor of shape {} needs at least one of the "
          "dimensions after its groups",
          kind, support::toString(given), support::toString(whole));
  groups = whole.front();
  tensor.assign(whole.begin() + 1, whole.end());
  sizes = requireInts(kind, attributes, "sizes", given.size(), 0);
  for (std::size_t j = 0; j < given.size(); ++j) {
    const auto rank = static_cast<std::int64_t>(tensor.size());
    require(given[j] >= 0 && given[j] < rank,
            "[{}] dims is {}; each must be below {}", kind,
            support::toString(given), rank);
    const auto dim = static_cast<std::size_t>(given[j]);
    require(std::find(dims.begin(), dims.end(), dim) == dims.end(),
            "[{}] dims is {}; none may appear twice", kind,
            support::toString(given));
    require(sizes[j] <= tensor[dim],
            "[{}] a slice of {} does not fit dimension {}, which has {}", kind,
            sizes[j], dim, tensor[dim]);
    dims.push_back(dim);
  }
  requireType(kind, "offsets", offsets, {DataType::UnsignedInt, DataType::Int});
  requireRank(kind, "offsets", offsets, 3);
  count = offsets.shape[1];
  requireShape(kind, "offsets", offsets,
               {groups, count, static_cast<std::int64_t>(dims.size())});
}

Shape SliceShape::slice() const {
  Shape shape = tensor;
  for (std::size_t j = 0; j < dims.size(); ++j) {
    shape[dims[j]] = sizes[j];
  }
  return shape;
}

} // namespace kernels
