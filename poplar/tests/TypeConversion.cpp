// Host values to device types and back; expected bits by hand from IEEE 754 and
// from the definition of the two 8-bit formats.
#include "ExpectError.hpp"

#include <poplar/Target.hpp>
#include <poplar/exceptions.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <unordered_set>

namespace poplar {
namespace {

using Halves = std::vector<std::uint16_t>;
using Format = QuarterMetadata::Format;

TEST(TypeConversion, FloatsBecomeHalvesAndComeBack) {
  const std::vector<float> floats = {0, 1, -2.5, 65504, 1e6, 0x1p-24F};
  const Target target = Target::createIPUTarget(1, "ipu2");
  Halves halves(floats.size());
  copyFloatToDeviceHalf(target, floats.data(), halves.data(), floats.size());
  EXPECT_EQ(halves, (Halves{0, 0x3C00, 0xC100, 0x7BFF, 0x7C00, 1}));
  std::vector<float> back(halves.size());
  copyDeviceHalfToFloat(target, halves.data(), back.data(), halves.size());
  EXPECT_EQ(back, (std::vector<float>{0, 1, -2.5, 65504,
                                      std::numeric_limits<float>::infinity(),
                                      0x1p-24F}));
}

TEST(TypeConversion, DoublesAreRoundedOnce) {
  // Just above the tie of 1 and 1 + 2^-10; as a float it is the tie itself.
  const std::vector<double> doubles = {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11,
                                       -(1 + 0x1p-11 + 0x1p-40), 1e300};
  const Target target = Target::createIPUTarget(1, "ipu2");
  Halves halves(doubles.size());
  copyDoubleToDeviceHalf(target, doubles.data(), halves.data(), doubles.size());
  EXPECT_EQ(halves, (Halves{0x3C01, 0x3C00, 0xBC01, 0x7C00}));
  double back = 0;
  copyDeviceHalfToDouble(target, halves.data(), &back, 1);
  EXPECT_EQ(back, 1 + 0x1p-10);
}

TEST(TypeConversion, TakesAnyHostTypeToAnyDeviceType) {
  const std::vector<int> ints = {1, -1, 300};
  std::vector<std::uint8_t> bytes(3);
  convertToDeviceType<int>(UNSIGNED_CHAR, ints, bytes.data());
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{1, 255, 44}));
  Halves halves(3);
  convertToDeviceType(HALF, gccs::ArrayRef<const int>(ints), halves.data());
  EXPECT_EQ(halves, (Halves{0x3C00, 0xBC00, 0x5CB0})); // 300 = 1.171875 * 2^8
  std::vector<long long> wide(3);
  convertFromDeviceType<long long>(HALF, halves.data(), wide);
  EXPECT_EQ(wide, (std::vector<long long>{1, -1, 300}));
  expectError<type_error>(
      [&] { convertToDeviceType<int>(LONG, ints, wide.data()); }, "long");
}

std::vector<std::uint8_t> quarters(const std::vector<float> &values,
                                   const QuarterMetadata &metadata) {
  std::vector<std::uint8_t> bits(values.size());
  convertToDeviceType<float>(QUARTER, metadata, values, bits.data());
  return bits;
}

TEST(TypeConversion, QuartersHaveTwoFormatsAndAScale) {
  using Bits = std::vector<std::uint8_t>;
  // F143: exponent bias 8; 1 is 0 1000 000. F152: bias 16; 1 is 0 10000 00.
  EXPECT_EQ(quarters({1, -1.5F, 240, 0x1p-10F}, {Format::F143, 0}),
            (Bits{0x40, 0xC4, 0x7F, 0x01}));
  EXPECT_EQ(quarters({1, -1.5F, 57344, 0x1p-17F}, {Format::F152, 0}),
            (Bits{0x40, 0xC2, 0x7F, 0x01}));
  EXPECT_EQ(quarters({8, 1}, {Format::F143, 3}), (Bits{0x40, 0x28}));
  // Ties go to even, overflow to the largest; NaN is the code of -0.
  EXPECT_EQ(
      quarters({1.0625F, 1.1875F, 1e9F, -1e9F, -0.0F, NAN}, {Format::F143, 0}),
      (Bits{0x40, 0x42, 0x7F, 0xFF, 0x00, 0x80}));
}

TEST(TypeConversion, EveryQuarterComesBack) {
  for (Format format : {Format::F143, Format::F152}) {
    for (int scale : {-32, 0, 31}) {
      const QuarterMetadata metadata(format, static_cast<signed char>(scale));
      std::vector<std::uint8_t> bits(256);
      for (unsigned i = 0; i < 256; ++i) {
        bits[i] = static_cast<std::uint8_t>(i);
      }
      std::vector<float> values(256);
      convertFromDeviceType<float>(QUARTER, metadata, bits.data(), values);
      EXPECT_TRUE(std::isnan(values[0x80]));
      EXPECT_EQ(quarters(values, metadata), bits);
    }
  }
}

TEST(TypeConversion, QuartersNeedMetadata) {
  const std::vector<float> values = {1};
  std::uint8_t bits = 0;
  expectError<type_error>(
      [&] { convertToDeviceType<float>(QUARTER, values, &bits); },
      "QuarterMetadata");
}

TEST(Type, SaysWhatItIs) {
  EXPECT_TRUE(HALF.isFloatingPoint());
  EXPECT_FALSE(UNSIGNED_INT.isFloatingPoint());
  EXPECT_TRUE(QUARTER.requiresMetadata());
  EXPECT_FALSE(HALF.requiresMetadata());
  EXPECT_EQ(UNSIGNED_INT.toString(), "unsigned int");
  EXPECT_EQ(QUARTER_METADATA.toString(), "quarter_metadata");
  EXPECT_EQ(SIGNED, INT);
  const std::unordered_set<Type> types = {INT, SIGNED_INT, FLOAT};
  EXPECT_EQ(types.size(), 2U);
}

} // namespace
} // namespace poplar
