// Random numbers: the generator against its published answers, distributions
// against their mathematics, and fast kernels against references bit by bit.
#include "KernelTesting.hpp"
#include "ReferenceTesting.hpp"

#include "random/Distributions.hpp"
#include "random/Philox.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace kernels::testing {
namespace {

constexpr auto U = DataType::UnsignedInt;

Attributes drawing(std::string distribution, Attributes::Floats parameters,
                   DataType type, Shape shape, std::int64_t modifier = 0) {
  return {{"distribution", std::move(distribution)},
          {"parameters", std::move(parameters)},
          {"modifier", modifier},
          {"type", static_cast<std::int64_t>(type)},
          {"shape", std::move(shape)}};
}

Values draw(const Attributes &attributes, Values seed = {1, 2}) {
  return Call("random", attributes, {given({2}, std::move(seed), U)})
      .reference()[0];
}

// The largest difference between the numbers' distribution and a cumulative
// one (Kolmogorov-Smirnov), times the root of their count: above 1.95 in one of
// a thousand samples.
double kolmogorov(Values values, const std::function<double(double)> &below) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double wanted = below(values[i]);
    largest = std::max({largest, std::abs(wanted - double(i) / count),
                        std::abs(wanted - double(i + 1) / count)});
  }
  return largest * std::sqrt(count);
}

