// A borrowed, read-only range of consecutive elements: how the API takes
// vectors, arrays and braced lists alike.
#pragma once

#include <gccs/ArrayRef.hpp>

namespace poplar {

template <typename T> using ArrayRef = gccs::ArrayRef<T>;

} // namespace poplar
