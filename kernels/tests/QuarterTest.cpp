// Casts to and from 8-bit floats: values of their definition, and the kernels
// against the references bit by bit.
#include "KernelTesting.hpp"
#include "ReferenceTesting.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kernels::testing {
namespace {

constexpr auto H = DataType::Half;
constexpr auto Q = DataType::Quarter;
constexpr auto C = DataType::UnsignedChar;
constexpr double f143 = 0x00, f152 = 0x80;

Call backAndForth(const char *kind, DataType type, Values values,
                  double metadata) {
  const Shape shape{static_cast<std::int64_t>(values.size())};
  Attributes attributes;
  if (type == Q) {
    attributes.set("outType", static_cast<std::int64_t>(F));
  }
  return Call(
      kind, attributes,
      {given(shape, std::move(values), type), given({}, {metadata}, C)});
}

TEST(Quarter, CodesHaveTheirValues) {
  // Sign, exponent less its bias, mantissa: 0x7f is the largest, 1 the
  // smallest.
  const Values codes{0, 1, 0x40, 0x7f, 0xc4};
  EXPECT_EQ(backAndForth("fromQuarter", Q, codes, f143).reference()[0],
            (Values{0, 0x1p-10, 1, 240, -1.5}));
  EXPECT_EQ(backAndForth("fromQuarter", Q, codes, f152).reference()[0],
            (Values{0, 0x1p-17, 1, 57344, -2}));
  // Scales are six bits of two's complement.
  EXPECT_EQ(backAndForth("fromQuarter", Q, codes, f143 + 3).reference()[0][2],
            8);
  EXPECT_EQ(
      backAndForth("fromQuarter", Q, codes, f143 + 0x3f).reference()[0][2],
      0.5);
  EXPECT_TRUE(std::isnan(
      backAndForth("fromQuarter", Q, {0x80}, f143).reference()[0][0]));
}

TEST(Quarter, RoundsToNearestEvenAndSaturates) {
  EXPECT_EQ(backAndForth("toQuarter", F,
                         {1.0625, 1.1875, 1e9, -1e9, -0.0, NAN, INFINITY}, f143)
                .reference()[0],
            (Values{0x40, 0x42, 0x7f, 0xff, 0, 0x80, 0x7f}));
}

TEST(FastQuarter, IsTheReference) {
  for (const double format : {f143, f152}) {
    for (const int scale : {0, 5, -7, 31, -32}) {
      const double metadata = format + (scale & 0x3f);
      Values x, codes;
      for (int i = 0; i < 3000; ++i) {
        const double magnitude = std::exp2(i % 40 - 22 + scale);
        x.push_back((i % 2 == 0 ? 1 : -1) * magnitude *
                    (1 + double(i * 7 % 64) / 64)); // ties as well
        codes.push_back(i % 256);
      }
      x.insert(x.end(), {0, NAN, INFINITY, -INFINITY});
      const auto to = backAndForth("toQuarter", F, x, metadata);
      EXPECT_EQ(to.fast()[0], to.reference()[0]);
      const auto from = backAndForth("fromQuarter", Q, codes, metadata);
      const auto fast = from.fast()[0], wanted = from.reference()[0];
      for (std::size_t i = 0; i < codes.size(); ++i) {
        EXPECT_TRUE(fast[i] == wanted[i] || codes[i] == 0x80) << codes[i];
      }
    }
  }
}

TEST(FastQuarter, TakesHalves) {
  const auto call = backAndForth("toQuarter", H, {1.5, -300, 0.01}, f143);
  EXPECT_FALSE(call.isTaken(0));
  EXPECT_EQ(call.fast(1), call.reference());
}

} // namespace
} // namespace kernels::testing
