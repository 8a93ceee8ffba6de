// How evenly operations lie on the tiles of a whole IPU, and what their workers
// do.
#include "../../testing/TestProgram.hpp"

#include <popops/DynamicSlice.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Pad.hpp>
#include <popops/Reduce.hpp>
#include <popops/codelets.hpp>

#include <kernels/cost/Elementwise.hpp>
#include <poplar/internal/Access.hpp>
#include <poputil/internal/Tiles.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using poplar::FLOAT;
using poplar::HALF;
using poplar::Tensor;
using Shape = std::vector<std::size_t>;

struct Balance : ::testing::Test {
  Balance() { popops::addCodelets(graph); }

  Tensor add(const poplar::Type &type, const Shape &shape) {
    const auto tensor = graph.addVariable(type, shape);
    poputil::mapTensorLinearly(graph, tensor);
    return tensor;
  }
  const poplar::internal::VertexGroup &lastGroup() const {
    return poplar::internal::graphData(graph).computeSets.back().groups.back();
  }
  std::uint64_t mostTemporaryBytes() const {
    std::uint64_t most = 0;
    for (const auto &phase : lastGroup().phases) {
      for (const auto &run : phase.runs) {
        most = std::max(most, run.temporaryBytes);
      }
    }
    return most;
  }
  std::uint64_t mostSentBytes() const {
    std::uint64_t most = 0;
    for (const auto &phase : lastGroup().phases) {
      for (const auto &run : phase.runs) {
        most = std::max(most, run.bytesOut);
      }
    }
    return most;
  }
  // The first vertex of the last operation, on its first tiles.
  const poplar::internal::VertexUse &vertex() const {
    return lastGroup().phases.back().runs.front().vertices.front();
  }
  static std::uint64_t tileCycles(const poplar::internal::VertexUse &use) {
    return use.isSupervisor ? use.cycles : 6 * use.cycles; // one for a worker
  }

  TestProgram test{1472};
  poplar::Graph &graph = test.graph;
  poplar::program::Sequence &prog = test.prog;
};

TEST_F(Balance, OneRowOfATableLeavesTheTableWhereItIs) {
  const auto table = add(FLOAT, {20000, 64});
  popops::dynamicSlice(graph, table, add(poplar::UNSIGNED_INT, {1}), {0}, {1},
                       prog);
  // A candidate of four bytes from each tile, for each element.
  EXPECT_LE(mostTemporaryBytes(), 1472u * 4 + 8);
  ASSERT_EQ(lastGroup().phases.size(), 3u);
  EXPECT_EQ(lastGroup().phases[1].runs[0].tileCount, 64u);

  popops::dynamicUpdate(graph, table, add(FLOAT, {1, 64}),
                        add(poplar::UNSIGNED_INT, {1}), {0}, {1}, prog);
  EXPECT_LE(mostTemporaryBytes(), 64u * 4 + 4);
}

TEST_F(Balance, ColumnsOfATransposedTableAreFoundInItsRows) {
  // Entries of the table are neighbours in memory: a tile has one candidate, or
  // two, though it holds parts of both.
  const auto table = add(FLOAT, {64, 20000}).transpose();
  popops::dynamicSlice(graph, table, add(poplar::UNSIGNED_INT, {1}), {0}, {1},
                       prog);
  EXPECT_LE(mostTemporaryBytes(), 1472u * 4 / 64 + 64);
}

TEST_F(Balance, ASmallTableIsFetched) {
  popops::dynamicSlice(graph, add(FLOAT, {10, 256}),
                       add(poplar::UNSIGNED_INT, {1}), {0}, {1}, prog);
  EXPECT_EQ(lastGroup().phases.size(), 1u);
}

