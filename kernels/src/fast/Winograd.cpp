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

} // namespace

bool isForWinograd(const ConvolutionShape &s, const Shape &resultField) {
  // With fewer channels, transforming costs as much as it saves.
  constexpr std::int64_t fewest = 32;
  if (s.in.size() != 2 || !isAll(s.kernel, 3) || !isAll(s.strides, 1) ||
      !isAll(s.dilations, 1) || s.groups != 1 || s.inChannels % 16 != 0 ||
      s.outChannels % 16 != 0 ||
      std::min(s.inChannels, s.outChannels) < fewest) {
    return false;
  }
  // Of the factor 4 that a tile saves, what is left when tiles reach beyond the
  // image; and tiles enough to outweigh the transformed weights, which leave
  // the caches when channels are many.
  constexpr double leastSaving = 1.6;
  const std::int64_t leastTiles =
      std::max<std::int64_t>(32, std::min(s.inChannels, s.outChannels) / 4);
  const std::int64_t tiles =
      tilesAlong(resultField[0]) * tilesAlong(resultField[1]);
  const double saving = static_cast<double>(support::elementCount(s.out)) /
                        static_cast<double>(tileSize * tiles);
  return saving >= leastSaving && s.batch * tiles >= leastTiles;
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
  constexpr double nanosecondsPerProduct = 0.02;
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
