// The text of PrintTensor: nested brackets, numbers of equal precision, and
// only the edges of large tensors.
#pragma once

#include <poplar/PrintTensor.hpp>

#include <support/DataType.hpp>
#include <support/Shape.hpp>

#include <cstddef>
#include <string>

namespace poplar::engine {

// `title: ` and the elements, given packed in row-major order; without a line
// break at the end.
std::string formatTensor(const std::string &title, support::DataType type,
                         const support::Shape &shape, const std::byte *packed,
                         const PrintTensorFmt &format);

} // namespace poplar::engine
