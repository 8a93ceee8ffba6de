// What single tensor functions do and refuse, with results worked out by hand.
#include "ExpectError.hpp"

#include <poplar/Graph.hpp>

#include <gtest/gtest.h>

using namespace poplar;

namespace {

using Sizes = std::vector<std::size_t>;

class TensorApi : public testing::Test {
protected:
  Graph graph{Target::createIPUTarget(1, "ipu2")};
  Tensor t = graph.addVariable(FLOAT, {2, 3, 4}, "t");
};

TEST_F(TensorApi, ScalarHasRankZeroAndOneElement) {
  Tensor scalar = graph.addVariable(INT, {});
  EXPECT_EQ(scalar.rank(), 0U);
  EXPECT_EQ(scalar.numElements(), 1U);
  EXPECT_EQ(scalar.elementType(), INT);
  EXPECT_EQ(scalar.flatten().shape(), Sizes{1});
}

TEST_F(TensorApi, DefaultConstructedIsInvalid) {
  Tensor invalid;
  EXPECT_FALSE(invalid.valid());
  EXPECT_TRUE(t.valid());
  expectError<poplar_error>([&] { invalid.flatten(); }, "invalid");
}

TEST_F(TensorApi, ShapesOfViews) {
  EXPECT_EQ(t[1].shape(), (Sizes{3, 4}));
  EXPECT_EQ(t.index({1, 2}).shape(), Sizes{4});
  EXPECT_EQ(t.transpose().shape(), (Sizes{4, 3, 2}));
  EXPECT_EQ(t.dimShuffle({1, 2, 0}).shape(), (Sizes{3, 4, 2}));
  EXPECT_EQ(t.dimRoll(2).shape(), (Sizes{4, 2, 3}));
  EXPECT_EQ(t.dimRoll(0, 2).shape(), (Sizes{3, 4, 2}));
  EXPECT_EQ(t.dimShufflePartial({0, 1}, {2, 0}).shape(), (Sizes{3, 4, 2}));
  EXPECT_EQ(t.flatten(1, 3).shape(), (Sizes{2, 12}));
  EXPECT_EQ(t.reshapePartial(1, 2, {3, 1}).shape(), (Sizes{2, 3, 1, 4}));
  EXPECT_EQ(t.expand({0, 3}).shape(), (Sizes{1, 2, 3, 4, 1}));
  EXPECT_EQ(t.expand({0, 3}).squeeze({0, 4}).shape(), t.shape());
  EXPECT_EQ(t.subSample(3, 2).shape(), (Sizes{2, 3, 2}));
  EXPECT_EQ(t.slice(1, 1, 2).numElements(), 0U);
  EXPECT_EQ(append(t, t[0]).shape(), (Sizes{3, 3, 4}));
  EXPECT_EQ(append(t, t.dimRoll(2)[0], 2).shape(), (Sizes{2, 3, 5}));
}

TEST_F(TensorApi, SlicesByIntervalsListsAndIndices) {
  std::vector<Interval> intervals = {{0, 1}, {1, 3}};
  auto byInterval = t.slices(intervals, 1);
  ASSERT_EQ(byInterval.size(), 2U);
  EXPECT_EQ(byInterval[1], t.slice(1, 3, 1));
  std::vector<std::vector<Interval>> lists = {{{0, 1}, {2, 3}}, {}};
  auto byList = t.slices(lists, 1);
  EXPECT_EQ(byList[0], concat(t.slice(0, 1, 1), t.slice(2, 3, 1), 1));
  EXPECT_EQ(byList[1].shape(), (Sizes{2, 0, 4}));
  std::vector<unsigned> indices = {2};
  EXPECT_EQ(t.slices(indices, 1)[0], t.slice(2, 3, 1));
}

TEST_F(TensorApi, ReinterpretKeepsTheElementSize) {
  EXPECT_EQ(t.reinterpret(UNSIGNED_INT).elementType(), UNSIGNED_INT);
  expectError<type_error>([&] { t.reinterpret(HALF); }, "half", "float");
}

TEST_F(TensorApi, WriteableWithoutAliasesAndConstants) {
  EXPECT_TRUE(t.isParallelWriteable());
  EXPECT_FALSE(t.broadcast(2, 0).isParallelWriteable());
  Tensor constant = graph.addConstant(FLOAT, {2, 3, 4}, 1.0F);
  EXPECT_TRUE(concat(t, constant).containsConstant());
  EXPECT_FALSE(constant.isParallelWriteable());
  EXPECT_FALSE(t.containsConstant());
}

TEST_F(TensorApi, VariableRegionsNameTheElements) {
  auto regions = t[1].transpose().slice(0, 1).getVarRegions();
  ASSERT_EQ(regions.size(), 3U); // column 0 of a row-major 3x4 matrix
  EXPECT_EQ(regions[0].interval, Interval(12, 13));
  EXPECT_EQ(regions[2].interval, Interval(20, 21));
}

TEST_F(TensorApi, ErrorsSayWhatWasGivenAndWhatTheTensorIs) {
  expectError<poplar_error>([&] { t[2]; }, "index 2", "{2,3,4}");
  expectError<poplar_error>([&] { t.slice(2, 1); }, "[2,1)", "{2,3,4}");
  expectError<poplar_error>([&] { t.slice(0, 5, 2); }, "[0,5)", "dimension 2");
  expectError<poplar_error>([&] { t.slice(0, 1, 3); }, "dimension 3");
  expectError<poplar_error>([&] { t.reshape({5, 5}); }, "{5,5}", "24");
  expectError<poplar_error>([&] { t.dimShuffle({0, 0, 1}); }, "twice");
  expectError<poplar_error>([&] { t.dimShuffle({0, 1}); }, "2 dimensions");
  expectError<poplar_error>([&] { t.squeeze({1}); }, "size 1");
  expectError<poplar_error>([&] { t.subSample(0, 1); }, "stride 0");
  expectError<poplar_error>([&] { concat(t, t[0]); }, "{3,4}", "{2,3,4}");
  expectError<poplar_error>([&] { concat(t, t, {3}); }, "dimension 3");
  expectError<type_error>([&] { concat(t, t.reinterpret(INT)); }, "int",
                          "float");
}

TEST_F(TensorApi, ConcatRefusesTensorsOfOtherGraphs) {
  Graph other(Target::createIPUTarget(1, "ipu2"));
  Tensor foreign = other.addVariable(FLOAT, {2, 3, 4});
  expectError<poplar_error>([&] { concat(t, foreign); }, "another graph");
}

TEST_F(TensorApi, OutlivesTheGraphObject) {
  Tensor kept;
  {
    Graph temporary(Target::createIPUTarget(1, "ipu2"));
    kept = temporary.addConstant(FLOAT, {4}, 1.0F);
  }
  EXPECT_TRUE(kept.slice(1, 3).containsConstant());
}

} // namespace
