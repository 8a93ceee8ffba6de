// Tile mappings against a naive map from elements to tiles.
#include "ExpectError.hpp"

#include <poplar/Graph.hpp>
#include <poplar/internal/Access.hpp>

#include <gtest/gtest.h>

#include <random>

using namespace poplar;
using internal::MappingPiece;
using internal::TileMapping;

namespace {

constexpr int unmapped = -1;

// What part p of a piece holds, straight from the rule of MappingPiece.
void setNaively(std::vector<int> &tiles, const MappingPiece &piece) {
  std::int64_t grains =
      (piece.end - piece.begin + piece.grain - 1) / piece.grain;
  for (std::int64_t p = 0; p < piece.parts; ++p) {
    for (std::int64_t g = p * grains / piece.parts;
         g < (p + 1) * grains / piece.parts; ++g) {
      for (std::int64_t i = 0; i < piece.grain; ++i) {
        std::int64_t element = piece.begin + g * piece.grain + i;
        if (element < piece.end) {
          tiles[std::size_t(element)] = int(piece.firstTile + p);
        }
      }
    }
  }
}

// The tiles of elements [begin, end) of a mapping.
std::vector<int> expand(const TileMapping &mapping, std::int64_t begin,
                        std::int64_t end) {
  std::vector<int> tiles(std::size_t(end - begin), unmapped);
  for (const auto &range : mapping.ranges(begin, end)) {
    EXPECT_TRUE(begin <= range.begin && range.begin < range.end &&
                range.end <= end);
    for (auto i = range.begin; i < range.end; ++i) {
      tiles[std::size_t(i - begin)] = int(range.tile);
    }
  }
  return tiles;
}

// Disjoint pieces of [0, elements) in random order.
std::vector<MappingPiece> randomPieces(std::mt19937 &random,
                                       std::int64_t elements) {
  auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  std::vector<MappingPiece> pieces;
  std::int64_t begin = pick(0, elements - 1);
  do {
    std::int64_t end = pick(begin + 1, elements);
    pieces.push_back(
        {begin, end, unsigned(pick(0, 5)), unsigned(pick(1, 7)), pick(1, 4)});
    begin = end + pick(0, 5);
  } while (begin < elements && pick(0, 2) > 0);
  std::shuffle(pieces.begin(), pieces.end(), random);
  return pieces;
}

TEST(TileMapping, RandomOverridesMatchTheNaiveMap) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const std::int64_t elements = 1 + std::int64_t(random() % 60);
    std::vector<int> expected(std::size_t(elements), unmapped);
    TileMapping mapping;
    for (int i = 0; i < 8; ++i) {
      auto pieces = randomPieces(random, elements);
      mapping.set(pieces);
      for (const MappingPiece &piece : pieces) {
        setNaively(expected, piece);
      }
      ASSERT_EQ(expand(mapping, 0, elements), expected)
          << "seed " << seed << " step " << i;
      auto begin = std::int64_t(random() % std::uint64_t(elements));
      ASSERT_EQ(expand(mapping, begin, elements),
                std::vector<int>(expected.begin() + begin, expected.end()));
      auto first = std::find(expected.begin(), expected.end(), unmapped);
      ASSERT_EQ(mapping.firstUnmapped(elements),
                first == expected.end() ? -1 : first - expected.begin());
    }
  }
}

