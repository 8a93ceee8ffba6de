// Normalisations by statistic: references against figures by hand, fast kernels
// against the references.
#include "ReferenceTesting.hpp"

#include <cmath>

namespace kernels::testing {
namespace {

// [outer, rows, channels, size]: long and short channels, one row, one channel.
const Shape shapes[] = {{1, 3, 5, 40}, {4, 1, 3, 33},  {1, 300, 19, 1},
                        {2, 7, 6, 5},  {3, 1, 1, 77},  {1, 2, 1, 1},
                        {5, 4, 3, 16}, {1, 64, 32, 49}};

Attributes statisticsOf(double epsilon, std::int64_t unbiased) {
  return {{"epsilon", epsilon}, {"unbiased", unbiased}};
}

TEST(NormStatistics, AreTheMeanAndTheInverseOfTheDeviation) {
  const Input x = given({1, 2, 2, 1}, {1, 10, 3, 30});
  const auto biased =
      Call("normStatistics", statisticsOf(0, 0), {x}).reference();
  expectNear(biased[0], {2, 20});
  expectNear(biased[1], {1, 0.1});
  const auto unbiased =
      Call("normStatistics", statisticsOf(0, 1), {x}).reference();
  expectNear(unbiased[1], {1 / std::sqrt(2.0), 0.1 / std::sqrt(2.0)});
}

TEST(NormParamGrad, SumsOverRowsAndSize) {
  const auto grads = Call("normParamGrad", {},
                          {given({1, 2, 2, 1}, {1, 2, 3, 4}),
                           given({1, 2, 2, 1}, {5, 6, 7, 8})})
                         .reference();
  expectNear(grads[0], {26, 44});
  expectNear(grads[1], {4, 6});
}

TEST(BatchNorm, NormalisesEachChannel) {
  const Attributes attributes{{"epsilon", 0.0}};
  const auto results = Call("batchNorm", attributes,
                            {given({2, 2}, {1, 10, 3, 30}), given({2}, {2, 3}),
                             given({2}, {5, 6})})
                           .reference();
  expectNear(results[0], {3, 3, 7, 9});
  expectNear(results[1], {2, 20});
}

TEST(BatchNorm, GradientIsTheSlope) {
  const Attributes attributes{{"epsilon", 1e-3}};
  const Call forward(
      "batchNorm", attributes,
      {{{F, {3, 2, 2}}, {}, {}}, {{F, {2}}, {}, {}}, {{F, {2}}, {}, {}}});
  const auto outputs = forward.reference();
  const Values weights{1, -2, 3, 0.5, 2, 1, -1, 4, 0.25, -3, 1.5, 2};
  const auto grads =
      Call("batchNormGrad", {},
           {given({3, 2, 2}, weights), given({3, 2, 2}, forward.inputValues(0)),
            given({2}, forward.inputValues(1)), given({2}, outputs[1]),
            given({2}, outputs[2])})
          .reference();
  for (std::size_t input = 0; input < 3; ++input) {
    expectGradient(forward, weights, input, grads[input], 1e-2);
  }
}

TEST(FastNorm, MatchesTheReference) {
  for (const auto type : {DataType::Float, DataType::Half}) {
    const double tolerance = type == DataType::Half ? 2e-2 : 1e-4;
    for (const auto &shape : shapes) {
      const Input acts{{type, shape}, {}, {}};
      const Input statistics{{type, {shape[0], shape[2]}}, {}, {}};
      expectFastMatchesReference(
          {"normStatistics", statisticsOf(1e-3, 0), {acts}}, tolerance);
      expectFastMatchesReference(
          {"normStatisticsGrad", {}, {acts, acts, statistics}}, tolerance);
      expectFastMatchesReference({"normParamGrad", {}, {acts, acts}},
                                 tolerance);
      const Input x{{type, {shape[1], shape[2], shape[3]}}, {}, {}};
      const Input channel{{type, {shape[2]}}, {}, {}};
      expectFastMatchesReference(
          {"batchNorm", statisticsOf(1e-3, 0), {x, channel, channel}},
          tolerance);
      expectFastMatchesReference(
          {"batchNormGrad", {}, {x, x, channel, channel, channel}}, tolerance);
    }
  }
}

// So many elements that results are written past the cache; no channel starts
// with a line.
TEST(FastNorm, OfManyElementsMatchesTheReference) {
  const Input x{{F, {64, 1000, 33}}, {}, {}};
  const Input channel{{F, {1000}}, {}, {}};
  expectFastMatchesReference(
      {"batchNorm", statisticsOf(1e-3, 0), {x, channel, channel}}, 1e-4);
  expectFastMatchesReference(
      {"batchNormGrad", {}, {x, x, channel, channel, channel}}, 1e-4);
}

// More pixels than a chunk of the statistics has, and fewer.
TEST(FastNorm, OfBlockedChannelsMatchesTheReference) {
  for (const std::int64_t size : {3, 19}) {
    const Input x{{F, {3, 48, size, size}}, {}, {}};
    const Input channel{{F, {48}}, {}, {}};
    Call forward("batchNorm", statisticsOf(1e-3, 0), {x, channel, channel});
    EXPECT_FALSE(forward.isTaken(0));
    forward.found(0, Layout::ChannelBlocked16);
    EXPECT_TRUE(forward.isTaken(0));
    expectFastMatchesReference(forward, 1e-4);
    Call gradient("batchNormGrad", {}, {x, x, channel, channel, channel});
    gradient.found(1, Layout::ChannelBlocked16);
    EXPECT_TRUE(gradient.isTaken(0));
    expectFastMatchesReference(gradient, 1e-4);
  }
}

TEST(FastNorm, IsCutByStatistic) {
  const Call call("normStatistics", statisticsOf(1e-3, 1),
                  {{{F, {1, 64, 64, 784}}, {}, {}}});
  EXPECT_EQ(call.taskCount(), 16u);
  expectFastMatchesReference(call, 1e-4);
}

} // namespace
} // namespace kernels::testing
