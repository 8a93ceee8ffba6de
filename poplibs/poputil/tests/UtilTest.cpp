// Lists of intervals and their division, clones, factored dimensions; expected
// values are worked out by hand.
#include <poputil/Util.hpp>

#include "../../testing/TestProgram.hpp"

#include <poputil/exceptions.hpp>

#include <gtest/gtest.h>

namespace {

using poplar::FLOAT;
using poplar::HALF;
using poplar::Interval;
using Regions = std::vector<Interval>;
using Parts = std::vector<Regions>;

TEST(MergeAdjacentRegions, SortsJoinsAndDropsEmptyOnes) {
  Regions regions{{8, 10}, {0, 3}, {5, 5}, {3, 4}};
  poputil::mergeAdjacentRegions(regions);
  EXPECT_EQ(regions, (Regions{{0, 4}, {8, 10}}));
}

TEST(FlattenIntervals, KeepsTheOrder) {
  const Parts parts{{{4, 6}}, {{0, 1}, {2, 3}}};
  EXPECT_EQ(poputil::flattenIntervals(parts),
            (Regions{{4, 6}, {0, 1}, {2, 3}}));
  EXPECT_EQ(poputil::intervalSequenceNumElements(parts), 4u);
}

TEST(SplitRegions, CutsWholeGrainsEvenly) {
  // 10 elements are 5 grains of 2: over 3 parts 1, 2 and 2 grains.
  EXPECT_EQ(poputil::splitRegions({{0, 4}, {10, 16}}, 2, 3),
            (Parts{{{0, 2}}, {{2, 4}, {10, 12}}, {{12, 16}}}));
}

TEST(SplitRegions, KeepsToTheLimits) {
  EXPECT_EQ(poputil::splitRegions({{0, 8}}, 1, 8, 4),
            (Parts{{{0, 4}}, {{4, 8}}}));
  EXPECT_EQ(poputil::splitRegions({{0, 8}}, 1, 1, 0, 4),
            (Parts{{{0, 4}}, {{4, 8}}}));
  EXPECT_EQ(poputil::splitRegions({{0, 8}}, 1, 1, 0, UINT_MAX, 3),
            (Parts{{{0, 3}, {3, 6}, {6, 8}}}));
  EXPECT_TRUE(poputil::splitRegions(Regions{{3, 3}}, 1, 4).empty());
  EXPECT_THROW(poputil::splitRegions(Regions{{0, 3}}, 0, 4),
               poputil::poplibs_error);
}

TEST(SplitRegions, KeepsSequencesTogether) {
  const Parts sequences{{{0, 2}, {8, 10}}, {{4, 6}}};
  const auto parts = poputil::splitRegions(sequences, 1, 2);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0], (Parts{{{0, 2}, {8, 9}}}));
  EXPECT_EQ(parts[1], (Parts{{{9, 10}}, {{4, 6}}}));
}

TEST(SplitRegionsBetweenWorkers, UsesAllWorkers) {
  const auto target = poplar::Target::createIPUTarget(1, 4, "ipu2");
  EXPECT_EQ(
      poputil::splitRegionsBetweenWorkers(target, Regions{{0, 60}}, 2).size(),
      6u);
}

TEST(FlattenIndex, IsTheInverseOfUnflattenIndex) {
  const std::vector<unsigned> shape{2, 3, 4};
  const auto indices = poputil::unflattenIndex(shape, 17);
  EXPECT_EQ(indices, (std::vector<unsigned>{1, 1, 1}));
  EXPECT_EQ(poputil::flattenIndex(shape, indices), 17u);
}

TEST(BalancedPartition, PutsLargerPartsFirst) {
  EXPECT_EQ(poputil::balancedPartition(10, 3), (std::vector<int>{4, 3, 3}));
  EXPECT_THROW(poputil::balancedPartition(10, 0), poputil::poplibs_error);
}

TEST(CheckAccuracyWhenCast, FindsWhatHalvesCannotHold) {
  const auto target = poplar::Target::createIPUTarget(1, 4, "ipu2");
  EXPECT_EQ(poputil::castToDeviceHalfValue(target, 2049), 2048);
  EXPECT_TRUE(poputil::checkAccuracyWhenCast(target, 0.5, FLOAT, HALF, 1e-6));
  EXPECT_FALSE(poputil::checkAccuracyWhenCast(target, 0.1, FLOAT, HALF, 1e-6));
  EXPECT_TRUE(poputil::checkAccuracyWhenCast(target, 0.1, FLOAT, HALF, 1e-3));
  EXPECT_FALSE(poputil::checkAccuracyWhenCast(target, 1e6, FLOAT, HALF, 1));
  EXPECT_TRUE(poputil::checkAccuracyWhenCast(target, 0.1, HALF, FLOAT, 0));
}

TEST(FactorDims, SplitsAndJoinsDimensions) {
  TestProgram p;
  std::vector<float> values(24);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i);
  }
  const auto t = p.input({4, 6}, values);
  const auto factored = poputil::factorDims(t, {2, 3});
  EXPECT_EQ(factored.shape(), (std::vector<std::size_t>{2, 2, 2, 3}));
  // Element [1][0][1][2] is row 1*2+1, column 0*3+2.
  EXPECT_EQ(factored.index({1, 0, 1, 2}), t.index({3, 2}));
  EXPECT_EQ(poputil::unfactorDims(factored, 2), t);
  EXPECT_EQ(poputil::factorDims(t, {3}, 1).shape(),
            (std::vector<std::size_t>{4, 2, 3}));
  EXPECT_THROW(poputil::factorDims(t, {3}), poputil::poplibs_error);
}

TEST(CalculateUnshufflingIntervals, RestoresTheOrder) {
  EXPECT_EQ(poputil::calculateUnshufflingIntervals({{5, 10}, {0, 2}, {2, 5}}),
            (Regions{{5, 7}, {7, 10}, {0, 5}}));
}

TEST(Duplicate, CopiesValues) {
  TestProgram p;
  const auto t = p.input({3}, {1, 2, 3});
  const auto copy = poputil::duplicate(p.graph, t, p.prog);
  EXPECT_FALSE(copy.intersectsWith(t));
  EXPECT_EQ(p.run<float>(copy), (std::vector<float>{1, 2, 3}));
}

TEST(CloneN, AddsALeadingDimension) {
  TestProgram p;
  const auto t = p.input({3}, {1, 2, 3});
  EXPECT_EQ(poputil::cloneN(p.graph, t, 2).shape(),
            (std::vector<std::size_t>{2, 3}));
}

} // namespace
