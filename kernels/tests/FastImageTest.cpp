// The fast kernels over images against the references: convolutions, pooling,
// group normalisation, and HALF through all of them.
#include "KernelTesting.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kernels::testing {
namespace {

constexpr auto F = DataType::Float;

struct ConvolutionCase {
  std::int64_t batch, in, out, size, kernel, stride, pad, dilation, groups;
};
constexpr ConvolutionCase convolutions[] = {
    {16, 1, 5, 28, 3, 1, 0, 1, 1},
    {16, 5, 12, 13, 5, 1, 0, 1, 1},
    {3, 4, 6, 9, 3, 2, 1, 1, 1},
    {2, 8, 4, 11, 3, 1, 2, 2, 2},
    {1, 3, 2, 5, 5, 1, 0, 1, 1},
    {5, 32, 32, 8, 3, 1, 1, 1, 1},
    {32, 1, 10, 14, 5, 1, 0, 1, 1},
    {16, 10, 20, 9, 5, 1, 0, 1, 1},
    {2, 6, 6, 7, 3, 1, 1, 1, 6},
    {30, 3, 7, 6, 1, 1, 0, 1, 1},
    {16, 3, 4, 9, 3, 1, 1, 1, 1},
    {31, 2, 9, 11, 3, 2, 1, 1, 1},
    {16, 2, 3, 12, 3, 1, 2, 2, 1},
    {16, 2, 3, 9, 7, 1, 3, 1, 1},
    {16, 1, 1, 4, 1, 1, 0, 1, 1},
    {16, 2, 2, 3, 2, 1, 3, 1, 1},
    // Grey images: with padding, and with steps in both images.
    {24, 1, 9, 12, 5, 1, 2, 1, 1},
    {20, 1, 7, 13, 3, 2, 2, 2, 1},
    // The last samples are few enough for half of the lanes.
    {40, 10, 20, 9, 5, 1, 0, 1, 1},
    {56, 3, 9, 8, 3, 1, 1, 1, 1},
    {39, 2, 3, 9, 3, 2, 1, 1, 1},
    {2, 64, 64, 8, 3, 1, 1, 1, 64},
    {2, 32, 64, 8, 3, 1, 1, 1, 4},
    {4, 32, 32, 9, 3, 1, 4, 1, 1},
    {4, 16, 16, 10, 3, 2, 5, 1, 1},
    // In oneDNN's layouts; parts of the channels where samples are few.
    {1, 32, 128, 9, 3, 1, 1, 1, 1},
    {1, 128, 32, 9, 3, 1, 1, 1, 1},
    {3, 128, 64, 9, 1, 1, 0, 1, 1},
    {2, 64, 128, 9, 1, 2, 0, 1, 1},
    {2, 64, 64, 6, 3, 1, 1, 1, 1},
    {3, 3, 32, 9, 3, 1, 1, 1, 1},
    {2, 1, 32, 9, 3, 1, 0, 1, 1},
    {2, 64, 32, 7, 3, 1, 1, 1, 2},
    // By Winograd's method.
    {8, 32, 32, 12, 3, 1, 1, 1, 1},
    {9, 48, 32, 13, 3, 1, 0, 1, 1},
    // So, too, and the weights' gradient in parts of the channels.
    {2, 80, 144, 13, 3, 1, 1, 1, 1},
    // So, too, with few tiles and weights that stay: parts of the channels of
    // both sides.
    {1, 80, 48, 14, 3, 1, 1, 1, 1},
    {2, 32, 32, 9, 3, 1, 0, 1, 1},
    // By Winograd's method along rows: the last of several strips is whole, or
    // reaches beyond the image; images of one pixel; padding; many samples.
    {40, 10, 20, 12, 5, 1, 0, 1, 1},
    {24, 8, 9, 11, 5, 1, 2, 1, 1},
    {16, 9, 8, 5, 5, 1, 0, 1, 1},
    {16, 8, 9, 3, 5, 1, 4, 1, 1},
    {95, 12, 8, 6, 5, 1, 1, 1, 1},
};

Attributes convolutionOf(const ConvolutionCase &c) {
  return {{"strides", Attributes::Ints{c.stride, c.stride}},
          {"padLower", Attributes::Ints{c.pad, c.pad}},
          {"padUpper", Attributes::Ints{c.pad, c.pad}},
          {"dilations", Attributes::Ints{c.dilation, c.dilation}},
          {"groups", c.groups}};
}
Attributes forwardOf(const ConvolutionCase &c, bool bias,
                     std::string activation) {
  auto attributes = convolutionOf(c);
  attributes.set("bias", std::int64_t(bias));
  attributes.set("activation", std::move(activation));
  return attributes;
}
TensorType imageOf(const ConvolutionCase &c) {
  return {F, {c.batch, c.in, c.size, c.size}};
}
TensorType weightsOf(const ConvolutionCase &c) {
  return {F, {c.out, c.in / c.groups, c.kernel, c.kernel}};
}
TensorType resultOf(const ConvolutionCase &c) {
  const Call call("convolution", forwardOf(c, false, ""),
                  {{imageOf(c), {}, {}}, {weightsOf(c), {}, {}}});
  return call.outputTypes()[0];
}

TEST(FastConvolution, MatchesForward) {
  for (const auto &c : convolutions) {
    Call plain("convolution", forwardOf(c, false, ""),
               {{imageOf(c), {}, {}}, {weightsOf(c), {}, {}}});
    Call full(
        "convolution", forwardOf(c, true, "RELU"),
        {{imageOf(c), {}, {}}, {weightsOf(c), {}, {}}, {{F, {c.out}}, {}, {}}});
    for (Call *call : {&plain, &full}) {
      expectFastMatchesReference(*call, 1e-4);
      expectFastMatchesReference(call->kept(1), 1e-4);
    }
  }
}

TEST(FastConvolution, MatchesDataGradient) {
  for (const auto &c : convolutions) {
    auto attributes = convolutionOf(c);
    attributes.set("inputShape", imageOf(c).shape);
    expectFastMatchesReference(
        {"convolutionDataGrad",
         attributes,
         {{resultOf(c), {}, {}}, {weightsOf(c), {}, {}}}},
        1e-4);
  }
}

TEST(FastConvolution, MatchesWeightGradient) {
  for (const auto &c : convolutions) {
    auto attributes = convolutionOf(c);
    attributes.set("kernelShape", Attributes::Ints{c.kernel, c.kernel});
    expectFastMatchesReference({"convolutionWeightGrad",
                                attributes,
                                {{resultOf(c), {}, {}}, {imageOf(c), {}, {}}}},
                               5e-4);
  }
}

// Parts that the library's convolution of one sample is cut into.
std::size_t partsOf(const ConvolutionCase &c) {
  const std::vector<Input> inputs{{imageOf(c), {}, {}}, {weightsOf(c), {}, {}}};
  const Call call("convolution", forwardOf(c, false, ""), inputs);
  const std::size_t library = call.kernelNamed("oneDNN");
  return call.isTaken(library) ? call.taskCount(library) : 0;
}

TEST(FastConvolution, CutsTheChannelsOfOneSample) {
  // As many as a batch of sixteen has.
  EXPECT_EQ(partsOf({1, 64, 512, 14, 3, 1, 1, 1, 1}), 16U);
  // Points: of 32 channels where there are many, of 16 where these are few.
  EXPECT_EQ(partsOf({1, 256, 128, 28, 1, 1, 0, 1, 1}), 4U);
  EXPECT_EQ(partsOf({1, 256, 32, 56, 1, 1, 0, 1, 1}), 2U);
}

// Of the sums in double, relative to their own size.
double deviation(const std::vector<double> &values,
                 const std::vector<double> &expected) {
  double errors = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    errors += (values[i] - expected[i]) * (values[i] - expected[i]);
    squares += expected[i] * expected[i];
  }
  return std::sqrt(errors / squares);
}

