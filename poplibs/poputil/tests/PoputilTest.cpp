// Broadcasting and vertex names.
#include <poputil/Broadcast.hpp>
#include <poputil/VertexTemplates.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Phases.hpp>
#include <poputil/internal/Tiles.hpp>

#include <poplar/Graph.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using poplar::FLOAT;

poplar::Graph graphOf(unsigned tiles) {
  return poplar::Graph(poplar::Target::createIPUTarget(1, tiles, "ipu2"));
}

TEST(Broadcast, AlignsShapesAtTheRight) {
  auto graph = graphOf(4);
  auto a = graph.addVariable(FLOAT, {3, 1, 5}, "a");
  auto b = graph.addVariable(FLOAT, {4, 1}, "b");
  ASSERT_TRUE(poputil::canBroadcastToMatch(a, b));
  poputil::broadcastToMatch(a, b);
  EXPECT_EQ(a.shape(), (std::vector<std::size_t>{3, 4, 5}));
  EXPECT_EQ(b.shape(), (std::vector<std::size_t>{3, 4, 5}));
}

TEST(Broadcast, NamesTheDimensionThatDiffers) {
  auto graph = graphOf(4);
  auto a = graph.addVariable(FLOAT, {3, 4}, "a");
  auto b = graph.addVariable(FLOAT, {2, 4}, "b");
  EXPECT_FALSE(poputil::canBroadcastToMatch(a, b));
  try {
    poputil::broadcastToMatch(a, b);
    FAIL() << "shapes {3,4} and {2,4} were matched";
  } catch (const poputil::poplibs_error &error) {
    EXPECT_STREQ(error.what(), "Cannot broadcast tensors to match dimension 0");
  }
}

TEST(TemplateVertex, SpellsTypesBooleansAndText) {
  EXPECT_EQ(poputil::templateVertex("Plain"), "Plain");
  EXPECT_EQ(poputil::templateVertex("V", FLOAT, poplar::UNSIGNED_INT, true, 3,
                                    "ns::E::X", std::string("Y")),
            "V<float,unsigned int,true,3,ns::E::X,Y>");
}

unsigned firstTileOf(const poplar::Graph &graph, const poplar::Tensor &tensor) {
  const auto mapping = graph.getTileMapping(tensor);
  const auto first =
      std::find_if(mapping.begin(), mapping.end(),
                   [](const auto &tile) { return !tile.empty(); });
  return static_cast<unsigned>(first - mapping.begin());
}

TEST(LinearVariables, TakeTurnsWhereTheyAreSmallAndAreAskedTo) {
  auto graph = graphOf(16);
  const auto firstOf = [&](std::int64_t elements) {
    return firstTileOf(graph, poputil::internal::addLinearVariable(
                                  graph, {support::DataType::Float, {elements}},
                                  {0, 16}, "v"));
  };
  EXPECT_EQ(firstOf(64), 0u); // two tiles of 32 elements
  EXPECT_EQ(firstOf(64), 0u);
  poputil::internal::takeTurns(graph);
  EXPECT_EQ(firstOf(128), 0u);
  EXPECT_EQ(firstOf(96), 4u);
  EXPECT_EQ(firstOf(512), 0u); // all tiles
  EXPECT_EQ(firstOf(128), 7u);
  poputil::internal::takeTurns(graph); // once more changes nothing
  EXPECT_EQ(firstOf(128), 11u);
  EXPECT_EQ(firstOf(64), 0u); // one tile is left
}

TEST(PhaseBuilder, CutsOverlappingRangesIntoRuns) {
  poputil::internal::PhaseBuilder builder("p");
  builder.addVertex({10, 20}, poputil::internal::supervisorVertex("v", 100, 2));
  builder.receive({20, 20}, 64);
  const auto phase = builder.build();
  ASSERT_EQ(phase.runs.size(), 3u);
  EXPECT_EQ(phase.runs[1].firstTile, 20u);
  EXPECT_EQ(phase.runs[1].tileCount, 10u);
  EXPECT_EQ(phase.runs[1].bytesIn, 64u);
  EXPECT_EQ(phase.runs[1].vertices.size(), 1u);
  EXPECT_EQ(phase.runs[2].vertices.size(), 0u);
}

} // namespace
