// Element values as programs give them, turned into the bytes of a device type.
#pragma once

#include <poplar/Type.hpp>
#include <support/DataType.hpp>

#include <cstddef>
#include <vector>

namespace poplar::internal {

// `count` values of the host type whose device equivalent is `hostType`.
// Integers keep their low bits; floating point values round to nearest.
std::vector<std::byte> convertValues(support::DataType type,
                                     const Type &hostType, const void *values,
                                     std::size_t count);

// The way back: `count` values from the bytes of a device type.
void restoreValues(support::DataType type, const void *bytes,
                   const Type &hostType, void *values, std::size_t count);

} // namespace poplar::internal
