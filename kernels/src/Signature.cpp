#include <kernels/Signature.hpp>

#include <support/Error.hpp>

#include <algorithm>

namespace kernels {

namespace {

constexpr std::int64_t blockSize = 16;

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
    return order({{0}, {1}}, {{1, true}});
  case Layout::WeightsInOut16:
    return order({{0}, {1}}, {{1, true}, {0, true}});
  case Layout::WeightsOutIn16:
    return order({{0}, {1}}, {{0, true}, {1, true}});
  case Layout::WeightsInMajor16:
    return order({{1}, {0}}, {{0, true}, {1, true}});
  case Layout::WeightsOut16:
    return order({{0}}, {{1}, {0, true}});
  case Layout::Columns16:
    return order({{1}, {0}}, {{1, true}});
  }
  return {};
}

std::int64_t blocksOf(std::int64_t extent) {
  return (extent + blockSize - 1) / blockSize;
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
  if (shape.size() < 2) {
    return false;
  }
  const auto levels = orderOf(layout, shape.size());
  return std::all_of(levels.begin(), levels.end(), [&](const Level &level) {
    return !level.isInBlock || shape[level.dim] % blockSize == 0;
  });
}

std::int64_t storageElements(Layout layout,
                             std::span<const std::int64_t> shape) {
  support::requireInternal(isLayoutFor(layout, shape),
                           "layout {} is not for shape {}",
                           static_cast<int>(layout), support::toString(shape));
  Shape stored(shape.begin(), shape.end());
  if (const auto dim = paddedDim(layout)) {
    stored[*dim] = blocksOf(stored[*dim]) * blockSize;
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
  std::int64_t stride = 1;
  for (const Level &level : levels) {
    DimPlace &place = places[level.dim];
    if (level.isInBlock) {
      place.block = blockSize;
      place.inner = stride;
      stride *= blockSize;
    } else {
      place.outer = stride;
      const std::int64_t extent = operand.shape[level.dim];
      stride *= place.block > 1 ? blocksOf(extent) : extent;
    }
  }
  return places;
}

} // namespace kernels
