// The rules and references of element-wise kinds, reductions, products and
// updates against figures worked out by hand.
#include "KernelTesting.hpp"
#include "ReferenceTesting.hpp"

#include <kernels/Expression.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace kernels::testing {
namespace {

constexpr auto H = DataType::Half;
constexpr auto I32 = DataType::Int;
constexpr std::string_view names[] = {"a", "b", "c"};
using Ints = Attributes::Ints;

Input scalarOf(double value) {
  return given({}, {value});
}

TEST(Kinds, HaveDistinctNamesAndAReference) {
  for (const Kind *kind : allKinds()) {
    EXPECT_EQ(&findKind(kind->name), kind);
    EXPECT_NE(kind->reference, nullptr);
    EXPECT_NE(kind->infer, nullptr);
  }
  EXPECT_GE(allKinds().size(), 20u);
}

TEST(ElementwiseReference, WrapsIntegersAndDefinesEveryDivision) {
  const auto apply = [](std::string_view text, Values a, Values b) {
    const auto n = std::int64_t(a.size());
    return Call("elementwise", Expression::parse(text, names).toAttributes(),
                {given({n}, a, I32), given({n}, b, I32)})
        .reference()[0];
  };
  expectNear(apply("a+b", {2147483647, -5}, {1, 3}), {-2147483648.0, -2});
  expectNear(apply("a/b", {7, -7, 7, -2147483648.0}, {2, 2, 0, -1}),
             {3, -3, 0, -2147483648.0});
  expectNear(apply("remainder(a,b)", {7, -7, 7}, {3, 3, 0}), {1, -1, 0});
  expectNear(
      apply("power(a,b)", {2, 3, -1, -1, 5, 0, 0}, {31, 21, -3, -2, -1, -1, 0}),
      {-2147483648.0, 1870418611, -1, 1, 0, 0, 1});
  expectNear(apply("shift_left(a,b)", {1, 1, 3}, {4, 31, 32}),
             {16, -2147483648.0, 0});
  expectNear(apply("shift_right(a,b)", {-1, 16}, {28, 2}), {15, 4});
  expectNear(apply("shift_right_sign_extend(a,b)", {-16, 16}, {2, 2}), {-4, 4});
  expectNear(apply("bitwise_xnor(a,b)", {5}, {3}), {-7});
  expectNear(apply("count_leading_zeros(a)+popcount(b)", {1}, {255}), {39});
}

TEST(ElementwiseReference, RoundsHalfAfterEveryOperator) {
  // 2048 + 1 rounds back to 2048 in half; in float the sum would be 2050.
  const Call call("elementwise",
                  Expression::parse("a+b+b", names).toAttributes(),
                  {given({1}, {2048}, H), given({1}, {1}, H)});
  expectNear(call.reference()[0], {2048});
}

TEST(ElementwiseReference, CastsBetweenTypes) {
  const auto cast = [](DataType from, DataType to, Values values) {
    const auto n = std::int64_t(values.size());
    return Call("elementwise",
                Expression::cast(to, Expression::input(0)).toAttributes(),
                {given({n}, values, from)})
        .reference()[0];
  };
  expectNear(cast(F, I32, {2.9, -2.9, 3e9}), {2, -2, 2147483647});
  expectNear(cast(F, DataType::Bool, {0, 0.5}), {0, 1});
  expectNear(cast(I32, H, {2049}), {2048});
}

TEST(ElementwiseRules, NameTheInputThatDiffers) {
  EXPECT_EQ(errorOf("elementwise",
                    Expression::parse("a+b", names).toAttributes(),
                    {{F, {2, 3}}, {F, {3, 2}}}),
            "[elementwise] input 1 has shape {3,2}; it must be {2,3}, as "
            "input 0");
  // Constants that meet no operand are floats.
  EXPECT_EQ(
      errorOf("elementwise",
              Expression::parse("a+bitwise_and(1,2)", names).toAttributes(),
              {{I32, {2}}}),
      "");
  EXPECT_NE(
      errorOf("elementwise",
              Expression::parse("a+bitwise_and(1,2)", names).toAttributes(),
              {{F, {2}}}),
      "");
}

TEST(FillReference, WritesTheValue) {
  const Call call(
      "fill",
      {{"type", std::int64_t(I32)}, {"shape", Ints{2, 2}}, {"value", 7.0}}, {});
  expectNear(call.reference()[0], {7, 7, 7, 7});
}

TEST(ReduceReference, FollowsTheOperation) {
  const auto reduce = [](std::string op, Ints dims, double scale) {
    return Call("reduce",
                {{"op", std::move(op)},
                 {"dims", std::move(dims)},
                 {"scale", scale}},
                {given({2, 3}, {1, 2, 3, 4, 5, -6})})
        .reference()[0];
  };
  expectNear(reduce("ADD", {1}, 1), {6, 3});
  expectNear(reduce("ADD", {0}, 0.5), {2.5, 3.5, -1.5});
  expectNear(reduce("SQUARE_ADD", {0, 1}, 1), {91});
  expectNear(reduce("MUL", {1}, 1), {6, -120});
  expectNear(reduce("MIN", {0}, 1), {1, 2, -6});
  expectNear(reduce("MAX", {1}, 1), {3, 5});
  expectNear(reduce("ADD", {}, 1), {1, 2, 3, 4, 5, -6});
  // log(e^1 + e^4), log(e^2 + e^5), log(e^3 + e^-6)
  expectNear(reduce("LOG_ADD", {0}, 1),
             {4.0485873515737, 5.0485873515737, 3.0001234021897});
}

TEST(ReduceReference, WrapsIntegerSums) {
  const Call call(
      "reduce", {{"op", std::string("ADD")}, {"dims", Ints{0}}, {"scale", 1.0}},
      {given({2}, {2147483647, 2}, I32)});
  expectNear(call.reference()[0], {-2147483647});
}

Attributes matmulOf(bool bias, std::string activation) {
  return {{"bias", std::int64_t(bias)}, {"activation", std::move(activation)}};
}

TEST(MatmulReference, MultipliesAddsAndActivates) {
  const Values a{1, 2, 3, 4, 5, 6};
  const Values b{1, 0, 0, 1, 1, -1};
  const Call plain("matmul", matmulOf(false, ""),
                   {given({2, 3}, a), given({3, 2}, b)});
  expectNear(plain.reference()[0], {4, -1, 10, -1});
  const Call full("matmul", matmulOf(true, "RELU"),
                  {given({2, 3}, a), given({3, 2}, b), given({2}, {-5, 0.5})});
  expectNear(full.reference()[0], {0, 0, 5, 0});
  const Call groups(
      "matmul", matmulOf(false, ""),
      {given({2, 1, 2}, {1, 2, 3, 4}), given({2, 2, 1}, {1, 1, 10, 1})});
  expectNear(groups.reference()[0], {3, 34});
}

TEST(MatmulRules, RefuseSizesThatDoNotMeet) {
  EXPECT_EQ(errorOf("matmul", matmulOf(false, ""), {{F, {2, 3}}, {F, {4, 2}}}),
            "[matmul] a has shape {2,3} and b {4,2}; a's columns must be b's "
            "rows");
  EXPECT_EQ(errorOf("matmul", matmulOf(true, ""), {{F, {2, 3}}, {F, {3, 2}}}),
            "[matmul] takes 3 inputs, given 2");
  EXPECT_EQ(
      errorOf("matmul", matmulOf(false, "TANH"), {{F, {2, 3}}, {F, {3, 2}}}),
      "[matmul] activation is \"TANH\"; allowed: \"\", \"RELU\"");
}

TEST(SgdReference, FollowsThePyTorchFormula) {
  const auto update = [](std::int64_t nesterov) {
    return Call("sgdUpdate",
                {{"momentum", std::int64_t(1)},
                 {"nesterov", nesterov},
                 {"gradientScale", 0.5}},
                {given({1}, {2}), given({1}, {4}), scalarOf(0.5),
                 scalarOf(0.25), given({1}, {1}), scalarOf(0.5), scalarOf(0.5)})
        .reference();
  };
  // g = 2 + 0.5 = 2.5; v = 0.5 + 1.25 = 1.75
  expectNear(update(0)[0], {2 - 0.5 * 1.75});
  expectNear(update(0)[1], {1.75});
  expectNear(update(1)[0], {2 - 0.5 * (2.5 + 0.5 * 1.75)});
}

TEST(AdamReference, FollowsThePyTorchFormula) {
  const auto update = [](std::int64_t decoupled) {
    return Call("adamUpdate",
                {{"gradientScale", 1.0},
                 {"decoupledDecay", decoupled},
                 {"biasCorrection", std::int64_t(1)}},
                {given({1}, {1}), given({1}, {2}), given({1}, {0}),
                 given({1}, {0}), scalarOf(0), scalarOf(0.1), scalarOf(0.5),
                 scalarOf(0.75), scalarOf(0), scalarOf(0.5)})
        .reference();
  };
  // The first corrected step is lr * sign(g).
  expectNear(update(0)[0], {0.9});
  expectNear(update(0)[1], {0.5 * 2.5});
  expectNear(update(1)[0], {1 * (1 - 0.05) - 0.1});
  expectNear(update(1)[2], {0.25 * 4});
  expectNear(update(1)[3], {1});
}

TEST(RmspropReference, FollowsBothFrameworks) {
  const auto update = [](std::int64_t inside, std::int64_t momentum) {
    std::vector<Input> inputs{given({1}, {1}), given({1}, {2}), given({1}, {0}),
                              scalarOf(0.5),   scalarOf(0.75),  scalarOf(3),
                              scalarOf(0)};
    if (momentum != 0) {
      inputs.push_back(given({1}, {4}));
      inputs.push_back(scalarOf(0.5));
    }
    return Call("rmspropUpdate",
                {{"gradientScale", 1.0},
                 {"momentum", momentum},
                 {"epsilonInside", inside}},
                inputs)
        .reference();
  };
  // s = 0.25 * 4 = 1; PyTorch 2 / (1 + 3), TensorFlow 2 / sqrt(1 + 3)
  expectNear(update(0, 0)[0], {1 - 0.5 * 0.5});
  expectNear(update(1, 0)[0], {1 - 0.5 * 1});
  expectNear(update(0, 1)[2], {0.5 * 4 + 0.5});
  expectNear(update(0, 1)[0], {1 - 0.5 * 2.5});
}

TEST(Shards, AreCutFromTheShapeAlone) {
  EXPECT_EQ(shardCount(100, 0), 1);
  EXPECT_EQ(shardCount(100, 1e9), 16);
  EXPECT_EQ(shardCount(3, 1e9), 2);
  EXPECT_EQ(shardCount(0, 1e9), 1);
  std::int64_t covered = 0;
  for (std::int64_t i = 0; i < 7; ++i) {
    const auto range = shardRange(100, 7, i);
    EXPECT_EQ(range.begin, covered);
    covered = range.end;
  }
  EXPECT_EQ(covered, 100);
}

TEST(Layouts, CountTheirStorage) {
  const Shape shape{20, 5, 3, 3};
  EXPECT_EQ(storageElements(Layout::Plain, shape), 900);
  EXPECT_EQ(storageElements(Layout::BatchLanes16, shape), 32 * 45);
  EXPECT_EQ(storageElements(Layout::ChannelBlocked16, Shape{2, 32, 3}), 192);
  EXPECT_EQ(storageElements(Layout::Columns16, Shape{5, 20}), 5 * 32);
}

TEST(Layouts, SayWhichShapesTheyTake) {
  EXPECT_TRUE(isLayoutFor(Layout::Plain, Shape{}));
  EXPECT_FALSE(isLayoutFor(Layout::BatchLanes16, Shape{16, 3, 3}));
  EXPECT_TRUE(isLayoutFor(Layout::ChannelBlocked16, Shape{5, 32, 3}));
  EXPECT_FALSE(isLayoutFor(Layout::ChannelBlocked16, Shape{16, 5, 3}));
  EXPECT_TRUE(isLayoutFor(Layout::WeightsOut16, Shape{16, 5, 3, 3}));
  EXPECT_FALSE(isLayoutFor(Layout::WeightsInOut16, Shape{16, 5, 3, 3}));
  EXPECT_TRUE(isLayoutFor(Layout::Columns16, Shape{5, 20}));
  EXPECT_FALSE(isLayoutFor(Layout::Columns16, Shape{2, 5, 20}));
  EXPECT_TRUE(isLayoutFor(Layout::StackedColumns16, Shape{2, 5, 32}));
  EXPECT_FALSE(isLayoutFor(Layout::StackedColumns16, Shape{2, 5, 20}));
  EXPECT_FALSE(isLayoutFor(Layout::StackedColumns16, Shape{5, 32}));
}

// [O/16][I/16][3][16 of I][16 of O] of [64, 32, 3].
TEST(Layouts, SayWhereElementsAre) {
  const auto places =
      placesOf({DataType::Float, {64, 32, 3}, {}, Layout::WeightsInOut16});
  ASSERT_EQ(places.size(), 3U);
  const std::int64_t expected[][3] = {
      {16, 2 * 3 * 256, 1}, {16, 3 * 256, 16}, {1, 256, 0}};
  for (std::size_t d = 0; d < 3; ++d) {
    EXPECT_EQ(places[d].block, expected[d][0]);
    EXPECT_EQ(places[d].outer, expected[d][1]);
    EXPECT_EQ(places[d].inner, expected[d][2]);
  }
}

} // namespace
} // namespace kernels::testing