TEST_F(Balance, ManyLookupsOfFewElementsShareTheTiles) {
  const auto vector = add(FLOAT, {262144, 1});
  const auto indices = add(poplar::UNSIGNED_INT, {262144, 1});
  popops::multiSlice(graph, vector, indices, {0}, {1}, prog, {}, {});
  EXPECT_LE(mostTemporaryBytes(), 110'000u); // of 2 MB for one tile
  const auto one = add(FLOAT, {});
  popops::multiUpdateAdd(graph, vector, add(FLOAT, {262144, 1, 1}), indices,
                         one, {0}, {1}, prog, {}, {});
  EXPECT_LE(mostTemporaryBytes(), 150'000u);
}

TEST_F(Balance, WhatIsRepeatedIsSentOnceAndReducedEverywhere) {
  const auto padded = popops::pad(graph, add(FLOAT, {512, 64}), {1, 1}, {2, 2});
  popops::add(graph, padded, padded, prog);
  EXPECT_LE(mostSentBytes(), 1000u);
  const auto scalar = graph.addVariable(FLOAT, {});
  graph.setTileMapping(scalar, 0);
  popops::reduce(graph,
                 scalar.expand({0, 0}).broadcast(512, 0).broadcast(64, 1), {0},
                 {popops::Operation::ADD}, prog);
  EXPECT_GT(lastGroup().phases[0].runs.back().firstTile +
                lastGroup().phases[0].runs.back().tileCount,
            1000u);
}

// A tile has 2,138 of the 4,096 elements of a row: none repeats, and the six
// workers share them as those of a whole tensor.
TEST_F(Balance, PartsOfRowsAreAddedToVectorsByAllWorkers) {
  const auto x = add(HALF, {768, 4096});
  popops::add(graph, x, x, prog);
  const auto full = tileCycles(vertex());
  popops::add(graph, x, add(HALF, {4096}), prog);
  EXPECT_EQ(tileCycles(vertex()), full);
  popops::addInPlace(graph, x, add(HALF, {4096}), prog);
  EXPECT_LT(tileCycles(vertex()), full + 600);
  // A part of a row has one value here; whole rows have one each.
  popops::add(graph, x, add(HALF, {768, 1}), prog);
  EXPECT_EQ(vertex().type,
            "popops::BroadcastVectorOuterByColumn1D<popops::expr::"
            "BinaryOpType::ADD,half>");
}

TEST_F(Balance, FewRowsAreSharedByAllWorkers) {
  // Two rows of 1,000 on a tile.
  const auto x = add(FLOAT, {2944, 1000});
  popops::add(graph, x, add(FLOAT, {1000}), prog);
  const auto workers = tileCycles(vertex());
  popops::add(graph, x, x, prog);
  EXPECT_LT(workers, 1.2 * static_cast<double>(tileCycles(vertex())));
  popops::mul(graph, x, add(FLOAT, {2944, 1}), prog);
  EXPECT_EQ(vertex().type, "popops::BroadcastVectorOuterByColumn1D<popops::"
                           "expr::BinaryOpType::MULTIPLY,float>");
  EXPECT_EQ(vertex().cycles, kernels::cost::vectorOuterByColumn(
                                 poputil::internal::tileSpec(graph),
                                 support::DataType::Float, 2, 1000));
}

TEST_F(Balance, ManyRowsUseTheVertexForThem) {
  const auto x = add(HALF, {147200, 64}); // 100 rows on a tile
  popops::add(graph, x, add(HALF, {64}), prog);
  EXPECT_EQ(
      vertex().type,
      "popops::BroadcastVectorInner1D<popops::expr::BinaryOpType::ADD,half>");
  popops::mul(graph, x, add(HALF, {147200, 1}), prog);
  EXPECT_EQ(vertex().type, "popops::BroadcastVectorOuterByRow1D<popops::expr::"
                           "BinaryOpType::MULTIPLY,half>");
}

// The bias of a convolution: a value for each field of each sample.
TEST_F(Balance, AValueForSeveralDimensionsIsOneRun) {
  const auto x = add(FLOAT, {4, 368, 10, 10}); // one channel on a tile
  popops::add(graph, x, add(FLOAT, {1, 368, 1, 1}), prog);
  EXPECT_EQ(vertex().type,
            "popops::BroadcastVectorOuterByColumn1D<popops::expr::"
            "BinaryOpType::ADD,float>");
}

} // namespace
