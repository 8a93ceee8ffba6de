// The planner against the published optima of square half matrix products
// (docs/model.md, section 9.2), with that table's restrictions.
#include "../src/ConvCandidate.hpp"

#include <gtest/gtest.h>

namespace poplin::internal {
namespace {

struct PublishedPlan {
  std::uint64_t size;
  DataType partials;
  std::uint64_t m, n, k; // splits
  std::uint64_t input, weights, partialsExchange, compute, reduce, total;
  std::uint64_t tempBytes;
};

ConvProblem square(std::uint64_t size, DataType partials) {
  ConvProblem problem;
  problem.inputType = problem.outputType = DataType::Half;
  problem.partialsType = partials;
  problem.inChans = problem.outChans = size;
  problem.inField = problem.outField = {1, size};
  return problem;
}

PlanLimits restricted() {
  PlanLimits limits;
  limits.allowMultiStageReduce = false;
  limits.allowSingleInputReduce = false;
  limits.allowTransforms = false;
  // The table has blocks of 16 x 16 channels only.
  limits.constraints.method = ConvMethod::Amp1x1;
  limits.constraints.outChansPerGroup = 16;
  return limits;
}

void expectCosts(const ConvPlan &plan, const PublishedPlan &expected) {
  EXPECT_EQ(plan.cost.exchangeInput, expected.input);
  EXPECT_EQ(plan.cost.exchangeWeights, expected.weights);
  EXPECT_EQ(plan.cost.exchangePartials, expected.partialsExchange);
  EXPECT_EQ(plan.cost.compute, expected.compute);
  EXPECT_EQ(plan.cost.reduce, expected.reduce);
  EXPECT_EQ(plan.totalCycles(), expected.total);
  EXPECT_EQ(plan.cost.tempBytes, expected.tempBytes);
}

constexpr auto H = DataType::Half;
constexpr auto F = DataType::Float;

class PublishedPlans : public testing::TestWithParam<PublishedPlan> {};

TEST_P(PublishedPlans, AreFound) {
  const auto &expected = GetParam();
  const auto plan =
      planMatMul(square(expected.size, expected.partials), restricted());
  EXPECT_EQ(plan.split.columns, expected.m);
  EXPECT_EQ(plan.split.outChans, expected.n);
  EXPECT_EQ(plan.split.inChans, expected.k);
  expectCosts(plan, expected);
}

// Without the restriction to blocks of 16, those of 8 do better here.
TEST(ConvPlan, BeatsThePublishedPlanOf1024WithFloatPartials) {
  auto limits = restricted();
  limits.constraints.outChansPerGroup.reset();
  EXPECT_LT(planMatMul(square(1024, F), limits).totalCycles(), 49789u);
}

INSTANTIATE_TEST_SUITE_P(
    Table, PublishedPlans,
    testing::Values(PublishedPlan{256, H, 11, 16, 8, 180, 233, 192, 769, 384,
                                  1758, 3328},
                    PublishedPlan{512, H, 4, 32, 11, 1488, 288, 1029, 2369,
                                  1374, 6548, 17920},
                    PublishedPlan{1024, H, 4, 32, 11, 5952, 1152, 4098, 15089,
                                  4080, 30371, 71680},
                    PublishedPlan{1024, F, 9, 32, 5, 5743, 2958, 3650, 33328,
                                  4110, 49789, 75328},
                    PublishedPlan{2048, H, 7, 26, 8, 18031, 8777, 11720, 110901,
                                  12066, 161495, 237856},
                    PublishedPlan{2048, F, 7, 26, 8, 18031, 8777, 23440, 214556,
                                  22326, 287130, 284736}));

TEST(ConvPlan, LargeProductsNeedSerialStepsToFit) {
  auto limits = restricted();
  const auto tooLarge = planMatMul(square(4096, H), limits);
  EXPECT_GT(static_cast<double>(tooLarge.cost.tempBytes),
            0.6 * static_cast<double>(limits.bytesPerTile));
  limits.allowTransforms = true;
  limits.constraints = {};
  const auto serial = planMatMul(square(4096, H), limits);
  EXPECT_GT(serial.split.steps(), 1u);
  EXPECT_LE(static_cast<double>(serial.cost.tempBytes),
            0.6 * static_cast<double>(limits.bytesPerTile));
}

TEST(ConvPlan, TransformsNeverCostMore) {
  for (const std::uint64_t size : {64, 256, 1000}) {
    auto limits = restricted();
    const auto plain = planMatMul(square(size, H), limits).totalCycles();
    limits.allowTransforms = limits.allowMultiStageReduce = true;
    limits.constraints = {};
    EXPECT_LE(planMatMul(square(size, H), limits).totalCycles(), plain);
  }
}

TEST(ConvPlan, TilesAreNeverExceeded) {
  ConvProblem problem;
  problem.batch = 16;
  problem.inChans = 64;
  problem.outChans = 128;
  problem.inField = problem.outField = {28, 28};
  problem.kernel = {3, 3};
  for (const unsigned tiles : {1u, 7u, 100u, 1472u}) {
    PlanLimits limits;
    limits.tiles = tiles;
    const auto plan = planConvolution(problem, limits);
    EXPECT_LE(plan.split.tiles(), tiles);
    EXPECT_GE(plan.share.macs * plan.split.tiles() * plan.split.steps(),
              16u * 64 * 128 * 28 * 28 * 9);
  }
}

TEST(ConvPlan, MoreTilesAreNeverSlower) {
  ConvProblem problem = square(512, F);
  std::uint64_t last = ~std::uint64_t{0};
  for (const unsigned tiles : {1u, 10u, 100u, 1000u}) {
    PlanLimits limits;
    limits.tiles = tiles;
    const auto cycles = planMatMul(problem, limits).totalCycles();
    EXPECT_LE(cycles, last);
    last = cycles;
  }
}

TEST(ReduceStages, FollowTheDepth) {
  using Depths = std::array<std::uint64_t, 3>;
  EXPECT_EQ(reduceDepths(15, true), (Depths{1, 1, 1}));
  EXPECT_EQ(reduceDepths(16, true), (Depths{4, 1, 1}));
  // 20 / 4 + 4 and 20 / 5 + 5 messages are as many; 23 / 5 + 5 are fewer than
  // 23 / 4 + 4.
  EXPECT_EQ(reduceDepths(20, true), (Depths{4, 1, 1}));
  EXPECT_EQ(reduceDepths(23, true), (Depths{5, 1, 1}));
  EXPECT_EQ(reduceDepths(125, true), (Depths{25, 5, 1}));
  EXPECT_EQ(reduceDepths(125, false), (Depths{1, 1, 1}));
}

} // namespace
} // namespace poplin::internal
