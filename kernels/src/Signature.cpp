#include <kernels/Signature.hpp>

#include <support/Error.hpp>

#include <algorithm>

namespace kernels {

namespace {

std::int64_t blockSizeOf(Layout layout) {
  switch (layout) {
  case Layout::ChannelBlocked8:
  case Layout::WeightsInOut8:
  case Layout::WeightsOutIn8:
  case Layout::WeightsInMajor8:
  case Layout::WeightsOut8:
    return 8;
  default:
    return 16;
  }
}

// One of the nested arrays of a layout: all of a dimension, its blocks, or what
// is in a block.
struct Level {
  std::size_t dim;
  bool isInBlock = false;
};

// From the outermost on.
std::vector<Level> orderOf(Layout layout, std::size_t rank) {
  const auto order = [&](std::initializer_list<Level> first,
                         std::initializer_list<Level> last) {
    std::vector<Level> levels = first;
    for (std::size_t field = 2; field < rank; ++field) {
      levels.push_back({field});
    }
    levels.insert(levels.end(), last);
    return levels;
  };
  switch (layout) {
  case Layout::Plain:
    break;
  case Layout::BatchLanes16:
    return order({{0}, {1}}, {{0, true}});
  case Layout::ChannelBlocked16:
  case Layout::ChannelBlocked8:
    return order({{0}, {1}}, {{1, true}});
  case Layout::WeightsInOut16:
  case Layout::WeightsInOut8:
    return order({{0}, {1}}, {{1, true}, {0, true}});
  case Layout::WeightsOutIn16:
  case Layout::WeightsOutIn8:
    return order({{0}, {1}}, {{0, true}, {1, true}});
  case Layout::WeightsInMajor16:
  case Layout::WeightsInMajor8:
    return order({{1}, {0}}, {{0, true}, {1, true}});
  case Layout::WeightsOut16:
  case Layout::WeightsOut8:
    return order({{0}}, {{1}, {0, true}});
  case Layout::Columns16:
    return order({{1}, {0}}, {{1, true}});
  case Layout::StackedColumns16:
    return {{0}, {2}, {1}, {2, true}};
  }
  return {};
}

std::int64_t blocksOf(std::int64_t extent, std::int64_t size) {
  return (extent + size - 1) / size;
}

} // namespace

std::optional<std::size_t> paddedDim(Layout layout) {
  switch (layout) {
  case Layout::BatchLanes16:
    return 0;
  case Layout::Columns16:
    return 1;
  default:
    return std::nullopt;
  }
}

bool isLayoutFor(Layout layout, std::span<const std::int64_t> shape) {
  if (layout == Layout::Plain) {
    return true;
  }
  if (paddedDim(layout)) {
    return shape.size() == (layout == Layout::BatchLanes16 ? 4 : 2);
  }
  if (shape.size() < 2 ||
      (layout == Layout::StackedColumns16 && shape.size() != 3)) {
    return false;
  }
  const auto levels = orderOf(layout, shape.size());
  const std::int64_t size = blockSizeOf(layout);
  return std::all_of(levels.begin(), levels.end(), [&](const Level &level) {
    return !level.isInBlock || shape[level.dim] % size == 0;
  });
}

std::int64_t storageElements(Layout layout,
                             std::span<const std::int64_t> shape) {
  support::requireInternal(isLayoutFor(layout, shape),
                           "layout {} is not for shape {}",
                           static_cast<int>(layout), support::toString(shape));
  Shape stored(shape.begin(), shape.end());
  if (const auto dim = paddedDim(layout)) {
    const std::int64_t size = blockSizeOf(layout);
    stored[*dim] = blocksOf(stored[*dim], size) * size;
  }
  return support::elementCount(stored);
}

std::vector<DimPlace> placesOf(const OperandSpec &operand) {
  std::vector<DimPlace> places(operand.shape.size());
  if (operand.layout == Layout::Plain) {
    for (std::size_t d = 0; d < places.size(); ++d) {
      places[d].outer = operand.strides[d];
    }
    return places;
  }
  auto levels = orderOf(operand.layout, places.size());
  std::reverse(levels.begin(), levels.end());
  const std::int64_t size = blockSizeOf(operand.layout);
  std::int64_t stride = 1;
  for (const Level &level : levels) {
    DimPlace &place = places[level.dim];
    if (level.isInBlock) {
      place.block = size;
      place.inner = stride;
      stride *= size;
    } else {
      place.outer = stride;
      const std::int64_t extent = operand.shape[level.dim];
      stride *= place.block > 1 ? blocksOf(extent, size) : extent;
    }
  }
  return places;
}

} // namespace kernels
