// The search itself: that pruning loses nothing, which vertices are chosen,
// what bounds and constraints do, plans that passes share.
#include "../src/ConvCandidate.hpp"

#include <poplar/exceptions.hpp>
#include <poplin/internal/ConvOptions.hpp>
#include <poputil/exceptions.hpp>

#include <gtest/gtest.h>

namespace poplin::internal {
namespace {

constexpr auto H = DataType::Half;
constexpr auto F = DataType::Float;

ConvProblem product(std::uint64_t m, std::uint64_t k, std::uint64_t n,
                    DataType type = H) {
  ConvProblem problem;
  problem.inputType = problem.outputType = problem.partialsType = type;
  problem.inField = problem.outField = {1, m};
  problem.inChans = k;
  problem.outChans = n;
  return problem;
}

ConvProblem convolution(std::uint64_t field, std::uint64_t chans,
                        std::uint64_t kernel) {
  ConvProblem problem = product(1, chans, chans);
  problem.batch = 4;
  problem.inField = problem.outField = {field, field};
  problem.kernel = {kernel, kernel};
  return problem;
}

// Every cut of every candidate, without serial steps.
std::uint64_t leastCycles(const ConvProblem &problem, const PlanLimits &limits,
                          bool isMatMul) {
  auto least = ~std::uint64_t{0};
  for (const auto &candidate : candidatesOf(problem, limits, isMatMul)) {
    const auto &cut = candidate.problem;
    const bool isSlic = candidate.grouping.method == ConvMethod::Slic;
    ConvSplit split;
    const auto each = [&](std::uint64_t &value, std::uint64_t most,
                          const auto &body) {
      for (value = 1; value <= most && split.tiles() <= limits.tiles; ++value) {
        body();
      }
      value = 1;
    };
    each(split.groups, candidate.groupGroups(), [&] {
      each(split.outChans, candidate.outGroups(), [&] {
        each(split.inChans, candidate.inGroups(), [&] {
          each(split.kernelRows, cut.kernel[0], [&] {
            each(split.batch, cut.batch, [&] {
              each(split.rows, cut.outField[0], [&] {
                each(split.columns, cut.outField[1], [&] {
                  if (!isSlic || (split.inChans == candidate.inGroups() &&
                                  split.outChans == candidate.outGroups())) {
                    least = std::min(
                        least,
                        evaluate(candidate, limits, split).totalCycles());
                  }
                });
              });
            });
          });
        });
      });
    });
  }
  return least;
}

TEST(ConvSearch, FindsWhatTryingEverythingFinds) {
  PlanLimits limits;
  limits.tiles = 48;
  limits.availableMemoryProportion = 1;
  for (const auto &problem :
       {product(40, 48, 64), product(7, 30, 50, F), product(20, 1, 20)}) {
    EXPECT_EQ(planMatMul(problem, limits).totalCycles(),
              leastCycles(problem, limits, true));
  }
  auto grouped = convolution(6, 2, 3);
  grouped.groups = 6;
  auto strided = convolution(8, 20, 3);
  strided.stride = {2, 2};
  strided.outField = {4, 4};
  for (const auto &problem : {convolution(7, 24, 3), grouped, strided}) {
    EXPECT_EQ(planConvolution(problem, limits).totalCycles(),
              leastCycles(problem, limits, false));
  }
}

TEST(ConvSearch, ChoosesTheVertexByTheChannels) {
  const PlanLimits limits;
  EXPECT_EQ(planMatMul(product(1024, 1024, 1024), limits).grouping.method,
            ConvMethod::Amp1x1);
  EXPECT_EQ(planMatMul(product(512, 1, 512), limits).grouping.method,
            ConvMethod::OuterProduct);
  EXPECT_EQ(planMatMul(product(1, 1000, 1000, F), limits).grouping.method,
            ConvMethod::HorizontalMac);
  EXPECT_EQ(planConvolution(convolution(56, 64, 3), limits).grouping.method,
            ConvMethod::AmpNx1);
  auto depthwise = convolution(14, 1, 3);
  depthwise.groups = 512;
  EXPECT_GE(planConvolution(depthwise, limits).grouping.convGroupsPerGroup, 4u);
}

// 1x1 kernels with a stride become products of the positions that are read.
TEST(ConvSearch, ExpandsStridedPoints) {
  auto problem = convolution(56, 256, 1);
  problem.stride = {2, 2};
  problem.outField = {28, 28};
  const auto plan = planConvolution(problem, PlanLimits());
  EXPECT_EQ(plan.transforms.expandsDims, (std::array{true, true}));
  EXPECT_TRUE(plan.transforms.flattensField);
  EXPECT_GT(plan.cost.transformCopy, 0u);
}

TEST(ConvSearch, LessMemoryNeverTakesMoreOrRunsFaster) {
  const auto problem = product(2048, 2048, 2048);
  auto bytes = ~std::uint64_t{0};
  std::uint64_t cycles = 0;
  for (const double proportion : {0.6, 0.3, 0.2, 0.1, 0.05}) {
    PlanLimits limits;
    limits.availableMemoryProportion = proportion;
    const auto plan = planMatMul(problem, limits);
    EXPECT_LE(static_cast<double>(plan.cost.tempBytes),
              proportion * static_cast<double>(limits.bytesPerTile));
    EXPECT_LE(plan.cost.tempBytes, bytes);
    EXPECT_GE(plan.totalCycles(), cycles);
    bytes = plan.cost.tempBytes;
    cycles = plan.totalCycles();
  }
  PlanLimits limits;
  limits.availableMemoryProportion = 0;
  EXPECT_LT(planMatMul(problem, limits).cost.tempBytes, bytes);
}

TEST(ConvSearch, ATargetThatCannotBeMetIsGivenUp) {
  PlanLimits limits;
  limits.tiles = 1;
  limits.availableMemoryProportion = 1e-6;
  limits.allowTransforms = false;
  const auto plan = planMatMul(product(64, 64, 64), limits);
  EXPECT_GT(plan.cost.tempBytes, 0u);
}

TEST(ConvSearch, SaysWhenThereIsNoPlanAtAll) {
  PlanLimits limits;
  limits.constraints.method = ConvMethod::Slic;
  try {
    planMatMul(product(64, 64, 64), limits);
    FAIL() << "no error";
  } catch (const poputil::poplibs_error &error) {
    EXPECT_STREQ(error.what(), "No base plan found for unbounded plan");
  }
}

TEST(ConvSearch, WiderLoadsSaveCycles) {
  PlanLimits limits;
  const auto problem = product(512, 512, 512);
  const auto plain = planMatMul(problem, limits).totalCycles();
  limits.tile.convUnitCoeffLoadBytes = 16;
  EXPECT_LT(planMatMul(problem, limits).totalCycles(), plain);
}

// 384 half partials of 8 tiles each: 48 results a tile, 768 bytes in. In one
// region they take 33 + 6 * (20 + 1 * (2 * 8 + 9)) cycles, interleaved 8 less
// a worker.
TEST(ReduceStages, FewPartialsAreOneRegion) {
  PlanLimits limits;
  const auto problem = product(1, 1, 1);
  const auto cycles = [&] {
    const auto stages = reduceStages(problem, limits, 384, 8);
    EXPECT_EQ(stages.count, 1u);
    EXPECT_EQ(stages.stages[0].exchangedBytes, 768u);
    return stages.stages[0].cycles;
  };
  EXPECT_EQ(cycles(), 33u + 6 * (20 + 25));
  limits.useFastReduce = true;
  EXPECT_EQ(cycles(), 33u + 6 * (20 + 17));
  limits.useFastReduce = limits.allowSingleInputReduce = false;
  EXPECT_EQ(cycles(), 6u * (32 + 32));
}

// A batch of 64 through a layer of 1,024 x 1,024.
TEST(ConvJoint, PassesShareOnePartitionOrNone) {
  const std::pair<ConvPass, ConvProblem> passes[] = {
      {ConvPass::Forward, product(64, 1024, 1024)},
      {ConvPass::Backward, product(64, 1024, 1024)},
      {ConvPass::WeightUpdate, product(1024, 64, 1024)}};
  std::uint64_t together = 0;
  std::uint64_t alone = 0;
  unsigned joint = 0;
  for (const auto &[pass, problem] : passes) {
    PlanLimits limits;
    alone += planMatMul(problem, limits).totalCycles();
    limits.pass = pass;
    const auto plan = planMatMul(problem, limits);
    together += plan.totalCycles();
    joint += plan.isJoint ? 1 : 0;
  }
  EXPECT_TRUE(joint == 0 || joint == 3);
  EXPECT_LE(together, alone);
}

TEST(PlanConstraintsOption, FixesAPlan) {
  const auto options =
      parseMatMulOptions({{"planConstraints",
                           R"({"method": {"type": "AMP"}, "inChansPerGroup": 16,
            "partialChansPerGroup": 16,
            "0": {"partition": {"fieldSplit": {"1": 5},
                                "outChanSplit": {"parallel": 3, "serial": 2}},
                  "transform": {"swapOperands": false}}})"}});
  PlanLimits limits;
  limits.constraints = options.constraints;
  const auto plan = planMatMul(product(100, 64, 200), limits);
  EXPECT_EQ(plan.split.columns, 5u);
  EXPECT_EQ(plan.split.outChans, 3u);
  EXPECT_EQ(plan.split.serialOutChans, 2u);
  EXPECT_FALSE(plan.swapsOperands);
}

TEST(PlanConstraintsOption, RejectsWhatItDoesNotKnow) {
  for (const char *text :
       {"{", "[]", R"({"method": "AMP"})", R"({"method": {"type": "X"}})",
        R"({"inChansPerGroup": "16"})", R"({"0": {"partition": {"x": 1}}})"}) {
    EXPECT_THROW(parseMatMulOptions({{"planConstraints", text}}),
                 poplar::invalid_option)
        << text;
  }
}

} // namespace
} // namespace poplin::internal
