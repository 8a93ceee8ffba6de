// The reduction planner's choices, worked out by hand from section 7.7.
#include <popops/internal/ReduceStages.hpp>

#include <gtest/gtest.h>

namespace popops::internal {
namespace {

// 2 * sqrt(1472) is 76.7, three quarters of 1,472 are 1,104.
TEST(ReduceStages, FewPartialsOnMostTilesGoStraightToTheResults) {
  EXPECT_EQ(intermediatePieces({.partials = 76 * 100,
                                .outputs = 100,
                                .fanIn = 76,
                                .tilesUsed = 1105,
                                .tiles = 1472}),
            1u);
}

TEST(ReduceStages, ManyPartialsAreGatheredInBetween) {
  // 1,472 partials of one result: 38 pieces of 38 or 39.
  EXPECT_EQ(intermediatePieces({.partials = 1472,
                                .outputs = 1,
                                .fanIn = 1472,
                                .tilesUsed = 1472,
                                .tiles = 1472}),
            38u);
  // 64 of each result are few enough even on few tiles.
  EXPECT_EQ(intermediatePieces({.partials = 640,
                                .outputs = 10,
                                .fanIn = 64,
                                .tilesUsed = 64,
                                .tiles = 1472}),
            1u);
}

} // namespace
} // namespace popops::internal