// Expects a kernel that takes differences of its input to come near one that
// does not, in all directions.
void expectExact(const ConvolutionCase &c, std::string_view oursName,
                 std::string_view directName, double times) {
  const Input x{imageOf(c), {}, {}}, w{weightsOf(c), {}, {}},
      dy{resultOf(c), {}, {}};
  auto byData = convolutionOf(c), byWeights = convolutionOf(c);
  byData.set("inputShape", imageOf(c).shape);
  byWeights.set("kernelShape", Attributes::Ints{c.kernel, c.kernel});
  for (const Call &call : {Call("convolution", forwardOf(c, false, ""), {x, w}),
                           Call("convolutionDataGrad", byData, {dy, w}),
                           Call("convolutionWeightGrad", byWeights, {dy, x})}) {
    const std::size_t ours = call.kernelNamed(oursName);
    const std::size_t direct = call.kernelNamed(directName);
    ASSERT_TRUE(call.isTaken(ours));
    const auto expected = call.reference()[0];
    const double deviates = deviation(call.fast(ours)[0], expected);
    EXPECT_LT(deviates, 2e-6);
    EXPECT_LT(deviates, times * deviation(call.fast(direct)[0], expected));
  }
}

TEST(FastConvolution, StaysExactByWinogradsMethod) {
  expectExact({4, 64, 32, 16, 3, 1, 1, 1, 1}, "winograd", "oneDNN", 8);
  // The data gradient takes the tiles of the convolution, which are fewer.
  expectExact({9, 64, 32, 13, 3, 1, 0, 1, 1}, "winograd", "oneDNN", 8);
}

