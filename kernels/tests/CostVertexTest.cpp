// Cycle formulas of section 8 that have no published self-check, against
// figures worked out by hand from their definition in the specification.
#include <kernels/cost/Convolution.hpp>
#include <kernels/cost/Elementwise.hpp>
#include <kernels/cost/NeuralNet.hpp>
#include <kernels/cost/Random.hpp>
#include <kernels/cost/Reduction.hpp>
#include <kernels/cost/Slice.hpp>

#include <gtest/gtest.h>

namespace kernels::cost {
namespace {

constexpr auto F = DataType::Float;
constexpr auto H = DataType::Half;
constexpr auto Q = DataType::Quarter;
constexpr auto I = DataType::Int;
constexpr auto U8 = DataType::UnsignedChar;
const TileSpec tile;

const ElementwiseOpInfo &op(std::string_view name) {
  return *findElementwiseOp(name);
}

TEST(CostElementwise2D, AddsUpRuns) {
  EXPECT_EQ(unaryOp2D(tile, op("SQUARE"), F, 3, 10, false), 20u + 3 * 10);
  EXPECT_EQ(binaryOp2D(tile, op("ADD"), H, 2, 9, false), 5u + 2 * 9);
  EXPECT_EQ(binaryOp2D(tile, op("ADD"), H, 2, 9, true), 20u + 2 * 9);
}

TEST(CostBroadcast, ScalarsHaveShorterLoops) {
  EXPECT_EQ(broadcastScalar2D(tile, op("ADD"), F, 2, 10), 20u + 2 * (28 + 10));
  EXPECT_EQ(broadcastScalar1D(tile, op("DIVIDE"), H, 60), 11u + 6 * (20 + 40));
  EXPECT_EQ(broadcastScalars2D(tile, op("ADD"), H, 2, 8), 20u + 2 * (28 + 10));
}

TEST(CostBroadcast, OuterVectorsTakeRowsOrColumns) {
  EXPECT_EQ(vectorOuterByRow(tile, F, 12, 10), 6u * (15 + 2 * (7 + 10)) + 11);
  EXPECT_EQ(vectorOuterByRow(tile, F, 12, 10, false),
            6u * (15 + 2 * (25 + 10)) + 11);
  EXPECT_EQ(vectorOuterByColumn(tile, H, 3, 48), 6u * (15 + 3 * (7 + 4)) + 11);
}

TEST(CostBroadcast, InnerVectorsFollowEachOperator) {
  // 20 repeats: 4 blocks a worker.
  EXPECT_EQ(vectorInner1D(tile, "ADD", F, {.length = 5, .repeats = 20}),
            13u + 6 * (17 + 7 + 5 * 16) + 24);
  EXPECT_EQ(vectorInner1D(tile, "ADD", H,
                          {.length = 16, .repeats = 20, .isInPlace = true}),
            13u + 6 * (19 + 12 + 2 * 21) + 12);
  EXPECT_EQ(vectorInner1D(tile, "SUBTRACT", H, {.length = 4, .repeats = 20}),
            13u + 6 * (19 + 15 + 15) + 24);
  EXPECT_EQ(vectorInner1D(tile, "ADD", H, {.length = 3, .repeats = 6}),
            13u + 6 * (19 + 7 + 13 + 3 * 14) + 24);
  EXPECT_EQ(vectorInner1D(tile, "MULTIPLY", H, {.length = 8, .repeats = 20}),
            13u + 6 * 24 + 6 * (19 + 13 + 2 * 13) + 12);
  EXPECT_EQ(vectorInner1D(tile, "DIVIDE", F,
                          {.length = 4, .repeats = 20, .slices = 2}),
            14u + 6 * 19 + 6 * 2 * (17 + 10 + 2 * 29) + 4);
  EXPECT_EQ(vectorInner1D(tile, "DIVIDE", H, {.length = 5, .repeats = 30}),
            14u + 6 * 24 + 6 * (10 + 2 * 55 + 29) + 4);
  EXPECT_EQ(vectorInner2D(tile, "ADD", F, 2, {.length = 5, .repeats = 4}),
            4u + 2 * (9 + 7 + 5 * 16) + 3);
  EXPECT_EQ(vectorInner2D(tile, "DIVIDE", H, 1,
                          {.length = 1, .repeats = 1, .isInPlace = true}),
            7u + 15 + 24 + 2);
}

TEST(CostCast, FollowsThePairOfTypes) {
  EXPECT_EQ(cast2D(tile, F, H, 2, 10), 5u + 2 * (11 + 19 + 4 + 3 + 1));
  EXPECT_EQ(cast1D(tile, Q, H, 48), 12u + 6 * (18 + 19 + 2 + 2));
  EXPECT_EQ(cast1D(tile, U8, H, 48), 12u + 6 * (18 + 4 + 14 + 9));
  EXPECT_EQ(cast1D(tile, H, U8, 48), 12u + 6 * (18 + 8 + 19 + 16));
  EXPECT_EQ(cast1D(tile, Q, U8, 96), 12u + 6 * (18 + 56));
  EXPECT_EQ(cast1D(tile, F, I, 60), 12u + 6 * (18 + 19 + 20));
  EXPECT_EQ(cast1D(tile, I, DataType::LongLong, 60), 12u + 6 * (18 + 3 + 50));
}

TEST(CostCast, MovesAndMasks) {
  EXPECT_EQ(fill2D(tile, F, 3, 10), 5u + 3 * (28 - 2));
  EXPECT_EQ(select2D(2, 10), 5u + 2 * 56);
  EXPECT_EQ(broadcastSelect2D(2, 10), 10u + 2 * 48);
  EXPECT_EQ(clamp2D(tile, H, 1, 10), 5u + 6 + 6);
  EXPECT_EQ(clamp2D(tile, I, 1, 10), 5u + 6 + 70);
  EXPECT_EQ(hadamardProduct2D(tile, F, 1, 10), 5u + 6 + 10);
  EXPECT_EQ(iota2D(tile, F, 2, 10), 10u + 2 * (4 + 15));
  EXPECT_EQ(encodeOneHot(H, 10), 751u);
  EXPECT_EQ(scaledAdd2D(tile, F, F, 1, 10, true, false), 12u + 20 + 15);
  EXPECT_EQ(hasNanOrInf1D(tile, H, 96), 6u * (17 + 16 + 12) + 24);
}

TEST(CostReduction, SingleInputIsTwiceAsFastWhenInterleaved) {
  EXPECT_EQ(convReduceAddSingleInput(tile, F, H, 48, 8),
            33u + 6 * (20 + 2 * (16 + 7)));
  EXPECT_EQ(convReduceAddSingleInput(tile, F, H, 48, 8, true),
            33u + 6 * (20 + 2 * (8 + 7)));
  EXPECT_EQ(convReduceCast(tile, F, H, 60), 6u * (26 + 5));
}

TEST(CostReduction, StridedFormsDependOnTypesAndUpdate) {
  EXPECT_EQ(reduceStrided(tile, {.type = H,
                                 .outputType = H,
                                 .outputs = 8,
                                 .partials = 5,
                                 .outerStrides = 2,
                                 .stride = 6,
                                 .isUpdate = true}),
            16u + 4 * (3 + 10 + 2 * (3 + 4)));
  EXPECT_EQ(reduceStrided(tile, {.type = F,
                                 .outputType = F,
                                 .outputs = 4,
                                 .partials = 3,
                                 .isSum = false,
                                 .isLogAdd = true}),
            16u + 2 * (3 + 4 + 3 + 46));
}

// 7 float outputs of 3 regions with 2 rows each: width 4, one vector and the
// bits 1 and 2.
TEST(CostReduction, GeneralFormCountsVectorsAndBits) {
  const Cycles results = 24 + 4 + 6 + 5 + 30 + (4 + 3 + 30) + (4 + 5 + 30);
  const Cycles perRow = 1 * (6 + 3) + 6 + 6;
  EXPECT_EQ(reduceGeneral(tile, {.outputs = 7, .regions = 3, .regionSize = 14}),
            33u + results + 6 * perRow);
  EXPECT_EQ(
      reduceCompiled({.outputs = 1, .regions = 2, .regionSize = 10}, true),
      31u + 8 + 2 * (22 + 360));
}

TEST(CostReduction, ArgMaxAndTopK) {
  EXPECT_EQ(reduceMaxClassGather(tile, 60), 9u + 6 * (30 + 27));
  EXPECT_EQ(reduceMaxClassSparse(10), 54u);
  EXPECT_EQ(topKGather(10, 1), 130u);
}

// 12 positions in two rows: each worker has 2, and K = 6 * 46 = 276 + 9.
TEST(CostConvolution, RangesAreCutIntoRows) {
  const auto one = [](std::uint64_t) { return Cycles{1}; };
  EXPECT_EQ(rangeCycles(0, 10, 4, one), 3u); // 4 + 4 + 2
  EXPECT_EQ(rangeCycles(3, 9, 4, one), 3u);  // 1 + 4 + 1
  EXPECT_EQ(rangeCycles(5, 7, 4, one), 1u);
  EXPECT_EQ(workerCycles(tile, 1, 3, 10, one).least, 0u);
  EXPECT_EQ(workerCycles(tile, 1, 3, 10, one).most, 11u);
}

TEST(CostConvolution, QuartersHaveTheirOwnFormula) {
  AmpShare share;
  share.inputType = Q;
  share.partialsType = H;
  share.rowLength = 60;
  const Cycles load = 16 * 32 / 8;
  const Cycles adding = 6 * (17 + 27 + 28) + 14;
  EXPECT_EQ(convPartial1x1Out(tile, share),
            46u + 21 + 46 + 131 + load + (adding - 30));
}

// One group of 1x4 channels, kernel 1x4, a row of 12: two a worker, in one
// pass on four chains.
TEST(CostConvolution, SlicFollowsTheFormula) {
  SlicShare share;
  share.rowLength = 12;
  const Cycles zeroing = 6 * (17 + 11 + 15);
  EXPECT_EQ(convPartialSlic(tile, share),
            28u + 15 + 1 + (34 + 20) + 1 + zeroing);
  share.subKernels = 3;
  const Cycles adding = 6 * (17 + 10 + 19);
  EXPECT_EQ(convPartialSlic(tile, share),
            28u + 15 + 1 + 3 * 54 + 13 + zeroing + 2 * adding);
}

TEST(CostConvolution, MultiplyAccumulateFollowsTheFormulas) {
  // Dot product of 8 floats: 3 + 4 + 4 = 11; 2 positions a worker.
  HmacShare hmac;
  hmac.inChansPerGroup = 8;
  hmac.rowLength = 12;
  hmac.kernelElements = 3;
  EXPECT_EQ(convPartialHorizontalMac(tile, hmac),
            58u + 23 + 15 + 10 + 3 * 6 * (16 + 19 + 2 * 18) + 6 * (1 + 5));
  hmac.kernelElements = 1;
  EXPECT_EQ(convPartialHorizontalMac(tile, hmac),
            48u + 90 + 23 + 15 + 10 + 6 * (17 + 13 + 27) + 6 * (1 + 5));

  VmacShare vmac;
  vmac.partialsType = H;
  vmac.convGroupsPerGroup = 8;
  vmac.rowLength = 6;
  vmac.kernelElements = 6;
  EXPECT_EQ(convPartialVerticalMac(tile, vmac),
            100u + (4 + 12) + 32 + 24 + 6 * (13 + 40) + 10 + 12);

  EXPECT_EQ(outerProduct(tile, F, 60, 2, 8), 6u * (25 + 2 * (11 + 10 * 7)));
  EXPECT_EQ(outerProduct(tile, H, 60, 1, 6), 6u * (25 + 10 + 10 * 25));
}

TEST(CostPooling, GroupsOfChannelsShareTheirWindows) {
  PoolShare share{
      .rows = 6, .rowLength = 4, .windowElements = 9, .channels = 4};
  const Cycles one = 17 + 2 + (4 + 8) + 6 + 2 + 3 + 6 + 4 +
                     (15 + 9 * (23 + 2 + 2 * (3 + 16))) + 1;
  EXPECT_EQ(pooling(tile, share), 13 + 6 * one);
  share.channelGroups = 2;
  const Cycles more = (4 + 8) + 9 * (4 + 2 + 2 * 19);
  EXPECT_EQ(pooling(tile, share), 13 + 6 * (one + more));
}

TEST(CostSlice, DynamicSlicesFollowTheElementSize) {
  EXPECT_EQ(dynamicSlice1D(tile, F, 60, 3), 25u + 6 * (39 + 3 * (24 + 10)));
  EXPECT_EQ(dynamicSlice1D(tile, H, 60, 3), 25u + 6 * (39 + 3 * (24 + 4)));
  EXPECT_EQ(dynamicSlice1D(tile, U8, 60, 3), 25u + 6 * (76 + 3 * (72 + 4)));
  EXPECT_EQ(dynamicSlice1D(tile, DataType::LongLong, 60, 1),
            25u + 6 * (39 + 24 + 20));
  EXPECT_EQ(dynamicSlice2D(F, 2, 10, 3, false), 27u + 2 * (13 + 3 * 34));
  EXPECT_EQ(dynamicSlice2D(F, 2, 10, 3, true), 27u + 2 * (13 + 3 * 28));
}

TEST(CostSlice, TransposesHaveFastForms) {
  EXPECT_EQ(transpose(H, 1, 4, 4), 29u);
  EXPECT_EQ(transpose(H, 5, 4, 4), 49u);
  EXPECT_EQ(transpose(H, 2, 16, 4), 27u + 2 * 43);
  EXPECT_EQ(transpose(H, 2, 8, 16), 29u + 2 * (18 + 2 * 20));
  EXPECT_EQ(transpose(H, 1, 3, 5), 15u + 8 + 5 * 13);
  EXPECT_EQ(transpose(F, 1, 4, 6), 27u + 11 + 2 * 12);
  EXPECT_EQ(transpose(F, 1, 3, 5), 13u + 8 + 5 * 11);
  EXPECT_EQ(transposeSupervisor(tile, H, 6, 4, 4), 7u + 6 * 24);
}

TEST(CostSlice, LookupsCountHitsAndMisses) {
  EXPECT_EQ(multiSlice(tile, {.lookups = 60, .inRange = 12, .elements = 10}),
            6u * (30 + 2 * (19 + 10) + 8 * 8));
  EXPECT_EQ(
      multiSlice(tile, {.type = H, .lookups = 1, .inRange = 1, .elements = 48}),
      6u * (30 + 19 + 8));
  EXPECT_EQ(
      multiUpdateOp(tile, {.lookups = 60, .inRange = 60, .elements = 10}, true),
      6u * (3 + 29 + 6 + 10 * (11 + 27)));
  EXPECT_EQ(
      multiUpdateOp(
          tile, {.type = H, .lookups = 6, .inRange = 6, .elements = 3}, false),
      6u * (3 + 30 + 60));
}

TEST(CostNonLinearity, LoopsAfterTheFirstVector) {
  EXPECT_EQ(nonLinearity1D(tile, "GELU", F, 24),
            9u + 6 * (22 + 2 + 10 + 10 + 1 + 10 + 3));
  EXPECT_EQ(nonLinearity1D(tile, "SWISH", F, 24),
            9u + 6 * (22 + 2 + 6 + 11 + 1 + 6 + 3));
  EXPECT_EQ(nonLinearityGrad1D(tile, "RELU", H, 48), 9u + 6 * (20 + 5 + 3 + 4));
  EXPECT_EQ(nonLinearityGrad2D(tile, "RELU", H, 2, 8),
            14u + 2 * (12 + 20 + 5 + 3 + 4));
}

TEST(CostRandom, CountsVectors) {
  EXPECT_EQ(uniformRandom(tile, F, 100), 4u + 132 + 200);
  EXPECT_EQ(uniformRandom(tile, H, 98), 4u + 144 + 100 + 12);
  EXPECT_EQ(uniformRandom(tile, I, 100), 436u);
  EXPECT_EQ(normalRandom(tile, F, 100), 4u + 132 + 200);
  EXPECT_EQ(truncatedNormalRandom(tile, F, 100, 4), 4u + 156 + 50 * 49);
  EXPECT_EQ(bernoulliRandom(tile, H, 100), 4u + 138 + 25);
  EXPECT_EQ(dropoutRandom(tile, H, 100), 6u + 144 + 50);
}

TEST(CostRandom, SortsHistogramsAndBlocks) {
  EXPECT_EQ(heapSort(8, false), 8u * (19 * 8 * 3 + 48 + 2));
  EXPECT_EQ(compareAndSwap(tile, F, 60, false), 19u + 6 * 130);
  EXPECT_EQ(histogramByLimit(tile, F, 100, 13),
            6u * (22 + 2 * (11 + 150) + 8 + 24));
  EXPECT_EQ(histogramByData(tile, F, 120, 3), 6u * (28 + 2 * (17 + 30) + 10));
  EXPECT_EQ(choleskyBlock(10), 1000u + 10200 + 1010 + 102);
  EXPECT_EQ(triangularSolveBlock(10), 150u + 1800 - 126);
  EXPECT_EQ(triangularInverseBlock(2), 48u + 204 + 426 + 12);
}

} // namespace
} // namespace kernels::cost
