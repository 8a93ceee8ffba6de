// Cycle formulas against the published self-check values (section 9.1) and the
// on-tile matrix products C1.
#include <kernels/cost/Convolution.hpp>
#include <kernels/cost/Elementwise.hpp>
#include <kernels/cost/Memory.hpp>
#include <kernels/cost/NeuralNet.hpp>
#include <kernels/cost/Reduction.hpp>

#include <gtest/gtest.h>

namespace kernels::cost {
namespace {

constexpr auto F = DataType::Float;
constexpr auto H = DataType::Half;
const TileSpec tile;

ElementwiseOpInfo op(std::string_view name, std::string_view cost) {
  return {ElementwiseOp{}, name, 2, false, cost, {}};
}

TEST(CostText, ReadsFiguresByTypeAndPlace) {
  const std::string_view text = "F12/2>10/2 H6/4~ I6/1 LL14/1";
  EXPECT_EQ(parseLoopCost(text, F, false), (LoopCost{12, 2, false}));
  EXPECT_EQ(parseLoopCost(text, F, true), (LoopCost{10, 2, false}));
  EXPECT_EQ(parseLoopCost(text, H, true), (LoopCost{6, 4, true}));
  EXPECT_EQ(parseLoopCost(text, DataType::UnsignedInt, false),
            (LoopCost{6, 1, false}));
  EXPECT_EQ(parseLoopCost(text, DataType::UnsignedLongLong, false),
            (LoopCost{14, 1, false}));
  EXPECT_EQ(parseLoopCost(text, DataType::Bool, false), std::nullopt);
}

TEST(CostText, ProportionalLoopsRoundPerElement) {
  EXPECT_EQ((LoopCost{6, 4, false}).of(167), 252u);
  EXPECT_EQ((LoopCost{6, 4, true}).of(167), 255u);
}

TEST(CostElementwise, MatchesPublishedUnaryVertices) {
  EXPECT_EQ(unaryOp1D(tile, op("RELU", "H3/4>2/4"), H, 6000, false), 4622u);
  EXPECT_EQ(unaryOp1D(tile, op("EXPONENT", "F6/2"), F, 1000, false), 3242u);
  EXPECT_EQ(unaryOp1D(tile, op("SQRT", "F10/2"), F, 1000, false), 5162u);
  EXPECT_EQ(unaryOp1D(tile, op("CEIL", "F6/2~"), F, 1000, false), 3146u);
}

TEST(CostElementwise, MatchesPublishedBinaryVertices) {
  EXPECT_EQ(binaryOp1D(tile, op("ADD", "F3/2"), F, 1000, false), 1697u);
  EXPECT_EQ(binaryOp1D(tile, op("MULTIPLY", "H3/4"), H, 6000, false), 4667u);
  EXPECT_EQ(binaryOp1D(tile, op("ADD", "H3/4"), H, 6000, true), 4859u);
  EXPECT_EQ(broadcastScalar1D(tile, op("MULTIPLY", "F3/2"), F, 1000), 1139u);
}

TEST(CostElementwise, MatchesPublishedCasts) {
  EXPECT_EQ(cast1D(tile, F, H, 1000), 762u);
  EXPECT_EQ(cast1D(tile, H, F, 1000), 750u);
}

TEST(CostElementwise, FillFollowsTheElementSize) {
  EXPECT_EQ(fill(tile, F, 101), 23u + 50 + 1);
  EXPECT_EQ(fill(tile, H, 2), 21u);
  EXPECT_EQ(fill(tile, H, 100), 51u);
  EXPECT_EQ(fill(tile, DataType::Bool, 64), 47u);
}

AmpShare matmul16x16(std::uint64_t n) {
  AmpShare share;
  share.inputType = share.partialsType = H;
  share.rowLength = n;
  return share;
}

TEST(CostConvolution, MatchesPublishedOnTileProducts) {
  EXPECT_EQ(convPartial1x1Out(tile, matmul16x16(16)), 409u);
  EXPECT_EQ(convPartial1x1Out(tile, matmul16x16(64)), 577u);
  EXPECT_EQ(convPartial1x1Out(tile, matmul16x16(256)), 1345u);
  EXPECT_EQ(convPartial1x1Out(tile, matmul16x16(1024)), 4417u);
}

TEST(CostConvolution, StaysWithinSevenCyclesOfHardware) {
  const std::pair<std::uint64_t, double> measured[] = {
      {16, 402}, {64, 584}, {256, 1352}, {1024, 4424}};
  for (const auto &[n, cycles] : measured) {
    const auto estimate = convPartial1x1Out(tile, matmul16x16(n));
    EXPECT_NEAR(static_cast<double>(estimate), cycles, 7) << n;
  }
}

// By hand from section 8.6: 12 positions of one row, kernel 3x3, one 16x16
// block: rows of 2 take 18 + 3 + 34 - 9 = 46 a worker, so 46*6 + 9 = 285 a
// kernel position; inner = 3*(14 + 3*(12 + 64 + 15 + 3)) + 9*285 = 3453.
TEST(CostConvolution, Nx1FollowsTheFormula) {
  AmpShare share = matmul16x16(12);
  share.kernelHeight = 3;
  share.kernelRest = 3;
  const Cycles zero = 6 * (8 + 5); // 32 partials a worker, four at a time
  EXPECT_EQ(convPartialNx1(tile, share),
            109u + 54 + 60 + 18 + 1 + 16 + 14 + 14 + 3453 + zero);
}

// The reduce stages of the published plans 256 H, 512 H and 2048 F.
TEST(CostReduction, MatchesPublishedReduceStages) {
  EXPECT_EQ(convReduceAdd(tile, H, H, 48, 8), 384u);
  EXPECT_EQ(convReduceAdd(tile, H, H, 187, 11), 1374u);
  EXPECT_EQ(convReduceAdd(tile, F, H, 2930, 8), 22326u);
}

TEST(CostReduction, ScalarAndContinuousFollowTheFormulas) {
  EXPECT_EQ(reduceToScalar(tile, F, F, 101, true), 17u + 50 + 1);
  EXPECT_EQ(reduceContinuous(tile, F, 3, 11, true), 17u + 15 + 36 + 2);
  EXPECT_EQ(reduceStrided(tile, F, F, 10, 5, true), 16u + 5 * (3 + 5 + 3 + 4));
}

TEST(CostMemory, ExchangeIsTwiceAsFastOnASharedBus) {
  EXPECT_EQ(exchange(1440, 4, 2), 180u);
  EXPECT_EQ(exchange(931, 4, 1), 233u);
}

TEST(CostMemory, CodeSizeTakesTheMostSpecificName) {
  EXPECT_EQ(codeBytes("poplin::ReduceAddSingleInput<float,float>"), 550u);
  EXPECT_EQ(codeBytes("poplin::ReduceAdd<float,float>"), 1060u);
  EXPECT_EQ(codeBytes("popnn::NonLinearity1D<float,TANH>"), 410u);
  EXPECT_EQ(codeBytes("popnn::NonLinearityGrad1D<float,TANH>"), 400u);
}

TEST(CostNeuralNet, LossesCountElements) {
  EXPECT_EQ(lossCrossEntropy(F, 10), 109u);
  EXPECT_EQ(lossCrossEntropy(H, 11), 19u + 45 + 11);
  EXPECT_EQ(lossSumSquared(H, 10), 38u);
  EXPECT_EQ(calcAccuracy(8), 46u);
}

} // namespace
} // namespace kernels::cost