TEST(FastConvolution, StaysExactByWinogradsMethodAlongRows) {
  expectExact({40, 10, 20, 12, 5, 1, 0, 1, 1}, "lanes, winograd", "lanes", 4);
  expectExact({16, 8, 12, 13, 5, 1, 0, 1, 1}, "lanes, winograd", "lanes", 4);
}

// One image has so few tiles that weights, if they stay, are transformed part
// by part.
TEST(FastConvolution, StaysExactByWinogradsMethodWithFewTiles) {
  const ConvolutionCase c{1, 80, 48, 15, 3, 1, 1, 1, 1};
  const std::vector<Input> inputs{{imageOf(c), {}, {}}, {weightsOf(c), {}, {}}};
  Call call("convolution", forwardOf(c, false, ""), inputs);
  const std::size_t winograd = call.kernelNamed("winograd");
  EXPECT_FALSE(call.isTaken(winograd));
  ASSERT_TRUE(call.kept(1).isTaken(winograd));
  // Parts of 64 and 16 channels are transformed, 32 and 16 computed.
  EXPECT_EQ(call.taskCount(winograd), 4U);
  const auto expected = call.reference()[0];
  const double ours = deviation(call.fast(winograd)[0], expected);
  EXPECT_LT(ours, 2e-6);
  const auto direct = call.fast(call.kernelNamed("oneDNN"))[0];
  EXPECT_LT(ours, 8 * deviation(direct, expected));
}

// Every second channel of an image: no dimension steps over all of the next.
TEST(FastConvolution, LeavesViewsThatOneDnnCannotDescribe) {
  const Attributes::Ints ones(2, 1), none(2, 0);
  const Call call(
      "convolution",
      {{"strides", ones},
       {"padLower", none},
       {"padUpper", none},
       {"dilations", ones},
       {"groups", std::int64_t{1}},
       {"bias", std::int64_t{0}},
       {"activation", std::string()}},
      {{{F, {5, 3, 5, 1}}, {25, 10, 1, 1}, {}}, {{F, {3, 3, 2, 1}}, {}, {}}});
  for (std::size_t entry = 0; entry < call.kernelCount(); ++entry) {
    if (call.isTaken(entry)) {
      EXPECT_EQ(call.fast(entry), call.reference());
    }
  }
}

