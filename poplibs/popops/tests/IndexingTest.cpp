// What slices, lookups, sorting and checks look like to the model, and tensors
// for rows of remote buffers.
#include "../../testing/TestProgram.hpp"

#include <popops/DynamicSlice.hpp>
#include <popops/GatherStatistics.hpp>
#include <popops/HostSliceTensor.hpp>
#include <popops/NaN.hpp>
#include <popops/TopK.hpp>
#include <popops/codelets.hpp>
#include <popops/internal/IndexingKinds.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/exceptions.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using poplar::FLOAT;
using poplar::Tensor;
using poplar::UNSIGNED_INT;

// The group that was added last.
const poplar::internal::VertexGroup &lastGroup(const poplar::Graph &graph) {
  return poplar::internal::graphData(graph).computeSets.back().groups.back();
}

bool hasVertex(const poplar::internal::VertexGroup &group,
               const std::string &prefix) {
  for (const auto &phase : group.phases) {
    for (const auto &run : phase.runs) {
      for (const auto &vertex : run.vertices) {
        if (vertex.type.rfind(prefix, 0) == 0) {
          EXPECT_GT(vertex.cycles, 0u);
          return true;
        }
      }
    }
  }
  return false;
}

void expectTilesExist(const poplar::internal::VertexGroup &group,
                      unsigned tiles) {
  for (const auto &phase : group.phases) {
    for (const auto &run : phase.runs) {
      EXPECT_LE(run.firstTile + run.tileCount, tiles) << phase.name;
    }
  }
}

struct Indexing : ::testing::Test {
  Indexing() { popops::addCodelets(graph); }
  Tensor add(const poplar::Type &type, std::vector<std::size_t> shape) {
    const auto tensor = graph.addVariable(type, shape);
    poputil::mapTensorLinearly(graph, tensor);
    return tensor;
  }
  TestProgram test{64};
  poplar::Graph &graph = test.graph;
  poplar::program::Sequence &prog = test.prog;
};

TEST_F(Indexing, ASliceOfATensorMadeForItMovesNoData) {
  const auto offset = add(UNSIGNED_INT, {1});
  const auto sliceable =
      popops::createSliceableTensor(graph, FLOAT, {10, 256}, {0}, {1});
  popops::dynamicSlice(graph, sliceable, offset, {0}, {1}, prog);
  const auto &local = lastGroup(graph);
  EXPECT_TRUE(hasVertex(local, "popops::DynamicSlice1D<float>"));
  ASSERT_EQ(local.phases.size(), 1u);
  for (const auto &run : local.phases[0].runs) {
    EXPECT_EQ(run.bytesIn, 4u); // the offset
  }
  popops::dynamicSlice(graph, add(FLOAT, {10, 256}), offset, {0}, {1}, prog);
  EXPECT_GT(lastGroup(graph).phases[0].runs[0].bytesIn, 4u);
}

TEST_F(Indexing, EverySlicedDimensionIsAStep) {
  popops::dynamicSlice(graph, add(FLOAT, {10, 12, 14}), add(UNSIGNED_INT, {2}),
                       {0, 2}, {1, 2}, prog);
  EXPECT_EQ(lastGroup(graph).phases.size(), 2u);
}

TEST_F(Indexing, LookupsFollowTheirPlan) {
  const auto plan = popops::embedding::plan(graph, FLOAT, 5000, 8, {1000}, {});
  const auto &splits = *popops::internal::SlicePlanAccess::get(plan);
  const auto table = popops::createSliceableTensor(graph, FLOAT, {5000, 8}, {0},
                                                   {1}, plan, {});
  const auto indices = popops::createIndicesTensor(graph, {0}, 1000, plan, {});
  const auto rows =
      popops::multiSlice(graph, table, indices, {0}, {1}, prog, plan, {});
  EXPECT_EQ(rows.shape(), (std::vector<std::size_t>{1000, 1, 8}));
  const auto &slice = lastGroup(graph);
  EXPECT_TRUE(hasVertex(slice, "popops::MultiSlice<float>"));
  expectTilesExist(slice, 64);
  EXPECT_EQ(slice.phases.size(), splits.entrySplit > 1 ? 2u : 1u);
  EXPECT_EQ(slice.phases[0].runs[0].tileCount, splits.tiles());
  popops::multiUpdateAdd(graph, table, rows, indices, add(FLOAT, {}), {0}, {1},
                         prog, plan, {});
  EXPECT_TRUE(hasVertex(lastGroup(graph), "popops::ScaledMultiUpdateOp"));
  expectTilesExist(lastGroup(graph), 64);
}

TEST_F(Indexing, SortingIsABitonicNetwork) {
  const auto keys = add(FLOAT, {1024});
  popops::topK(graph, prog, keys, {1024, false, popops::SortOrder::ASCENDING});
  EXPECT_TRUE(
      hasVertex(lastGroup(graph), "popops::CompareAndSwapAtDistance<float>"));
  EXPECT_EQ(lastGroup(graph).phases.size(), 55u); // 10 * 11 / 2
  popops::topKWithPermutation(graph, prog, keys,
                              {4, true, popops::SortOrder::NONE});
  // Blocks of 4 take 3 steps; 8 times half of them go, and 2 steps sort again.
  EXPECT_EQ(lastGroup(graph).phases.size(), 3u + 8 * 3);
  EXPECT_TRUE(
      hasVertex(lastGroup(graph), "popops::CompareAndSwapAtDistanceKeyVal"));
}

TEST_F(Indexing, ChecksAndCountsAreJoinedOverTheTiles) {
  const auto x = add(FLOAT, {40, 100});
  EXPECT_EQ(popops::hasNaN(graph, x, prog).rank(), 0u);
  EXPECT_TRUE(hasVertex(lastGroup(graph), "popops::HasNaN1D<float>"));
  EXPECT_GT(lastGroup(graph).phases.size(), 1u);
  EXPECT_EQ(popops::histogram(graph, x, add(FLOAT, {3}), false, prog).shape(),
            (std::vector<std::size_t>{4}));
  EXPECT_GT(lastGroup(graph).phases.size(), 1u);
  expectTilesExist(lastGroup(graph), 64);
}

TEST_F(Indexing, HostSlicesHaveAnIndexForEachRow) {
  const auto [indices, rows] =
      popops::createHostSliceableTensor(graph, FLOAT, {10, 32}, true);
  EXPECT_EQ(indices.elementType(), UNSIGNED_INT);
  EXPECT_EQ(indices.shape(), (std::vector<std::size_t>{10}));
  EXPECT_EQ(rows.shape(), (std::vector<std::size_t>{10, 32}));
  EXPECT_THROW(popops::createHostSliceableTensor(graph, FLOAT, {10}, true),
               poputil::poplibs_error);
  const auto moved =
      popops::createHostTransferableTensor(graph, FLOAT, {32}, false, 5);
  EXPECT_FALSE(graph.getTileMapping(moved)[5].empty());
}

} // namespace