// Column by column: nothing may be moved for each of them.
TEST(TileMapping, ElementsSetOutOfOrderTakeTimeInProportion) {
  constexpr std::int64_t rows = 100000, columns = 7;
  TileMapping mapping;
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t element = i * columns + j;
      mapping.set({element, element + 1, unsigned(j), 1, 1});
    }
  }
  EXPECT_EQ(mapping.firstUnmapped(rows * columns), -1);
  EXPECT_EQ(expand(mapping, 7, 14), (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(TileMapping, EqualSharesSetOneByOneBecomeOnePiece) {
  TileMapping mapping;
  for (unsigned tile = 0; tile < 1472; ++tile) {
    mapping.set({tile * 10, tile * 10 + 10, tile, 1, 1});
  }
  ASSERT_EQ(mapping.pieces().size(), 1U);
  EXPECT_EQ(mapping.pieces()[0], (MappingPiece{0, 14720, 0, 1472, 10}));
}

TEST(TileMapping, AnOverrideCutsOnlyWhatItTouches) {
  TileMapping mapping;
  mapping.set({0, 14720, 0, 1472, 1});
  mapping.set({5005, 5006, 3, 1, 1});
  // All before (its last share is the shorter one), the new element, the rest
  // of the share that was cut, all after.
  EXPECT_EQ(mapping.pieces().size(), 4U);
  EXPECT_EQ(mapping.ranges(5004, 5007),
            (std::vector<internal::TileRange>{
                {500, 5004, 5005}, {3, 5005, 5006}, {500, 5006, 5007}}));
}

class GraphTileMapping : public testing::Test {
protected:
  Graph graph{Target::createIPUTarget(1, 8, "ipu2")};
};

TEST_F(GraphTileMapping, LastCallWinsPerElementThroughAnyView) {
  Tensor t = graph.addVariable(FLOAT, {4, 3}, "t");
  graph.setTileMapping(t, 1);
  graph.setTileMapping(t.transpose()[2], 5); // elements 2, 5, 8, 11
  graph.setTileMapping(t[1].slice(1, 3), 6); // elements 4, 5
  auto mapping = graph.getTileMapping(t);
  ASSERT_EQ(mapping.size(), 8U);
  EXPECT_EQ(mapping[1],
            (std::vector<Interval>{{0, 2}, {3, 4}, {6, 8}, {9, 11}}));
  EXPECT_EQ(mapping[5], (std::vector<Interval>{{2, 3}, {8, 9}, {11, 12}}));
  EXPECT_EQ(mapping[6], (std::vector<Interval>{{4, 6}}));
  // The same elements in the order of the transposed tensor.
  EXPECT_EQ(graph.getTileMapping(t.transpose())[6],
            (std::vector<Interval>{{5, 6}, {9, 10}}));
}

TEST_F(GraphTileMapping, IntervalsIndexTheFlattenedView) {
  Tensor t = graph.addVariable(INT, {2, 3});
  graph.setTileMapping(t.transpose(), {{{0, 2}}, {}, {{2, 6}}});
  EXPECT_EQ(graph.getTileMapping(t)[0],
            (std::vector<Interval>{{0, 1}, {3, 4}}));
  EXPECT_EQ(graph.getTileMapping(t.transpose())[2],
            (std::vector<Interval>{{2, 6}}));
}

TEST_F(GraphTileMapping, LinearVariablesAreSpreadEvenly) {
  Tensor t = graph.addVariable(FLOAT, {20}, VariableMappingMethod::LINEAR);
  auto mapping = graph.getTileMapping(t);
  for (std::size_t tile = 0; tile < 8; ++tile) {
    EXPECT_EQ(mapping[tile],
              (std::vector<Interval>{{tile * 20 / 8, (tile + 1) * 20 / 8}}));
  }
}

TEST_F(GraphTileMapping, ClonesTakeItOver) {
  Tensor t = graph.addVariable(FLOAT, {4, 6}, "t");
  graph.setTileMapping(t, {{{0, 5}}, {{5, 17}}, {{17, 24}}});
  for (const Tensor &view :
       {t, t.transpose(), t.slice(1, 3, 1), t.slice(1, 5, 1).transpose(),
        t.broadcast(2, 0), concat(t[2], t[0]), t.reverse(1)}) {
    for (auto method : {TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES,
                        TensorCloneMethod::CREATE_NEW_ORDER}) {
      Tensor copy = graph.clone(HALF, view, "copy", method);
      EXPECT_EQ(copy.shape(), view.shape());
      EXPECT_EQ(copy.elementType(), HALF);
      EXPECT_FALSE(copy.intersectsWith(t));
      EXPECT_TRUE(copy.isParallelWriteable());
      EXPECT_EQ(graph.getTileMapping(copy), graph.getTileMapping(view));
    }
  }
}

TEST_F(GraphTileMapping, ClonesKeepTheOrderOfStorage) {
  Tensor t = graph.addVariable(FLOAT, {4, 6});
  Tensor copy = graph.clone(t.transpose());
  EXPECT_TRUE(copy.transpose().isContiguous());
  Tensor fresh =
      graph.clone(t.transpose(), {}, TensorCloneMethod::CREATE_NEW_ORDER);
  EXPECT_TRUE(fresh.isContiguous());
}

TEST_F(GraphTileMapping, IncompleteMappingsAreReported) {
  Tensor t = graph.addVariable(FLOAT, {10}, "weights");
  graph.setTileMapping(t.slice(0, 7), 2);
  expectError<invalid_tile_mapping>([&] { graph.getTileMapping(t); },
                                    "element 7", "'weights'");
  bool isComplete = true;
  auto mapping = graph.getTileMapping(t, &isComplete);
  EXPECT_FALSE(isComplete);
  EXPECT_EQ(mapping[2], (std::vector<Interval>{{0, 7}}));
  EXPECT_EQ(graph.getTileMapping(t, false), mapping);
  graph.getTileMapping(t.slice(0, 7), &isComplete);
  EXPECT_TRUE(isComplete);
}

TEST_F(GraphTileMapping, ErrorsSayWhatIsWrong) {
  Tensor t = graph.addVariable(FLOAT, {10});
  expectError<invalid_tile_mapping>([&] { graph.setTileMapping(t, 8); },
                                    "tile 8", "8 tiles");
  expectError<invalid_tile_mapping>(
      [&] {
        graph.setTileMapping(t, {{{0, 11}}});
      },
      "[0,11)", "10 elements");
  expectError<invalid_tile_mapping>(
      [&] {
        graph.setTileMapping(t, {{{0, 5}}, {{4, 6}}});
      },
      "[0,5)", "[4,6)", "overlap");
  Graph::TileToTensorMapping tooLong(9);
  tooLong[8] = {{0, 1}};
  expectError<invalid_tile_mapping>([&] { graph.setTileMapping(t, tooLong); },
                                    "tile 8");
}

TEST_F(GraphTileMapping, OneFormulaMapsAWholeVariable) {
  Tensor t = graph.addVariable(FLOAT, {5, 4});
  internal::setLinearMapping(graph, t, {0, 20, 2, 3, 4});
  auto mapping = graph.getTileMapping(t);
  // Five grains of four over three parts: 1, 2, 2.
  EXPECT_EQ(mapping[2], (std::vector<Interval>{{0, 4}}));
  EXPECT_EQ(mapping[3], (std::vector<Interval>{{4, 12}}));
  EXPECT_EQ(mapping[4], (std::vector<Interval>{{12, 20}}));
  const auto &data = internal::graphData(graph);
  EXPECT_EQ(data.variables.back().mapping.pieces().size(), 1U);
  expectError<invalid_tile_mapping>(
      [&] {
        internal::setLinearMapping(graph, t, {0, 20, 6, 3, 4});
      },
      "[6,9)");
}

} // namespace
