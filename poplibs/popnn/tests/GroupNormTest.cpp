// Group normalisation by its public functions, against formulas written out and
// against slopes measured by differences.
#include <popnn/GroupNorm.hpp>
#include <popnn/Norms.hpp>
#include <popnn/codelets.hpp>

#include "../../testing/TestProgram.hpp"

#include <poputil/exceptions.hpp>

#include <gtest/gtest.h>

namespace {

constexpr std::size_t batch = 2, channels = 4, field = 3, groups = 2;
constexpr float epsilon = 1e-5f;

struct Program : TestProgram {
  Program() { popnn::addCodelets(graph); }
};

// Channel c belongs to group c mod groups.
std::vector<double> normalise(const std::vector<float> &x,
                              const std::vector<float> &gamma,
                              const std::vector<float> &beta) {
  std::vector<double> y(x.size());
  constexpr double count = channels / groups * field;
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t g = 0; g < groups; ++g) {
      double sum = 0, squares = 0;
      const auto forEach = [&](auto &&f) {
        for (std::size_t c = g; c < channels; c += groups) {
          for (std::size_t i = 0; i < field; ++i) {
            f((b * channels + c) * field + i, c);
          }
        }
      };
      forEach([&](std::size_t at, std::size_t) {
        sum += x[at];
        squares += double(x[at]) * x[at];
      });
      const double mean = sum / count;
      const double scale =
          1 / std::sqrt(squares / count - mean * mean + epsilon);
      forEach([&](std::size_t at, std::size_t c) {
        y[at] = (x[at] - mean) * scale * gamma[c] + beta[c];
      });
    }
  }
  return y;
}

class GroupNorm : public testing::TestWithParam<bool> {};

TEST_P(GroupNorm, NormalisesAndDifferentiates) {
  const bool stable = GetParam();
  const auto xs = TestProgram::pattern(batch * channels * field);
  const auto gammas = TestProgram::pattern(channels, 2);
  const auto betas = TestProgram::pattern(channels, 3);
  const auto dys = TestProgram::pattern(xs.size(), 0.7f);
  Program p;
  const auto x = p.input({batch, channels, field}, xs);
  const auto gamma = p.input({channels}, gammas);
  const auto beta = p.input({channels}, betas);
  const auto dy = p.input({batch, channels, field}, dys);
  const auto [mean, invStdDev] = popnn::gn::groupNormStatistics(
      p.graph, x, epsilon, p.prog, groups, false, stable);
  ASSERT_EQ(mean.numElements(), batch * groups);
  const auto y = popnn::gn::groupNormalise(p.graph, x, gamma, beta, mean,
                                           invStdDev, p.prog)
                     .first;
  const auto dx = popnn::gn::groupNormGradients(p.graph, x, dy, mean, invStdDev,
                                                gamma, p.prog);
  const auto [dGamma, dBeta] = popnn::gn::groupNormParamGradients(
      p.graph, x, dy, mean, invStdDev, p.prog);

  auto expected = normalise(xs, gammas, betas);
  const auto slopes = [&](std::vector<float> values, auto &&evaluate) {
    constexpr float step = 1e-2f;
    for (auto &value : values) {
      const float before = value;
      double difference = 0;
      for (const float sign : {1.0f, -1.0f}) {
        value = before + sign * step;
        const auto result = evaluate(values);
        for (std::size_t i = 0; i < dys.size(); ++i) {
          difference += sign * dys[i] * result[i];
        }
      }
      value = before;
      expected.push_back(difference / (2 * step));
    }
  };
  slopes(xs, [&](const auto &v) { return normalise(v, gammas, betas); });
  slopes(gammas, [&](const auto &v) { return normalise(xs, v, betas); });
  slopes(betas, [&](const auto &v) { return normalise(xs, gammas, v); });
  EXPECT_VALUES_NEAR(
      p.run<float>(poplar::concat({y.flatten(), dx.flatten(), dGamma, dBeta})),
      expected, 5e-3);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, GroupNorm, testing::Bool());

TEST(GroupNormErrors, NameChannelsThatDoNotDivide) {
  Program p;
  const auto x = p.input({1, 3}, {1, 2, 3});
  EXPECT_THROW(
      popnn::gn::groupNormStatistics(p.graph, x, epsilon, p.prog, 2, false),
      poputil::poplibs_error);
}

TEST(NormParams, HaveOneValueForEachChannel) {
  Program p;
  const auto x = p.graph.addVariable(poplar::HALF, {2, 5, 3}, "x");
  const auto params = popnn::createNormParams(p.graph, x);
  EXPECT_EQ(params.first.shape(), (std::vector<std::size_t>{5}));
  EXPECT_EQ(params.second.elementType(), poplar::HALF);
}

} // namespace
