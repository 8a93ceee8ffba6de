// Shapes and strides: element counts per dimension, outermost first.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace support {

using Shape = std::vector<std::int64_t>;
using Strides = std::vector<std::int64_t>;

// The product of the dimensions; 1 for a scalar.
std::int64_t elementCount(std::span<const std::int64_t> shape);

// Strides, in elements, of a row-major tensor of this shape.
Strides rowMajorStrides(std::span<const std::int64_t> shape);

// "{2,3,4}", as error messages spell shapes.
std::string toString(std::span<const std::int64_t> shape);

} // namespace support
