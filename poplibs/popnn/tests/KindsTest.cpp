// Pooling, group norm, softmax and loss against naive formulas.
#include <popnn/internal/Kinds.hpp>

#include "../../testing/TestProgram.hpp"

#include <kernels/Kind.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace {

using kernels::Attributes;
using Ints = Attributes::Ints;

Attributes poolAttributes() {
  return {{"kernel", Ints{2, 2}},
          {"strides", Ints{2, 2}},
          {"padLower", Ints{0, 0}},
          {"padUpper", Ints{0, 0}},
          {"activation", std::string()}};
}

// Kinds that only the functions of their own library, or the engine's compiler,
// emit.
const std::set<std::string_view> withoutFunction = {
    "attention",       "cholesky",       "dropout",        "floatControl",
    "fromQuarter",     "hasNan",         "histogram",      "iota",
    "nextSeed",        "oneHot",         "random",         "roundHalf",
    "roundingControl", "sequenceSlice",  "splineBasis",    "splineWeighting",
    "toQuarter",       "triangularMask", "triangularSolve"};

TEST(KindFunctions, ExistForAllOtherKinds) {
  for (const auto *kind : kernels::allKinds()) {
    EXPECT_EQ(popnn::internal::findKindFunction(kind->name) == nullptr,
              withoutFunction.contains(kind->name))
        << kind->name;
  }
}

TEST(MaxPoolKind, TakesMaximaAndRoutesGradients) {
  TestProgram p;
  const auto x = p.input({1, 1, 2, 4}, {1, 5, 2, 0, 3, 4, 8, 7});
  const auto pooled = popnn::internal::maxPool(p.graph, poolAttributes(), {x},
                                               p.prog, "pool", {});
  ASSERT_EQ(pooled.size(), 2u);
  auto attributes = poolAttributes();
  attributes.set("inputShape", Ints{1, 1, 2, 4});
  const auto dy = p.input({1, 1, 1, 2}, {10, 20});
  const auto dx = popnn::internal::maxPoolGrad(
      p.graph, attributes, {dy, pooled[1]}, p.prog, "bwd", {});
  EXPECT_EQ(p.run<float>(concat(pooled[0].flatten(), dx[0].flatten())),
            (std::vector<float>{5, 8, 0, 10, 0, 0, 0, 0, 20, 0}));
}

TEST(GroupNormKind, NormalisesEachGroup) {
  constexpr std::size_t n = 2, c = 4, f = 3, groups = 2;
  TestProgram p;
  const auto x = TestProgram::pattern(n * c * f);
  const auto gamma = TestProgram::pattern(c, 2);
  const auto beta = TestProgram::pattern(c, 3);
  const auto y = popnn::internal::groupNorm(
      p.graph, {{"groups", std::int64_t{groups}}, {"epsilon", 1e-5}},
      {p.input({n, c, f}, x), p.input({c}, gamma), p.input({c}, beta)}, p.prog,
      "gn", {});
  std::vector<float> expected(x.size());
  constexpr std::size_t size = c / groups * f;
  for (std::size_t g = 0; g < n * groups; ++g) {
    double mean = 0, power = 0;
    for (std::size_t i = g * size; i < (g + 1) * size; ++i) {
      mean += x[i] / double(size);
      power += double(x[i]) * x[i] / double(size);
    }
    const double scale = 1 / std::sqrt(power - mean * mean + 1e-5);
    for (std::size_t i = g * size; i < (g + 1) * size; ++i) {
      const auto channel = i / f % c;
      expected[i] =
          float((x[i] - mean) * scale * gamma[channel] + beta[channel]);
    }
  }
  EXPECT_VALUES_NEAR(p.run<float>(y[0]), expected, 1e-4);
}

TEST(LossKinds, GiveTheMeanNegativeLogLikelihood) {
  TestProgram p;
  const auto x = p.input({2, 3}, {1, 2, 3, 0, 0, 0});
  const auto labels = p.input<int>(poplar::INT, {2}, {2, 0});
  const auto logp =
      popnn::internal::logSoftmax(p.graph, {}, {x}, p.prog, "ls", {})[0];
  const Attributes attributes{{"reduction", std::string("mean")},
                              {"ignoreIndex", std::int64_t{-1}}};
  const auto loss = popnn::internal::nllLoss(
      p.graph, attributes, {logp, labels}, p.prog, "loss", {})[0];
  const double first = -3 + std::log(std::exp(1) + std::exp(2) + std::exp(3));
  const double expected = (first + std::log(3)) / 2;
  EXPECT_NEAR(p.run<float>(loss)[0], expected, 1e-5);
}

} // namespace
