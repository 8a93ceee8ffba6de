// What Winograd's method needs in all three directions: which convolutions it
// is for, and blocks of tiles with their factors.
#pragma once

#include "kinds/ConvolutionShape.hpp"
#include "loops/Loops.hpp"

#include <kernels/KernelEntry.hpp>

namespace kernels {

// Places in a tile, each of which has a matrix product of its own.
inline constexpr std::int64_t winogradPlaces = 36;

// Whether tiles over a field of this size save enough. The result of a data
// gradient is as large as the input.
bool isForWinograd(const ConvolutionShape &shape, const Shape &resultField);

// An image of so many channels, in tiles of the result.
WinogradLoops::Field winogradField(const Shape &field, std::int64_t channels,
                                   const Shape &resultField,
                                   std::int64_t padRows,
                                   std::int64_t padColumns);

// Weights are packed in panels of so many columns, one after another: rows of
// large powers of two would fall on the same lines of the cache.
inline constexpr std::int64_t winogradPanel = 32;

// Nanoseconds on one core.
double winogradWork(const ConvolutionShape &shape, std::int64_t tiles);

// How many shards may have `bytes` of scratch each.
std::int64_t winogradShards(std::int64_t items, double work, std::size_t bytes);

} // namespace kernels