double normalBelow(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

// The vectors that come with the authors' library (Random123).
TEST(Philox, GivesThePublishedAnswers) {
  const auto expectWords = [](random::Words counter, std::uint32_t k0,
                              std::uint32_t k1, random::Words wanted) {
    const auto words = random::philox(counter, k0, k1);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(words.word[i], wanted.word[i]) << i;
    }
  };
  constexpr std::uint32_t ones = 0xffffffff;
  expectWords({{0, 0, 0, 0}}, 0, 0,
              {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  expectWords({{ones, ones, ones, ones}}, ones, ones,
              {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  expectWords({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822,
              0x299f31d0, {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

TEST(Distributions, FunctionsAreAccurate) {
  for (float x = 1e-7f; x < 1e7f; x *= 1.37f) {
    EXPECT_NEAR(random::logarithm(x), std::log(double(x)),
                2e-7 * std::max(1.0, std::abs(std::log(double(x)))));
  }
  for (float x = -80; x < 80; x += 0.37f) {
    EXPECT_NEAR(random::exponential(x) / std::exp(double(x)), 1, 3e-7) << x;
  }
  for (float x = -0.99999f; x < 1; x += 0.00123f) {
    EXPECT_NEAR(std::erf(random::normalQuantile(x) / std::sqrt(2.0)), x, 4e-7);
  }
}

TEST(Distributions, EndsStayInside) {
  for (std::uint32_t word : {0U, 0x7fffffffU, 0x80000000U, 0xffffffffU}) {
    EXPECT_LT(std::abs(random::signedUnitOf(word)), 1);
    EXPECT_TRUE(std::isfinite(random::Normal{0, 1}(word)));
    const float unit = random::Uniform{0, 1, 1}(word);
    EXPECT_TRUE(unit >= 0 && unit < 1);
  }
  const random::UniformInt all{-2147483648LL, 1ULL << 32};
  EXPECT_EQ(all(0), -2147483647 - 1);
  EXPECT_EQ(all(0xffffffff), 2147483647);
}

TEST(Random, FollowsItsDistributions) {
  constexpr std::int64_t n = 20000;
  constexpr double unlikely = 1.95;
  EXPECT_LT(kolmogorov(draw(drawing("uniform", {-3, 5}, F, {n})),
                       [](double x) { return (x + 3) / 8; }),
            unlikely);
  EXPECT_LT(kolmogorov(draw(drawing("normal", {2, 0.5}, F, {n})),
                       [](double x) { return normalBelow((x - 2) / 0.5); }),
            unlikely);
  const double outside = normalBelow(-1.5);
  EXPECT_LT(kolmogorov(draw(drawing("truncatedNormal", {0, 1, 1.5}, F, {n})),
                       [&](double x) {
                         return (normalBelow(x) - outside) / (1 - 2 * outside);
                       }),
            unlikely);
  EXPECT_LT(
      kolmogorov(draw(drawing("logUniform", {0.1, 100}, F, {n})),
                 [](double x) { return std::log(x / 0.1) / std::log(1e3); }),
      unlikely);
  const auto hits = draw(drawing("bernoulli", {0.3}, F, {n}));
  EXPECT_NEAR(double(std::count(hits.begin(), hits.end(), 1)) / n, 0.3, 0.01);
}

TEST(Random, IntegersIncludeBothBounds) {
  const auto dice = draw(drawing("uniform", {1, 6}, DataType::Int, {6000}));
  EXPECT_EQ(std::set<double>(dice.begin(), dice.end()),
            (std::set<double>{1, 2, 3, 4, 5, 6}));
  for (int face = 1; face <= 6; ++face) {
    EXPECT_NEAR(double(std::count(dice.begin(), dice.end(), face)), 1000, 130);
  }
  const auto logs = draw(drawing("logUniform", {1, 8}, DataType::Int, {20000}));
  // A value k has ln((k + 1) / k) of ln 9.
  EXPECT_NEAR(double(std::count(logs.begin(), logs.end(), 8)) / 20000,
              std::log(9.0 / 8) / std::log(9.0), 0.01);
  EXPECT_EQ(*std::max_element(logs.begin(), logs.end()), 8);
}

TEST(Random, DependsOnSeedModifierAndElementAlone) {
  const auto numbers = draw(drawing("uniform", {0, 1}, F, {100}));
  EXPECT_EQ(draw(drawing("uniform", {0, 1}, F, {10, 10})), numbers);
  const auto longer = draw(drawing("uniform", {0, 1}, F, {1000}));
  EXPECT_TRUE(std::equal(numbers.begin(), numbers.end(), longer.begin()));
  EXPECT_NE(draw(drawing("uniform", {0, 1}, F, {100}, 1)), numbers);
  EXPECT_NE(draw(drawing("uniform", {0, 1}, F, {100}), {2, 2}), numbers);
  EXPECT_NE(draw(drawing("uniform", {0, 1}, F, {100}), {1, 3}), numbers);
}

TEST(Random, RejectsWhatHasNoMeaning) {
  const std::vector<TensorType> seed{{U, {2}}};
  const auto errorFor = [&](const Attributes &attributes) {
    return errorOf("random", attributes, seed);
  };
  EXPECT_NE(errorFor(drawing("normal", {0, 1}, DataType::Int, {1})), "");
  EXPECT_NE(errorFor(drawing("uniform", {2, 1}, F, {1})), "");
  EXPECT_NE(errorFor(drawing("bernoulli", {1.5}, F, {1})), "");
  EXPECT_NE(errorFor(drawing("logUniform", {0, 1}, F, {1})), "");
  EXPECT_NE(errorFor(drawing("normal", {0}, F, {1})), "");
  EXPECT_NE(errorFor(drawing("cauchy", {0, 1}, F, {1})), "");
  EXPECT_NE(errorOf("random", drawing("uniform", {0, 1}, F, {1}), {{{U, {3}}}}),
            "");
  EXPECT_EQ(errorFor(drawing("uniform", {0, 1}, F, {1})), "");
}

// Tolerance 0: the same bits.
TEST(FastRandom, IsTheReference) {
  struct Row {
    std::string distribution;
    Attributes::Floats parameters;
    std::vector<DataType> types;
  };
  const auto H = DataType::Half;
  const auto I = DataType::Int;
  const Row rows[] = {{"uniform", {-3, 5}, {F, H, I}},
                      {"normal", {2, 0.5}, {F, H}},
                      {"truncatedNormal", {0, 1, 1.5}, {F, H}},
                      {"logUniform", {1, 100}, {F, H, I}},
                      {"bernoulli", {0.3}, {F, H, I}},
                      {"bits", {}, {U}}};
  for (const Row &row : rows) {
    for (DataType type : row.types) {
      for (std::int64_t n : {1, 63, 64, 65, 511, 513, 100003}) {
        SCOPED_TRACE(row.distribution);
        expectFastMatchesReference(
            {"random",
             drawing(row.distribution, row.parameters, type, {n}, 5),
             {given({2}, {4e9, 7}, U)}},
            0);
      }
    }
  }
}

TEST(FastDropout, IsTheReference) {
  for (DataType type : {F, DataType::Half}) {
    for (std::int64_t n : {1, 63, 64, 65, 511, 513, 100003}) {
      expectFastMatchesReference(
          {"dropout",
           {{"keepProbability", 0.7},
            {"scale", 1 / 0.7},
            {"modifier", std::int64_t{3}}},
           {{{type, {n}}, {}, {}}, given({2}, {4e9, 7}, U)}},
          0);
    }
  }
}

TEST(Dropout, KeepsAndScales) {
  Call call("dropout",
            {{"keepProbability", 0.25},
             {"scale", 4.0},
             {"modifier", std::int64_t{0}}},
            {given({10000}, Values(10000, 0.5)), given({2}, {1, 2}, U)});
  const auto y = call.reference()[0];
  const auto kept = std::count(y.begin(), y.end(), 2);
  EXPECT_EQ(kept + std::count(y.begin(), y.end(), 0), 10000);
  EXPECT_NEAR(double(kept), 2500, 150);
}

TEST(NextSeed, MovesOnFromSeedsThatNobodySet) {
  const auto next = [](Values state, double replica, std::int64_t tile) {
    return Call("nextSeed", {{"tile", tile}},
                {given({4}, std::move(state), U), given({}, {replica}, U)})
        .reference();
  };
  const auto first = next({0, 0, 0, 0}, 0, 0);
  const auto second = next(first[0], 0, 0);
  EXPECT_NE(second[0], first[0]);
  EXPECT_NE(second[1], first[1]);
  EXPECT_NE(next({0, 0, 0, 0}, 1, 0)[1], first[1]); // another replica
  EXPECT_NE(next({0, 0, 0, 0}, 0, 1)[1], first[1]); // another tile
  // Seeds that were set are all that counts.
  EXPECT_EQ(next({5, 0, 0, 0}, 1, 1), next({5, 0, 0, 0}, 0, 0));
}

} // namespace
} // namespace kernels::testing