// One and three field dimensions, with groups; four are left to the reference.
TEST(FastConvolution, TakesOtherNumbersOfFieldDimensions) {
  struct Case {
    std::size_t dims;
    std::int64_t in, out, groups;
  };
  for (const auto &[dims, in, out, groups] :
       {Case{1, 4, 6, 2}, Case{3, 4, 6, 2}, Case{1, 32, 64, 1},
        Case{3, 16, 32, 1}}) {
    const Attributes::Ints ones(dims, 1), twos(dims, 2);
    Attributes attributes{{"strides", twos},
                          {"padLower", ones},
                          {"padUpper", ones},
                          {"dilations", ones},
                          {"groups", groups}};
    Shape x{3, in}, w{out, in / groups}, y{3, out};
    x.insert(x.end(), dims, 7);
    w.insert(w.end(), dims, 3);
    y.insert(y.end(), dims, 4);
    auto forward = attributes;
    forward.set("bias", std::int64_t{0});
    forward.set("activation", std::string("RELU"));
    expectFastMatchesReference(
        {"convolution", forward, {{{F, x}, {}, {}}, {{F, w}, {}, {}}}}, 1e-4);
    attributes.set("inputShape", x);
    expectFastMatchesReference({"convolutionDataGrad",
                                attributes,
                                {{{F, y}, {}, {}}, {{F, w}, {}, {}}}},
                               1e-4);
    attributes.set("kernelShape", Attributes::Ints(dims, 3));
    expectFastMatchesReference({"convolutionWeightGrad",
                                attributes,
                                {{{F, y}, {}, {}}, {{F, x}, {}, {}}}},
                               5e-4);
  }
}

struct PoolCase {
  std::int64_t batch, channels, rows, columns, kernel, stride, lower, upper;
};
constexpr PoolCase pools[] = {
    {16, 5, 26, 26, 2, 2, 0, 0}, {2, 3, 9, 11, 2, 2, 0, 0},
    {1, 1, 5, 37, 3, 2, 1, 1},   {3, 2, 8, 8, 3, 1, 1, 1},
    {1, 2, 7, 7, 3, 3, 0, 0},    {1, 1, 1, 1, 1, 1, 0, 0},
    {30, 4, 6, 6, 2, 2, 1, 0},   {20, 33, 12, 12, 2, 2, 0, 0},
    {16, 2, 9, 7, 3, 2, 1, 1},   {16, 3, 5, 5, 2, 3, 0, 0},
    {1, 3, 34, 70, 3, 2, 1, 1},  {1, 2, 33, 69, 3, 2, 1, 0},
    {2, 1, 20, 90, 5, 2, 0, 1},  {1, 2, 12, 50, 4, 3, 2, 2},
};
Attributes poolOf(const PoolCase &c, std::string activation) {
  return {{"kernel", Attributes::Ints{c.kernel, c.kernel}},
          {"strides", Attributes::Ints{c.stride, c.stride}},
          {"padLower", Attributes::Ints{c.lower, c.lower}},
          {"padUpper", Attributes::Ints{c.upper, c.upper}},
          {"activation", std::move(activation)}};
}

TEST(FastMaxPool, MatchesForwardAndGradient) {
  for (const auto &c : pools) {
    for (const auto *activation : {"", "RELU"}) {
      const auto attributes = poolOf(c, activation);
      const TensorType x{F, {c.batch, c.channels, c.rows, c.columns}};
      const Call forward("maxPool", attributes, {{x, {}, {}}});
      expectFastMatchesReference(forward, 0);
      auto gradAttributes = attributes;
      gradAttributes.set("inputShape", x.shape);
      const auto indices = forward.reference()[1];
      const auto types = forward.outputTypes();
      expectFastMatchesReference(
          {"maxPoolGrad",
           gradAttributes,
           {{types[0], {}, {}}, {types[1], {}, indices}}},
          1e-6);
    }
  }
}

TEST(FastMaxPool, TakesBlocksOfEightChannels) {
  for (const PoolCase &c :
       {PoolCase{2, 32, 9, 11, 2, 2, 0, 0}, PoolCase{1, 16, 8, 7, 3, 2, 1, 1},
        PoolCase{40, 48, 6, 6, 2, 2, 1, 0}}) {
    const TensorType x{F, {c.batch, c.channels, c.rows, c.columns}};
    Call call("maxPool", poolOf(c, "RELU"), {{x, {}, {}}});
    ASSERT_TRUE(call.found(0, Layout::ChannelBlocked8).isTaken(0));
    expectFastMatchesReference(call, 0);
  }
}

