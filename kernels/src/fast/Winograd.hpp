// What Winograd's method needs in all three directions: which convolutions it
// is for, and blocks of tiles with their factors.
#pragma once

#include "kinds/ConvolutionShape.hpp"
#include "loops/Loops.hpp"

#include <kernels/KernelEntry.hpp>

#include <memory>

namespace kernels {

// Places in a tile, each of which has a matrix product of its own.
inline constexpr std::int64_t winogradPlaces = 36;

// Whether tiles over a field of this size save enough.
bool isForWinograd(const ConvolutionShape &shape, const Shape &resultField);

// Whether they do in a convolution although tiles are few, if weights are
// transformed in the cache that they are multiplied from.
bool isForFewTiles(const ConvolutionShape &shape);

// An image of so many channels, in tiles of the result.
WinogradLoops::Field winogradField(const Shape &field, std::int64_t channels,
                                   const Shape &resultField,
                                   std::int64_t padRows,
                                   std::int64_t padColumns);

enum class WinogradWay {
  Forward,
  // A data gradient as a convolution of dy with the kernel turned round and the
  // channels exchanged.
  Turned,
  // A data gradient by the tiles of the convolution itself: 4x4 of dy become
  // 6x6 of dx, which overlap.
  Transposed,
};

// Of a data gradient, the way with fewer tiles. Transposed, an image is the
// work of one shard.
WinogradWay dataGradWay(const ConvolutionShape &shape);

struct WinogradCall {
  WinogradCall(const Signature &signature, const ConvolutionShape &shape,
               WinogradWay way);

  std::size_t outputIndex() const { return hasBias ? 3 : 2; }

  WinogradWay way;
  WinogradLoops::Field in, out;
  WinogradLoops::Weights weights; // a row for each channel of `in`
  bool hasBias = false, hasRelu = false;
};

// The plan for few tiles.
std::unique_ptr<Plan> planFewTiles(const Signature &signature,
                                   const ConvolutionShape &shape);

// Weights are packed in panels of so many columns, one after another: rows of
// large powers of two would fall on the same lines of the cache.
inline constexpr std::int64_t winogradPanel = 32;

// Nanoseconds on one core.
double winogradWork(const ConvolutionShape &shape, std::int64_t tiles);

// How many shards may have `bytes` of scratch each.
std::int64_t winogradShards(std::int64_t items, double work, std::size_t bytes);

} // namespace kernels
