// Clones on other IPUs, broadcast operands and mappings by use.
#include <poputil/TileMapping.hpp>

#include "../../testing/TestProgram.hpp"

#include <poputil/exceptions.hpp>

#include <gtest/gtest.h>

namespace {

using poplar::FLOAT;
using poplar::Graph;
using poplar::Target;

Graph graphOf(unsigned ipus, unsigned tiles) {
  return Graph(Target::createIPUTarget(ipus, tiles, "ipu2"));
}

// The tile of each element.
std::vector<unsigned> tilesOf(const Graph &graph, const poplar::Tensor &t) {
  std::vector<unsigned> tiles(t.numElements(), ~0U);
  const auto mapping = graph.getTileMapping(t);
  for (unsigned tile = 0; tile < mapping.size(); ++tile) {
    for (const auto &region : mapping[tile]) {
      for (auto i = region.begin(); i < region.end(); ++i) {
        tiles[i] = tile;
      }
    }
  }
  return tiles;
}

TEST(CloneToIpu, KeepsTheTileWithinTheIpu) {
  auto graph = graphOf(2, 4);
  const auto t = graph.addVariable(FLOAT, {3}, "t");
  graph.setTileMapping(t.slice(0, 1), 0);
  graph.setTileMapping(t.slice(1, 2), 3);
  graph.setTileMapping(t.slice(2, 3), 5);
  const auto clone = poputil::cloneToIpu(graph, t, 1);
  EXPECT_EQ(tilesOf(graph, clone), (std::vector<unsigned>{4, 7, 5}));
  EXPECT_THROW(poputil::cloneToIpu(graph, t, 2), poputil::poplibs_error);
}

TEST(CloneToIpu, TakesTransposedAndRepeatedViews) {
  auto graph = graphOf(2, 4);
  const auto t = graph.addVariable(FLOAT, {2, 2}, "t");
  graph.setTileMapping(t[0], 1);
  graph.setTileMapping(t[1], 2);
  EXPECT_EQ(tilesOf(graph, poputil::cloneToIpu(graph, t.transpose(), 1)),
            (std::vector<unsigned>{5, 6, 5, 6}));
  const auto wide = t[0].broadcast(2, 0);
  EXPECT_EQ(tilesOf(graph, poputil::cloneToIpu(graph, wide, 1)),
            (std::vector<unsigned>{5, 5, 5, 5}));
}

TEST(CreateIpuCopy, CopiesRepeatedElementsOnce) {
  auto graph = graphOf(2, 4);
  const auto t = graph.addVariable(FLOAT, {2}, "t");
  graph.setTileMapping(t, 1);
  poplar::Tensor source, destination;
  const auto clone =
      poputil::createIpuCopy(graph, t.broadcast(3, 0), 1, source, destination);
  EXPECT_EQ(clone.shape(), (std::vector<std::size_t>{6}));
  EXPECT_EQ(source.numElements(), 2u);
  EXPECT_EQ(destination.numElements(), 2u);
}

TEST(CloneToGraph, UsesTheSameTileNumbers) {
  auto graph = graphOf(1, 8);
  auto upper = graph.createVirtualGraph(4, 8);
  const auto t = graph.addVariable(FLOAT, {2}, "t");
  graph.setTileMapping(t, 2);
  const auto clone = poputil::cloneToGraph(graph, upper, t);
  EXPECT_EQ(tilesOf(graph, clone), (std::vector<unsigned>{6, 6}));
  graph.setTileMapping(t, 5);
  EXPECT_THROW(poputil::cloneToGraph(graph, upper, t), poputil::poplibs_error);
}

TEST(CopyToIpu, CopiesValues) {
  TestProgram p;
  const auto t = p.input({2, 2}, {1, 2, 3, 4});
  const auto copy = poputil::copyToIpu(p.graph, t.transpose(), p.prog, 0);
  EXPECT_EQ(p.run<float>(copy), (std::vector<float>{1, 3, 2, 4}));
}

TEST(CloneAndExpandAliasing, GivesRepeatedElementsTilesOfTheirOwn) {
  auto graph = graphOf(1, 8);
  const auto t = graph.addVariable(FLOAT, {1}, "t");
  graph.setTileMapping(t, 3);
  const auto [clone, next] =
      poputil::cloneAndExpandAliasing(graph, t.broadcast(3, 0), 6);
  EXPECT_FALSE(clone.containsAliases());
  EXPECT_EQ(tilesOf(graph, clone), (std::vector<unsigned>{3, 6, 6}));
  EXPECT_EQ(next, 7u);
}

TEST(CreateBroadcastOperand, StaysOnTheTilesOfTheTensor) {
  auto graph = graphOf(1, 8);
  const auto full = graph.addVariable(FLOAT, {5, 4}, "full");
  graph.setTileMapping(full.slice(0, 2), 2);
  graph.setTileMapping(full.slice(2, 5), 6);
  const auto operand = poputil::createBroadcastOperand(graph, full, FLOAT, 1);
  EXPECT_EQ(tilesOf(graph, operand), (std::vector<unsigned>{2, 2, 6, 6}));
  EXPECT_THROW(poputil::createBroadcastOperand(graph, full, FLOAT, 2),
               poputil::poplibs_error);
}

TEST(DimIsSplit, LooksAtTilesAndIpus) {
  auto graph = graphOf(2, 4);
  const auto t = graph.addVariable(FLOAT, {2, 4}, "t");
  graph.setTileMapping(t[0], 0);
  graph.setTileMapping(t[1], 1);
  EXPECT_TRUE(poputil::dimIsSplitOverTiles(graph, t, 0));
  EXPECT_FALSE(poputil::dimIsSplitOverTiles(graph, t, 1));
  EXPECT_FALSE(poputil::dimIsSplitOverIPUs(graph, t, 0));
  graph.setTileMapping(t[1], 4);
  EXPECT_TRUE(poputil::dimIsSplitOverIPUs(graph, t, 0));
}

TEST(TransformTileIndex, IsUndoneByItsInverse) {
  EXPECT_EQ(poputil::transformTileIndex(1, 4, 3, true), 0u);
  EXPECT_EQ(poputil::transformTileIndex(0, 4, 1, false), 2u);
  for (unsigned tile = 0; tile < 4; ++tile) {
    EXPECT_EQ(poputil::invTransformTileIndex(
                  poputil::transformTileIndex(tile, 4, 3, false), 4, 3, false),
              tile);
  }
}

TEST(TensorUseTracker, MapsElementsToTilesThatUseThem) {
  auto graph = graphOf(1, 8);
  const auto t = graph.addVariable(FLOAT, {8}, "t");
  poputil::TensorUseTracker tracker(8);
  EXPECT_TRUE(tracker.empty());
  tracker.add(graph, 5, t.slice(0, 6)); // [2, 6) is used by both
  tracker.add(graph, 2, t.slice(2, 8));
  tracker.mapTensorsByUse(graph, 1, 0);
  EXPECT_EQ(tilesOf(graph, t), (std::vector<unsigned>{5, 5, 2, 2, 5, 5, 2, 2}));
}

TEST(TensorUseTracker, ExtendsToWhatNothingUses) {
  auto graph = graphOf(1, 8);
  const auto t = graph.addVariable(FLOAT, {4}, "t");
  poputil::TensorUseTracker tracker(8);
  tracker.add(graph, 3, t.slice(1, 2));
  auto copy = tracker;
  copy.mapTensorsByUse(graph, 1, 0, true);
  EXPECT_EQ(tilesOf(graph, t), (std::vector<unsigned>{3, 3, 3, 3}));
}

} // namespace
