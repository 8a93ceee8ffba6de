// Virtual graphs: their own tile numbers over the variables and vertices of one
// graph.
#include "ExpectError.hpp"
#include "HandMadeVertices.hpp"

#include <poplar/Graph.hpp>
#include <poplar/internal/Access.hpp>

#include <gtest/gtest.h>

#include <map>

namespace {

using namespace poplar;
using internal::graphData;

class GraphVirtual : public testing::Test {
protected:
  // Two IPUs of 8 tiles.
  Graph graph{Target::createIPUTarget(2, 8, "ipu2")};

  // The top-level tile of each element.
  std::vector<unsigned> tilesOf(const Tensor &tensor) {
    std::vector<unsigned> tiles(tensor.numElements(), 99);
    const auto mapping = graph.getTileMapping(tensor, false);
    for (unsigned tile = 0; tile < mapping.size(); ++tile) {
      for (const Interval &interval : mapping[tile]) {
        for (std::size_t i = interval.begin(); i < interval.end(); ++i) {
          tiles[i] = tile;
        }
      }
    }
    return tiles;
  }
};

using Tiles = std::vector<unsigned>;

TEST_F(GraphVirtual, SelectTilesInThreeWays) {
  Graph few = graph.createVirtualGraph(3);
  EXPECT_EQ(few.getTarget().getNumTiles(), 6U);
  EXPECT_EQ(few.getTarget().getTilesPerIPU(), 3U);
  EXPECT_EQ(few.convertTileToTopLevelGraphTile(2), 2U);
  EXPECT_EQ(few.convertTileToTopLevelGraphTile(3), 8U);
  EXPECT_EQ(few.convertTopLevelGraphTileToTile(10), 5U);
  EXPECT_EQ(few.convertVirtualTileToPhysicalTile(5), 10U);
  EXPECT_EQ(few.convertPhysicalTileToVirtualTile(8), 3U);

  Graph range = graph.createVirtualGraph(10, 13);
  EXPECT_EQ(range.getTarget().getNumIPUs(), 1U);
  EXPECT_EQ(range.getTarget().getNumTiles(), 3U);
  EXPECT_EQ(range.convertTileToTopLevelGraphTile(1), 11U);
  EXPECT_EQ(graph.createVirtualGraph(0, 16).getTarget().getNumIPUs(), 2U);

  Graph listed = graph.createVirtualGraph({6, 1});
  EXPECT_EQ(listed.getTarget().getNumTiles(), 4U);
  EXPECT_EQ(listed.convertTileToTopLevelGraphTile(0), 6U);
  EXPECT_EQ(listed.convertTileToTopLevelGraphTile(3), 9U);
  EXPECT_EQ(listed.getTopLevelGraph().getTarget(), graph.getTarget());

  Graph nested = range.createVirtualGraph(1, 3);
  EXPECT_EQ(nested.convertTileToTopLevelGraphTile(0), 11U);
  EXPECT_EQ(nested.getTopLevelGraph().getTarget().getNumTiles(), 16U);
}

TEST_F(GraphVirtual, RefuseTilesThatAreNotThere) {
  expectError<poplar_error>([&] { graph.createVirtualGraph(9); }, "9 tiles",
                            "8");
  expectError<poplar_error>([&] { graph.createVirtualGraph(4, 17); }, "[4,17)",
                            "16 tiles");
  expectError<poplar_error>([&] { graph.createVirtualGraph(4, 12); }, "[4,12)",
                            "one IPU");
  expectError<poplar_error>(
      [&] {
        graph.createVirtualGraph({1, 8});
      },
      "tile 8");
  expectError<poplar_error>(
      [&] {
        graph.createVirtualGraph({1, 1});
      },
      "tile 1");
  Graph few = graph.createVirtualGraph(3);
  expectError<index_error>([&] { few.convertTileToTopLevelGraphTile(6); }, "6");
  expectError<index_error>([&] { few.convertTopLevelGraphTileToTile(3); }, "3");
  Tensor t = few.addVariable(FLOAT, {4});
  expectError<invalid_tile_mapping>([&] { few.setTileMapping(t, 6); }, "tile 6",
                                    "6 tiles");
}

TEST_F(GraphVirtual, MapTensorsByTheirOwnNumbers) {
  Graph odd = graph.createVirtualGraph({1, 3});
  Tensor t = odd.addVariable(FLOAT, {4}, "t");
  odd.setTileMapping(t, {{{0, 1}}, {{1, 2}}, {{2, 3}}, {{3, 4}}});
  EXPECT_EQ(tilesOf(t), (Tiles{1, 3, 9, 11}));
  odd.setTileMapping(t[0], 3);
  EXPECT_EQ(tilesOf(t), (Tiles{11, 3, 9, 11}));
  const auto own = odd.getTileMapping(t);
  ASSERT_EQ(own.size(), 4U);
  EXPECT_TRUE(own[0].empty());
  EXPECT_EQ(own[1], (std::vector<Interval>{{1, 2}}));
  EXPECT_EQ(own[3], (std::vector<Interval>{{0, 1}, {3, 4}}));

  graph.setTileMapping(t[1], 5);
  expectError<invalid_tile_mapping>([&] { odd.getTileMapping(t); }, "element 1",
                                    "top-level tile 5");
  EXPECT_TRUE(odd.getTileMapping(t, true, true)[1].empty());
  EXPECT_EQ(tilesOf(odd.clone(t)), tilesOf(t));
}

TEST_F(GraphVirtual, SpreadVariablesOverTheirTiles) {
  Graph odd = graph.createVirtualGraph({1, 2, 5});
  Tensor t =
      odd.addVariable(FLOAT, {7}, VariableMappingMethod::LINEAR, "linear");
  // Seven elements over six tiles, as floor(i * 7 / 6) cuts them.
  EXPECT_EQ(tilesOf(t), (Tiles{1, 2, 5, 9, 10, 13, 13}));
  Tensor u = odd.addVariable(FLOAT, {6});
  internal::setLinearMapping(odd, u, {0, 6, 0, 2, 1});
  EXPECT_EQ(tilesOf(u), (Tiles{1, 1, 1, 2, 2, 2}));
}

TEST_F(GraphVirtual, PlaceVerticesAndOperations) {
  Graph odd = graph.createVirtualGraph({1, 2, 5});
  internal::addCodeletFile(graph, test::handMadeCodelets());
  ComputeSet computeSet = odd.addComputeSet("cs");
  VertexRef vertex = odd.addVertex(computeSet, "Add");
  odd.setTileMapping(vertex, 4);
  EXPECT_EQ(graphData(graph).vertices.vertices[0].tile, 10U);

  Tensor t = odd.addVariable(FLOAT, {2});
  internal::VertexGroup group;
  group.kind = &kernels::findKind("fill");
  group.attributes = {
      {"type", static_cast<std::int64_t>(support::DataType::Float)},
      {"shape", kernels::Attributes::Ints{2}},
      {"value", 1.0}};
  group.outputs = {internal::tensorView(t)};
  internal::TileRun run;
  run.firstTile = 1;
  run.tileCount = 4;
  run.bytesIn = 7;
  group.phases = {{"Fill", {run}}};
  internal::addGroup(odd, computeSet, group);
  const auto &runs =
      graphData(graph).computeSets[0].groups.at(0).phases.at(0).runs;
  std::map<unsigned, unsigned> stretches; // first tile to count
  for (const internal::TileRun &part : runs) {
    stretches[part.firstTile] = part.tileCount;
    EXPECT_EQ(part.bytesIn, 7U);
  }
  EXPECT_EQ(stretches, (std::map<unsigned, unsigned>{{2, 1}, {5, 1}, {9, 2}}));
}

TEST_F(GraphVirtual, ReplicaIndexIsAConstant) {
  Tensor index = graph.addReplicationIndexConstant("replica");
  EXPECT_EQ(index.elementType(), UNSIGNED_INT);
  EXPECT_EQ(index.rank(), 0U);
  EXPECT_TRUE(index.containsConstant());
  EXPECT_TRUE(graphData(graph).variables.back().isReplicaIndex);
  const VariableRef variable = index.getVarRegions().at(0).var;
  EXPECT_TRUE(graph.isConstant(variable));
  EXPECT_EQ(graph.getVariable(variable), index);
  expectError<index_error>([&] { graph.getVariable(VariableRef(7)); }, "7");
}

} // namespace
