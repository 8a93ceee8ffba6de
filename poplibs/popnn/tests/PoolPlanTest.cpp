// The pooling planner against cuts tried one by one.
#include <popnn/internal/PoolPlan.hpp>

#include <gtest/gtest.h>

namespace popnn::internal {
namespace {

const kernels::cost::TileSpec tile;

PoolProblem pooling() {
  return {.batch = 4,
          .channels = 8,
          .rows = 6,
          .columns = 6,
          .windowElements = 4,
          .inputElements = 4 * 8 * 12 * 12};
}

// Four channels a group: 2 vectors; each tile has one row of six results.
// Each worker's row: 15 + 4 * (23 + 2 + 2 * (3 + 4 + 18)) = 315, before it
// 17 + 2 + (4 + 2) + 6 + 2 + 3 + 6 + 4, after it 1.
TEST(PoolPlan, PricesOneCut) {
  auto problem = pooling();
  problem.batch = problem.rows = 1;
  problem.channels = 4;
  problem.inputElements = 4 * 2 * 12;
  const auto plan = planPool(tile, problem, 1);
  EXPECT_EQ(plan.chansPerGroup, 4u);
  EXPECT_EQ(plan.inputBytes, 4u * 96);
  EXPECT_EQ(plan.cycles, 13u + 6 * (315 + 46 + 1) + 96);
}

TEST(PoolPlan, UsesTheTilesThatThereAre) {
  std::uint64_t last = ~std::uint64_t{0};
  for (const unsigned tiles : {1u, 4u, 24u, 100u, 1472u}) {
    const auto plan = planPool(tile, pooling(), tiles);
    EXPECT_LE(plan.tiles(), tiles);
    EXPECT_LE(plan.cycles, last);
    EXPECT_GE(plan.share.rows * plan.share.rowLength * plan.share.channels *
                  plan.share.channelGroups * plan.tiles(),
              4u * 8 * 6 * 6);
    last = plan.cycles;
  }
}

TEST(PoolPlan, RegroupingChannelsHasItsPrice) {
  auto problem = pooling();
  const auto plan = planPool(tile, problem, 24);
  problem.operandChansPerGroup = plan.chansPerGroup;
  EXPECT_EQ(planPool(tile, problem, 24).cycles, plan.cycles);
  problem.operandChansPerGroup = 1;
  EXPECT_EQ(planPool(tile, problem, 24).cycles,
            plan.cycles + plan.inputBytes / 4);
}

} // namespace
} // namespace popnn::internal
