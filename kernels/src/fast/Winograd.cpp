#include "Winograd.hpp"

#include <algorithm>
#include <bit>

namespace kernels {

namespace {

constexpr std::int64_t tileSize = 4;

std::int64_t tilesAlong(std::int64_t size) {
  return (size + tileSize - 1) / tileSize;
}

bool isAll(const Shape &field, std::int64_t value) {
  return std::all_of(field.begin(), field.end(),
                     [&](std::int64_t size) { return size == value; });
}

// The kernel, and channels enough: with fewer, transforming costs as much as it
// saves.
bool isOfItsKind(const ConvolutionShape &s) {
  constexpr std::int64_t fewest = 32;
  return s.in.size() == 2 && isAll(s.kernel, 3) && isAll(s.strides, 1) &&
         isAll(s.dilations, 1) && s.groups == 1 && s.inChannels % 16 == 0 &&
         s.outChannels % 16 == 0 &&
         std::min(s.inChannels, s.outChannels) >= fewest;
}

std::int64_t tilesOver(const ConvolutionShape &shape,
                       const Shape &resultField) {
  return shape.batch * tilesAlong(resultField[0]) * tilesAlong(resultField[1]);
}

constexpr std::int64_t fewTiles = 32;

// Tiles that outweigh the transformed weights, which leave the caches when
// channels are many.
std::int64_t leastTiles(const ConvolutionShape &s) {
  return std::max(fewTiles, std::min(s.inChannels, s.outChannels) / 4);
}

constexpr double nanosecondsPerProduct = 0.02;

} // namespace

bool isForWinograd(const ConvolutionShape &s, const Shape &resultField) {
  if (!isOfItsKind(s) || tilesOver(s, resultField) < leastTiles(s)) {
    return false;
  }
  // Of the factor 4 that a tile saves, what is left when tiles reach beyond the
  // image.
  constexpr double leastSaving = 1.6;
  const double saving =
      static_cast<double>(s.batch * support::elementCount(s.out)) /
      static_cast<double>(tileSize * tilesOver(s, resultField));
  return saving >= leastSaving;
}

bool isForFewTiles(const ConvolutionShape &s) {
  if (!isOfItsKind(s) || tilesOver(s, s.out) >= fewTiles) {
    return false;
  }
  // For each pair of channels.
  constexpr double nanosecondsPerWeights = 6;
  constexpr double leastSaving = 1.25;
  const double direct =
      nanosecondsPerProduct *
      static_cast<double>(9 * s.batch * support::elementCount(s.out));
  const double ours =
      nanosecondsPerWeights +
      nanosecondsPerProduct *
          static_cast<double>(winogradPlaces * tilesOver(s, s.out));
  return direct >= leastSaving * ours;
}

WinogradWay dataGradWay(const ConvolutionShape &s) {
  constexpr std::int64_t fewImages = 8;
  return isOfItsKind(s) && s.batch >= fewImages &&
                 tilesOver(s, s.out) < tilesOver(s, s.in)
             ? WinogradWay::Transposed
             : WinogradWay::Turned;
}

WinogradCall::WinogradCall(const Signature &signature,
                           const ConvolutionShape &s, WinogradWay chosen)
    : way(chosen) {
  constexpr std::int64_t taps = 9;
  const WinogradLoops::Weights exchanged{s.outChannels, s.inChannels,
                                         s.inChannels * taps, taps,
                                         way == WinogradWay::Turned};
  switch (way) {
  case WinogradWay::Forward:
    in = winogradField(s.in, s.inChannels, s.out, s.padLower[0], s.padLower[1]);
    out = winogradField(s.out, s.outChannels, s.out, 0, 0);
    weights = {s.inChannels, s.outChannels, taps, s.inChannels * taps, false};
    hasBias = signature.attributes.getInt("bias") != 0;
    hasRelu = signature.attributes.getString("activation") == "RELU";
    break;
  case WinogradWay::Turned:
    in = winogradField(s.out, s.outChannels, s.in, 2 - s.padLower[0],
                       2 - s.padLower[1]);
    out = winogradField(s.in, s.inChannels, s.in, 0, 0);
    weights = exchanged;
    break;
  case WinogradWay::Transposed:
    in = winogradField(s.out, s.outChannels, s.out, 0, 0);
    out =
        winogradField(s.in, s.inChannels, s.out, s.padLower[0], s.padLower[1]);
    weights = exchanged;
    break;
  }
}

WinogradLoops::Field winogradField(const Shape &field, std::int64_t channels,
                                   const Shape &resultField,
                                   std::int64_t padRows,
                                   std::int64_t padColumns) {
  return {.channels = channels,
          .rows = field[0],
          .columns = field[1],
          .tileRows = tilesAlong(resultField[0]),
          .tileColumns = tilesAlong(resultField[1]),
          .padRows = padRows,
          .padColumns = padColumns};
}

double winogradWork(const ConvolutionShape &shape, std::int64_t tiles) {
  return nanosecondsPerProduct *
         static_cast<double>(winogradPlaces * tiles * shape.inChannels *
                             shape.outChannels);
}

std::int64_t winogradShards(std::int64_t items, double work,
                            std::size_t bytes) {
  constexpr std::size_t mostBytes = 2 << 20;
  const auto most = std::max<std::size_t>(2, std::bit_floor(mostBytes / bytes));
  return shardCount(std::min(items, static_cast<std::int64_t>(most)), work);
}

} // namespace kernels
