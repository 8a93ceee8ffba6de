// Rounding to half under the floating-point control: overflow, stochastic
// rounding against its definition, and the kernel against the reference bit by
// bit.
#include "KernelTesting.hpp"
#include "ReferenceTesting.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kernels::testing {
namespace {

constexpr auto U = DataType::UnsignedInt;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double esr = 1 << 3, nanoo = 1 << 4;

Call rounding(Values x, double control, std::int64_t modifier = 0,
              bool infinityOverflows = false) {
  const Shape shape{static_cast<std::int64_t>(x.size())};
  return Call("roundHalf",
              {{"modifier", modifier},
               {"infinityOverflows", std::int64_t{infinityOverflows}}},
              {given(shape, std::move(x)), given({3}, {5, 6, control}, U)});
}

// The halves around a number, by their definition.
double spacing(double x) {
  return x == 0 ? 0x1p-24 : std::exp2(std::max(std::ilogb(x), -14) - 10);
}

TEST(RoundHalf, LimitsWhatOverflows) {
  const Values x{65504, 65519, 65520, -65520, 1e9, -1e30, infinity, 2049};
  EXPECT_EQ(
      rounding(x, 0).reference()[0],
      (Values{65504, 65504, 65504, -65504, 65504, -65504, infinity, 2048}));
  const auto nans = rounding(x, nanoo).reference()[0];
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(std::isnan(nans[i]), i >= 2 && i <= 5) << x[i];
  }
}

TEST(RoundHalf, InfinityIsAnOverflowWhereTheOperationSaysSo) {
  const Values x{infinity, -infinity};
  EXPECT_EQ(rounding(x, 0, 0, true).reference()[0], (Values{65504, -65504}));
  EXPECT_TRUE(std::isnan(rounding(x, nanoo, 0, true).reference()[0][0]));
}

TEST(RoundHalf, StochasticallyGivesTheNeighboursInProportion) {
  constexpr std::size_t count = 20000;
  for (const double x : {1.0003, -1.0003, 3.14159, 1000.3, 65510.0, 2e-5,
                         -3.3e-8, 6.1e-5, 1e-9}) {
    const auto number = static_cast<double>(static_cast<float>(x));
    const double step = spacing(number);
    const double below = std::floor(number / step) * step;
    double sum = 0;
    const auto rounded = rounding(Values(count, x), esr).reference()[0];
    for (const double y : rounded) {
      EXPECT_TRUE(y == below || y == below + step || (y == 65504 && x > 65504))
          << x << " became " << y;
      sum += y;
    }
    if (x < 65504) { // five standard deviations of the mean
      EXPECT_NEAR(sum / count, number, 2.5 * step / std::sqrt(count)) << x;
    }
  }
}

TEST(RoundHalf, StochasticallyLeavesHalvesAlone) {
  const Values halves{0,       1,        -2.5, 65504,    -65504,   0x1p-24,
                      0x1p-14, -0x3p-24, 1027, infinity, -infinity};
  EXPECT_EQ(rounding(halves, esr).reference()[0], halves);
  EXPECT_EQ(rounding(halves, esr + nanoo).reference()[0], halves);
}

TEST(RoundHalf, NumbersFollowFromSeedModifierAndElement) {
  const Values x(1000, 1.0003);
  const auto first = rounding(x, esr).reference()[0];
  EXPECT_EQ(rounding(x, esr).reference()[0], first);
  EXPECT_NE(rounding(x, esr, 1).reference()[0], first);
  const auto shorter = rounding(Values(300, 1.0003), esr).reference()[0];
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), first.begin()));
}

TEST(FastRoundHalf, HasTheBitsOfTheReference) {
  for (const double control : {0.0, nanoo, esr, esr + nanoo}) {
    for (const std::int64_t count : {1, 63, 64, 700, 100000}) {
      Values x;
      for (std::int64_t i = 0; i < count; ++i) {
        const double magnitude = std::exp2(double(i % 47) - 28);
        x.push_back((i % 2 == 0 ? 1 : -1) * magnitude *
                    (1 + double(i * 2654435761 % 8191) / 8191));
      }
      const auto call = rounding(x, control, 3);
      const auto fast = call.fast()[0], wanted = call.reference()[0];
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_TRUE(fast[i] == wanted[i] ||
                    (std::isnan(fast[i]) && std::isnan(wanted[i])))
            << x[i] << " became " << fast[i] << ", not " << wanted[i];
      }
    }
  }
}

TEST(FastRoundHalf, WritesStridedResults) {
  Call call(
      "roundHalf",
      {{"modifier", std::int64_t{0}}, {"infinityOverflows", std::int64_t{0}}},
      {{{F, {3, 5, 70}}, {}, {}}, given({3}, {5, 6, esr}, U)});
  call.outputStrides(0, {1, 3, 15});
  EXPECT_EQ(call.fast(), call.reference());
}

TEST(RoundingControl, DrawsASeedWhereRoundingIsStochastic) {
  const auto control = [](double bits, Values state, double replica) {
    return Call("roundingControl", {},
                {given({1}, {bits}, U), given({4}, std::move(state), U),
                 given({}, {replica}, U)})
        .reference();
  };
  const Values state{1, 2, 3, 4};
  EXPECT_EQ(control(nanoo, state, 0), (Call::Results{state, {0, 0, nanoo}}));
  const auto drawn = control(esr, state, 0);
  EXPECT_NE(drawn[0], state);
  EXPECT_EQ(drawn[1][2], esr);
  EXPECT_NE(control(esr, drawn[0], 0)[1], drawn[1]);
  // Seeds that nobody has set differ between replicas.
  EXPECT_NE(control(esr, Values(4), 0)[1], control(esr, Values(4), 1)[1]);
}

TEST(FloatControl, ChangesBits) {
  const auto changed = [](Values before, std::int64_t clear, std::int64_t set,
                          bool hasValue) {
    std::vector<Input> inputs{given({1}, {before[0]}, U),
                              given({4}, Values(4), U), given({}, {0}, U)};
    if (hasValue) {
      inputs.push_back(given({1}, {before[1]}, U));
    }
    return Call("floatControl",
                {{"clear", clear},
                 {"set", set},
                 {"hasValue", std::int64_t{hasValue}}},
                inputs)
        .reference()[0][0];
  };
  EXPECT_EQ(changed({0b10110}, 0b00110, 0b01000, false), 0b11000);
  EXPECT_EQ(changed({0b10110, 0b00001}, 0, 0, true), 0b00001);
}

} // namespace
} // namespace kernels::testing
