// Linear mappings against the worked examples of the specification, and views'
// shares against mappings counted element by element.
#include <poputil/TileMapping.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/internal/Tiles.hpp>

#include <gtest/gtest.h>

#include <map>

namespace {

using poplar::FLOAT;
using poplar::Graph;
using poplar::HALF;
using poplar::Target;

std::vector<std::size_t> sizes(const Graph::TileToTensorMapping &mapping) {
  std::vector<std::size_t> result;
  for (const auto &intervals : mapping) {
    std::size_t size = 0;
    for (const auto &interval : intervals) {
      size += interval.size();
    }
    if (size != 0) {
      result.push_back(size);
    }
  }
  return result;
}

Target tiles(unsigned count) {
  return Target::createIPUTarget(1, count, "ipu2");
}

TEST(LinearMapping, SpreadsEvenlyOverFewTiles) {
  const auto mapping =
      poputil::calcLinearTileMapping(tiles(4), {784, 1}, FLOAT);
  EXPECT_EQ(sizes(mapping), (std::vector<std::size_t>{196, 196, 196, 196}));
}

TEST(LinearMapping, KeepsSmallTensorsOnOneTile) {
  const auto mapping = poputil::calcLinearTileMapping(tiles(4), {10, 1}, FLOAT);
  EXPECT_EQ(sizes(mapping), (std::vector<std::size_t>{10}));
}

TEST(LinearMapping, GivesEachTileAtLeast128Bytes) {
  const auto mapping =
      poputil::calcLinearTileMapping(tiles(1472), {40, 50}, FLOAT);
  std::map<std::size_t, unsigned> histogram;
  for (const auto size : sizes(mapping)) {
    ++histogram[size];
  }
  // 1,000 grains on 59 tiles: 56 tiles of 17 grains, 3 of 16.
  EXPECT_EQ(histogram, (std::map<std::size_t, unsigned>{{32, 3}, {34, 56}}));
}

TEST(LinearMapping, OffsetsWrapAround) {
  const auto mapping = poputil::calcLinearTileMapping(tiles(4), {64}, 0, 16, 3);
  EXPECT_EQ(mapping[3].front().begin(), 0u);
  EXPECT_EQ(mapping[0].front().begin(), 16u);
  const auto down =
      poputil::calcLinearTileMapping(tiles(4), {64}, 0, 16, 1, false);
  EXPECT_EQ(down[2].front().begin(), 0u);
  EXPECT_EQ(down[3].front().begin(), 48u);
}

TEST(LinearMapping, TensorsGetTheComputedMapping) {
  Graph graph(tiles(1472));
  const auto tensor = graph.addVariable(FLOAT, {40, 50}, "t");
  poputil::mapTensorLinearly(graph, tensor);
  EXPECT_EQ(graph.getTileMapping(tensor),
            poputil::calcLinearTileMapping(tiles(1472), {40, 50}, FLOAT));
  const auto &data = poplar::internal::graphData(graph);
  EXPECT_EQ(data.variables[0].mapping.pieces().size(), 1u);
}

// 0x9e3779b9 hashed with 2 and 3 by Boost 1.74's hash_range, mod 1472.
TEST(MappingOffset, IsAHashOfTheShape) {
  EXPECT_EQ(poputil::chooseMappingOffset(1472, {2, 3}), 533u);
  EXPECT_EQ(poputil::chooseMappingOffset(1472, {}), 0x9e3779b9u % 1472);
}

TEST(LinearMapping, ReturnsWhereTheNextTensorMayStart) {
  Graph graph(tiles(8));
  const auto tensor = graph.addVariable(FLOAT, {64}, "t");
  const auto [mapping, next] =
      poputil::calcLinearTileMappingAndNewOffset(graph, tensor, 7);
  EXPECT_EQ(mapping[7].front().size(), 32u);
  EXPECT_EQ(mapping[0].front().size(), 32u);
  EXPECT_EQ(next, 1u);
}

TEST(TileImbalance, CountsElementsAboveABalancedSpread) {
  EXPECT_EQ(poputil::getTileImbalance({{{0, 10}}, {{10, 20}}}), 0u);
  EXPECT_EQ(poputil::getTileImbalance({{{0, 15}}, {{15, 20}}}), 5u);
}

TEST(TileShares, MatchTheMappingOfSlices) {
  using poputil::internal::TileShare;
  Graph graph(tiles(8));
  const auto tensor = graph.addVariable(FLOAT, {64}, "t");
  poputil::mapTensorLinearly(graph, tensor, 0, 2);
  EXPECT_EQ(poputil::internal::sharesOf(graph, tensor),
            (std::vector<TileShare>{{{0, 8}, 8}}));
  EXPECT_EQ(poputil::internal::sharesOf(graph, tensor.slice(20, 22)),
            (std::vector<TileShare>{{{2, 1}, 2}}));
  const auto halves = concat(tensor.slice(0, 32), tensor.slice(0, 32));
  EXPECT_EQ(poputil::internal::sharesOf(graph, halves),
            (std::vector<TileShare>{{{0, 4}, 16}}));
}

TEST(TileRanges, AreTheIpusThatHoldATensor) {
  using poputil::internal::TileRange;
  Graph graph(Target::createIPUTarget(4, 100, "ipu2"));
  const auto tensor = graph.addVariable(HALF, {50}, "t");
  graph.setTileMapping(tensor, 230);
  EXPECT_EQ(poputil::internal::tilesOf(graph, tensor), (TileRange{200, 100}));
  const auto result = poputil::internal::addLinearVariable(
      graph, {support::DataType::Float, {1000}}, {200, 100}, "y");
  EXPECT_EQ(poputil::internal::tilesOf(graph, result), (TileRange{200, 100}));
}

} // namespace