// A NaN stays where it is the first element of a window.
TEST(FastMaxPool, TreatsNanAsTheReferenceDoes) {
  for (const auto &c : pools) {
    const TensorType x{F, {c.batch, c.channels, c.rows, c.columns}};
    const Call plain("maxPool", poolOf(c, ""), {{x, {}, {}}});
    auto values = plain.inputValues(0);
    for (std::size_t i = 0; i < values.size(); i += 37) {
      values[i] = std::numeric_limits<double>::quiet_NaN();
    }
    const Call call("maxPool", poolOf(c, ""), {{x, {}, values}});
    const auto wanted = call.reference();
    for (std::size_t entry = 0; entry < call.kernelCount(); ++entry) {
      if (!call.isTaken(entry)) {
        continue;
      }
      const auto found = call.fast(entry);
      for (std::size_t i = 0; i < wanted[0].size(); ++i) {
        EXPECT_EQ(found[1][i], wanted[1][i]) << i;
        EXPECT_EQ(std::isnan(found[0][i]), std::isnan(wanted[0][i])) << i;
      }
    }
  }
}

TEST(FastGroupNorm, MatchesForwardAndGradient) {
  // Batch, channels, groups and rows; without rows: of [batch, channels].
  const std::int64_t cases[][4] = {{16, 12, 3, 9}, {2, 4, 4, 1},
                                   {3, 6, 1, 4},   {40, 8, 2, 14},
                                   {37, 90, 1, 0}, {5, 768, 2, 0}};
  for (const auto &[batch, channels, groups, size] : cases) {
    const TensorType x{F, size == 0 ? Shape{batch, channels}
                                    : Shape{batch, channels, size, size + 1}};
    const TensorType channel{F, {channels}};
    const Call forward("groupNorm", {{"groups", groups}, {"epsilon", 1e-5}},
                       {{x, {}, {}}, {channel, {}, {}}, {channel, {}, {}}});
    expectFastMatchesReference(forward, 2e-4);
    const auto statistics = forward.reference();
    const TensorType statistic{F, {batch, groups}};
    expectFastMatchesReference({"groupNormGrad",
                                {{"groups", groups}},
                                {{x, {}, {}},
                                 {x, {}, forward.inputValues(0)},
                                 {channel, {}, {}},
                                 {statistic, {}, statistics[1]},
                                 {statistic, {}, statistics[2]}}},
                               2e-3);
  }
}

// The same rounding in another order may end one unit apart.
TEST(FastHalf, MatchesWhereFloatKernelsDoTheWork) {
  constexpr auto H = DataType::Half;
  constexpr double unit = 1.0 / 1024;
  expectFastMatchesReference(
      {"matmul",
       Attributes{{"bias", std::int64_t(1)},
                  {"activation", std::string("RELU")}},
       {{{H, {9, 33}}, {}, {}}, {{H, {33, 20}}, {}, {}}, {{H, {20}}, {}, {}}}},
      unit);
  expectFastMatchesReference({"reduce",
                              Attributes{{"op", std::string("ADD")},
                                         {"dims", Attributes::Ints{0}},
                                         {"scale", 1.0}},
                              {{{H, {50, 30}}, {}, {}}}},
                             unit);
  const ConvolutionCase c{16, 3, 4, 8, 3, 1, 0, 1, 1};
  const TensorType x{H, imageOf(c).shape};
  const TensorType w{H, weightsOf(c).shape};
  const TensorType y{H, resultOf(c).shape};
  expectFastMatchesReference(
      {"convolution", forwardOf(c, false, "RELU"), {{x, {}, {}}, {w, {}, {}}}},
      unit);
  auto byData = convolutionOf(c);
  byData.set("inputShape", x.shape);
  expectFastMatchesReference(
      {"convolutionDataGrad", byData, {{y, {}, {}}, {w, {}, {}}}}, unit);
  auto byWeights = convolutionOf(c);
  byWeights.set("kernelShape", Attributes::Ints{3, 3});
  expectFastMatchesReference(
      {"convolutionWeightGrad", byWeights, {{y, {}, {}}, {x, {}, {}}}},
      2 * unit);
  expectFastMatchesReference({"maxPool", poolOf(pools[1], ""), {{x, {}, {}}}},
                             0);
  expectFastMatchesReference({"softmax", {}, {{{H, {20, 10}}, {}, {}}}}, unit);
}

} // namespace
} // namespace kernels::testing
