#include "SliceRuns.hpp"

namespace kernels {

SliceRuns::SliceRuns(const Signature &signature, std::size_t tensor,
                     std::size_t offsets)
    : shape_("slice", signature.attributes, signature.inputs[tensor].shape,
             {signature.inputs[offsets].type, signature.inputs[offsets].shape}),
      isSigned_(signature.inputs[offsets].type == DataType::Int) {
  const auto [first, last] =
      std::minmax_element(shape_.dims.begin(), shape_.dims.end());
  const Shape slice = shape_.slice();
  const auto columnOf = [&](std::size_t dim) -> std::int64_t {
    const auto found = std::find(shape_.dims.begin(), shape_.dims.end(), dim);
    return found == shape_.dims.end() ? -1 : found - shape_.dims.begin();
  };
  for (std::size_t d = 0; d < slice.size(); ++d) {
    if (d < *first) {
      outer_ *= slice[d];
    } else if (d < *last) {
      middle_.push_back({shape_.tensor[d], slice[d], columnOf(d)});
      blocks_ *= shape_.tensor[d];
      sliceBlocks_ *= slice[d];
    } else if (d > *last) {
      inner_ *= slice[d];
    }
  }
  rowColumn_ = static_cast<std::size_t>(columnOf(*last));
  rowElements_ = shape_.tensor[*last] * inner_;
  runElements_ = slice[*last] * inner_;
}

std::int64_t SliceRuns::middleBlockOf(const std::byte *offsets,
                                      std::int64_t slice,
                                      std::int64_t block) const {
  std::int64_t result = 0;
  std::int64_t step = 1;
  for (std::size_t d = middle_.size(); d-- > 0;) {
    const Middle &dim = middle_[d];
    std::int64_t index = block % dim.size;
    block /= dim.size;
    if (dim.column >= 0) {
      const auto column = static_cast<std::size_t>(dim.column);
      const auto start = shape_.start(column, offset(offsets, slice, column));
      if (!start) {
        return -1;
      }
      index = (*start + index) % dim.extent;
    }
    result += index * step;
    step *= dim.extent;
  }
  return result;
}

} // namespace kernels
