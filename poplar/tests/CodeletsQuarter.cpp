// quarter: the values of both 8-bit formats against their definition, and
// rounding against a search through all of them.
#include <poplar/QuarterFloat.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace {

using poplar::QuarterMetadata;
using poplar::toFloat;
using poplar::toQuarter;
using Format = QuarterMetadata::Format;

float valueOf(int bits, Format format, signed char scale = 0) {
  return toFloat(quarter::fromBits(static_cast<std::uint8_t>(bits)),
                 {format, scale});
}

TEST(Quarter, BothFormatsHaveTheirPublishedValues) {
  // 1 sign, 4 exponent (bias 8) and 3 mantissa bits.
  EXPECT_EQ(valueOf(0x00, Format::F143), 0);
  EXPECT_EQ(valueOf(0x01, Format::F143), 1.0f / 1024); // 2^(1 - 8 - 3)
  EXPECT_EQ(valueOf(0x08, Format::F143), 1.0f / 128);  // 2^(1 - 8)
  EXPECT_EQ(valueOf(0x40, Format::F143), 1);
  EXPECT_EQ(valueOf(0x7f, Format::F143), 240);
  EXPECT_EQ(valueOf(0xff, Format::F143), -240);
  EXPECT_TRUE(std::isnan(valueOf(0x80, Format::F143)));
  // 1 sign, 5 exponent (bias 16) and 2 mantissa bits.
  EXPECT_EQ(valueOf(0x01, Format::F152), 1.0f / 131072); // 2^(1 - 16 - 2)
  EXPECT_EQ(valueOf(0x40, Format::F152), 1);
  EXPECT_EQ(valueOf(0x7f, Format::F152), 57344);
  EXPECT_TRUE(std::isnan(valueOf(0x80, Format::F152)));
  EXPECT_EQ(valueOf(0x40, Format::F143, 3), 8);
  EXPECT_EQ(valueOf(0x41, Format::F143, -2), 1.125f / 4);
}

// The nearest of all values; of two, the one with the even code.
int nearest(float value, Format format) {
  int best = 0;
  for (int bits = 1; bits < 0x80; ++bits) {
    const float distance = std::fabs(valueOf(bits, format) - value);
    const float least = std::fabs(valueOf(best, format) - value);
    if (distance < least || (distance == least && bits % 2 == 0)) {
      best = bits;
    }
  }
  return best;
}

TEST(Quarter, RoundsToTheNearest) {
  for (const Format format : {Format::F143, Format::F152}) {
    // Every value, every middle between two, and either side of it.
    for (int bits = 0; bits < 0x7f; ++bits) {
      const float low = valueOf(bits, format), high = valueOf(bits + 1, format);
      const float middle = (low + high) / 2;
      for (const float x : {low, middle, std::nextafter(middle, low),
                            std::nextafter(middle, high)}) {
        EXPECT_EQ(toQuarter(x, {format, 0}).bits(), nearest(x, format)) << x;
        EXPECT_EQ(toQuarter(x * 4, {format, 2}).bits(), nearest(x, format));
        if (nearest(x, format) != 0) {
          EXPECT_EQ(toQuarter(-x, {format, 0}).bits(),
                    nearest(x, format) | 0x80);
        }
      }
    }
    EXPECT_EQ(toQuarter(1e30f, {format, 0}).bits(), 0x7f);
    EXPECT_EQ(toQuarter(-INFINITY, {format, 0}).bits(), 0xff);
    EXPECT_EQ(toQuarter(-0.0f, {format, 0}).bits(), 0);
    EXPECT_EQ(toQuarter(NAN, {format, 0}).bits(), 0x80);
  }
}

} // namespace
