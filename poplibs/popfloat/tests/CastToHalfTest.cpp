// Halves by their bits (IEEE 754 binary16), and what does not fit.
#include <popfloat/experimental/CastToHalf.hpp>
#include <popfloat/experimental/codelets.hpp>

#include <poplar/IPUModel.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using popfloat::experimental::halfToSingle;
using popfloat::experimental::singleToHalf;

TEST(CastToHalf, RoundsToTheNearest) {
  EXPECT_EQ(singleToHalf(1.0f), 0x3c00);
  EXPECT_EQ(singleToHalf(-2.0f), 0xc000);
  EXPECT_EQ(singleToHalf(65504.0f), 0x7bff);
  EXPECT_EQ(singleToHalf(0x1p-24f), 0x0001);        // the smallest
  EXPECT_EQ(singleToHalf(1.0f + 0x1p-11f), 0x3c00); // half way: to even
  EXPECT_EQ(halfToSingle(0x3555), 0x1.554p-2f);
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(singleToHalf(halfToSingle(half)), half);
  }
}

TEST(CastToHalf, SaysWhatBecomesOfTheRest) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(halfToSingle(singleToHalf(1e6f, true))));
  EXPECT_TRUE(std::isnan(halfToSingle(singleToHalf(infinity, true))));
  EXPECT_EQ(halfToSingle(singleToHalf(1e6f, false)), 65504.0f);
  EXPECT_EQ(halfToSingle(singleToHalf(-infinity, false)), -65504.0f);
  EXPECT_TRUE(std::isnan(halfToSingle(singleToHalf(std::nanf(""), false))));
}

TEST(Popfloat, CodeletsMayBeAddedTwice) {
  poplar::Graph graph(poplar::IPUModel().createDevice().getTarget());
  popfloat::experimental::addCodelets(graph);
  popfloat::experimental::addCodelets(graph);
}

} // namespace
