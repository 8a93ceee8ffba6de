// Where tensors made to be sliced lie, and what plans of lookups cost.
#include "../../testing/TestProgram.hpp"

#include <popops/DynamicSlice.hpp>
#include <popops/codelets.hpp>
#include <popops/internal/SlicePlan.hpp>

#include <poplar/exceptions.hpp>
#include <poputil/exceptions.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace {

using poplar::FLOAT;
using poplar::Tensor;

// Elements of the tensor on the fullest tile, and tiles that hold any.
struct Spread {
  std::size_t most = 0;
  std::size_t tiles = 0;
};
Spread spreadOf(const poplar::Graph &graph, const Tensor &tensor) {
  Spread spread;
  for (const auto &intervals : graph.getTileMapping(tensor)) {
    std::size_t here = 0;
    for (const auto &interval : intervals) {
      here += interval.size();
    }
    spread.most = std::max(spread.most, here);
    spread.tiles += here > 0 ? 1 : 0;
  }
  return spread;
}

TEST(SliceableTensor, SpreadsEverySliceOverTheTiles) {
  TestProgram test(16);
  const auto t =
      popops::createSliceableTensor(test.graph, FLOAT, {10, 64}, {0}, {1});
  EXPECT_EQ(t.shape(), (std::vector<std::size_t>{10, 64}));
  for (std::size_t row = 0; row < 10; ++row) {
    const auto spread = spreadOf(test.graph, t[row]);
    EXPECT_EQ(spread.tiles, 16u);
    EXPECT_EQ(spread.most, 4u);
  }
  EXPECT_EQ(spreadOf(test.graph, t).most, 40u);
}

TEST(SliceableTensor, SpreadsRowsThatDoNotFillTheTiles) {
  TestProgram test(16);
  const auto t =
      popops::createSliceableTensor(test.graph, FLOAT, {64, 8}, {0}, {1});
  const auto spread = spreadOf(test.graph, t);
  EXPECT_EQ(spread.tiles, 16u);
  EXPECT_EQ(spread.most, 32u);
}

TEST(SliceableTensor, TheLastDimensionStaysTogether) {
  TestProgram test(16);
  const auto t =
      popops::createSliceableTensor(test.graph, FLOAT, {32, 10}, {1}, {1});
  const auto slice = t.slice(3, 4, 1);
  EXPECT_EQ(spreadOf(test.graph, slice).tiles, 16u);
  EXPECT_EQ(spreadOf(test.graph, slice).most, 2u);
}

TEST(SliceableTensor, GrainsAreAtLeastWhatIsAsked) {
  TestProgram test(16);
  const auto t =
      popops::createSliceableTensor(test.graph, FLOAT, {2, 64}, {0}, {1}, 16);
  EXPECT_EQ(spreadOf(test.graph, t[0]).tiles, 4u);
}

TEST(SliceTensor, HasARowForEachIndex) {
  TestProgram test(16);
  auto &graph = test.graph;
  const auto plan = popops::embedding::plan(graph, FLOAT, 100, 64, {30}, {});
  EXPECT_EQ(
      popops::createSliceTensor(graph, FLOAT, {100, 64}, {0}, {1}, 30, plan, {})
          .shape(),
      (std::vector<std::size_t>{30, 1, 64}));
  EXPECT_EQ(popops::createIndicesTensor(graph, {0}, 30, plan, {}).shape(),
            (std::vector<std::size_t>{30, 1}));
  EXPECT_EQ(popops::createGroupedIndicesTensor(graph, 3, {0}, 30, plan, {})
                .elementType(),
            poplar::UNSIGNED_INT);
  EXPECT_EQ(popops::createGroupedSliceableTensor(graph, FLOAT, 3, {100, 64},
                                                 {0}, {1}, {}, {})
                .shape(),
            (std::vector<std::size_t>{3, 100, 64}));
  const auto slice = popops::createSliceTensor(
      graph, popops::createSliceableTensor(graph, FLOAT, {9, 4}, {0}, {1}), {0},
      {1}, 7);
  EXPECT_EQ(slice.shape(), (std::vector<std::size_t>{7, 1, 4}));
  EXPECT_EQ(
      popops::createSliceableTensorFromSlice(graph, slice[0], {0}, {9}).shape(),
      (std::vector<std::size_t>{9, 4}));
}

TEST(SliceTensor, APlanIsForItsTable) {
  TestProgram test(16);
  const auto plan =
      popops::embedding::plan(test.graph, FLOAT, 100, 64, {30}, {});
  try {
    popops::createSliceableTensor(test.graph, FLOAT, {100, 32}, {0}, {1}, plan,
                                  {});
    FAIL();
  } catch (const poputil::poplibs_error &error) {
    EXPECT_EQ(std::string(error.what()),
              "[popops::createSliceableTensor] the plan is for 100 entries of "
              "64 elements; given shape {100,32} sliced along dimension 0");
  }
}

TEST(SlicePlan, ComparesAndPrints) {
  TestProgram test(16);
  auto &graph = test.graph;
  const popops::SlicePlan none;
  const auto plan = popops::embedding::plan(graph, FLOAT, 100, 64, {30}, {});
  const auto same = popops::embedding::plan(graph, FLOAT, 100, 64, {30}, {});
  const auto other = popops::embedding::plan(graph, FLOAT, 90, 64, {30}, {});
  EXPECT_EQ(none, popops::SlicePlan());
  EXPECT_EQ(plan, same);
  EXPECT_NE(plan, other);
  EXPECT_NE(plan, none);
  EXPECT_TRUE(none < plan);
  EXPECT_TRUE((other < plan) != (plan < other));
  std::ostringstream text;
  text << none;
  EXPECT_EQ(text.str(), "SlicePlan{}");
  EXPECT_EQ(popops::embedding::planMultiple(
                {{graph, FLOAT, 1, 100, 64, {30}, {}}})[0],
            plan);
}

TEST(SlicePlan, CutsTheTableWhenRowsDoNotFillTheTiles) {
  TestProgram test(1472);
  const auto made =
      popops::embedding::plan(test.graph, poplar::HALF, 50000, 64, {4096},
                              {{"usedForUpdate", "false"}});
  const auto *plan = popops::internal::SlicePlanAccess::get(made);
  EXPECT_LE(plan->tiles(), 1472u);
  EXPECT_GT(plan->tiles(), 512u);
  EXPECT_GT(plan->entrySplit, 1u);
}

TEST(SlicePlan, LittleMemoryAsksForLessOfIt) {
  TestProgram test(64);
  const auto planFor = [&](const char *proportion) {
    return *popops::internal::SlicePlanAccess::get(
        popops::embedding::plan(test.graph, FLOAT, 10000, 128, {2000},
                                {{"availableMemoryProportion", proportion}}));
  };
  const auto share = [](const popops::internal::EmbeddingPlan &plan) {
    return plan.share().lookups * plan.share().elements;
  };
  EXPECT_LE(share(planFor("0.01")), share(planFor("0.9")));
}

TEST(SlicePlan, MustBeUsedForSomething) {
  TestProgram test(16);
  EXPECT_THROW(popops::embedding::plan(
                   test.graph, FLOAT, 10, 4, {3},
                   {{"usedForSlice", "false"}, {"usedForUpdate", "false"}}),
               poputil::poplibs_error);
  EXPECT_THROW(popops::embedding::plan(test.graph, FLOAT, 10, 4, {3},
                                       {{"usedForSlices", "false"}}),
               poplar::invalid_option);
}

} // namespace
