#include "Winograd.hpp"

#include <algorithm>
#include <bit>

namespace kernels {

namespace {

constexpr std::int64_t tileSize = 4;

std::int64_t tilesOf(const Shape &field) {
  std::int64_t tiles = 1;
  for (const std::int64_t size : field) {
    tiles *= (size + tileSize - 1) / tileSize;
  }
  return tiles;
}

bool isAll(const Shape &field, std::int64_t value) {
  return std::all_of(field.begin(), field.end(),
                     [&](std::int64_t size) { return size == value; });
}

bool isTaken(const ConvolutionShape &s) {
  // With fewer channels, transforming costs as much as it saves.
  constexpr std::int64_t fewest = 32;
  return s.in.size() == 2 && isAll(s.kernel, 3) && isAll(s.strides, 1) &&
         isAll(s.dilations, 1) && s.groups == 1 && s.inChannels % 16 == 0 &&
         s.outChannels % 16 == 0 &&
         std::min(s.inChannels, s.outChannels) >= fewest;
}

bool isAvailable(const ConvolutionShape &shape, Direction direction) {
  const SingleThread single;
  const DnnlShape parameters(shape, Method::Winograd);
  const auto forward = parameters.forward(false, false);
  if (!forward || direction == Direction::Forward) {
    return static_cast<bool>(forward);
  }
  return direction == Direction::DataGrad
             ? static_cast<bool>(parameters.dataGrad())
             : static_cast<bool>(parameters.weightGrad());
}

} // namespace

std::int64_t winogradParts(const ConvolutionShape &shape, Direction direction) {
  if (!isTaken(shape)) {
    return 0;
  }
  const std::int64_t tiles =
      tilesOf(direction == Direction::DataGrad ? shape.in : shape.out);
  // Of the factor 4 that a tile saves, what is left when tiles reach beyond the
  // image. Transforming takes the rest where it is less than this.
  constexpr double leastSaving = 2.5;
  const double saving = static_cast<double>(support::elementCount(shape.out)) /
                        static_cast<double>(tileSize * tiles);
  // Every part transforms the weights again, which its tiles must outweigh, and
  // has memory of its own for what is transformed.
  constexpr std::int64_t leastTiles = 32;
  constexpr std::int64_t mostParts = 4;
  const auto parts = static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::min(
          {mostParts, shape.batch, shape.batch * tiles / leastTiles}))));
  return saving >= leastSaving && parts > 1 && isAvailable(shape, direction)
             ? parts
             : 0;
}

} // namespace kernels
