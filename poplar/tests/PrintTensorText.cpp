// The text of PrintTensor: the forms that the SDK's tutorials show, and NumPy's
// array2string for those that they do not.
#include "engine/PrintTensorText.hpp"

#include <gtest/gtest.h>

#include <support/Half.hpp>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace {

using poplar::PrintTensorFmt;
using support::DataType;
using support::Shape;
using FloatFormat = PrintTensorFmt::FloatFormat;

template <typename T>
std::string text(const std::string &title, DataType type, const Shape &shape,
                 const std::vector<T> &values,
                 const PrintTensorFmt &format = {}) {
  return poplar::engine::formatTensor(
      title, type, shape, reinterpret_cast<const std::byte *>(values.data()),
      format);
}

std::string floats(const std::vector<float> &values,
                   const PrintTensorFmt &format = {}) {
  return text("x", DataType::Float, {static_cast<std::int64_t>(values.size())},
              values, format);
}

std::vector<int> range(int count) {
  std::vector<int> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

constexpr float inf = std::numeric_limits<float>::infinity();

TEST(PrintTensorText, HasTheFormsOfTheTutorials) {
  EXPECT_EQ(text<float>("v1-debug", DataType::Float, {4}, {1, 1.5, 2, 2.5}),
            "v1-debug: [1.0000000 1.5000000 2.0000000 2.5000000]");
  EXPECT_EQ(text("v4-0", DataType::Int, {10}, range(10)),
            "v4-0: [0 1 2 3 4 5 6 7 8 9]");
  EXPECT_EQ(text<float>("v3", DataType::Float, {2, 2}, {5, 4.5, 4, 3.5}),
            "v3: [\n"
            "  [5.0000000 4.5000000]\n"
            "  [4.0000000 3.5000000]\n"
            "]");
}

TEST(PrintTensorText, NestsBrackets) {
  EXPECT_EQ(text("x", DataType::Int, {2, 1, 2}, range(4)), "x: [\n"
                                                           "  [\n"
                                                           "    [0 1]\n"
                                                           "  ]\n"
                                                           "  [\n"
                                                           "    [2 3]\n"
                                                           "  ]\n"
                                                           "]");
}

TEST(PrintTensorText, AlignsNumbersOfDifferentWidths) {
  EXPECT_EQ(text<int>("x", DataType::Int, {4}, {1, -20, 300, 0}),
            "x: [  1 -20 300   0]");
  EXPECT_EQ(floats({1, -10.5}), "x: [  1.000000 -10.500000]");
  EXPECT_EQ(floats({123456.75F, 0.5F}), "x: [123456.75      0.50]");
}

TEST(PrintTensorText, WritesExponentsForVeryLargeAndVerySmallNumbers) {
  EXPECT_EQ(floats({1e10F, 1}), "x: [1.0000000e+10 1.0000000e+00]");
  EXPECT_EQ(floats({0, 0.00005F}), "x: [0.0000000e+00 4.9999999e-05]");
  EXPECT_EQ(floats({0, 0.0002F}), "x: [0.0000000 0.0002000]");
  EXPECT_EQ(floats({12345678.F}), "x: [12345678]");
}

TEST(PrintTensorText, WritesWhatIsNotANumber) {
  EXPECT_EQ(floats({NAN, inf, -inf, 1}),
            "x: [      nan       inf      -inf 1.0000000]");
  EXPECT_EQ(floats({-NAN, -NAN}), "x: [nan nan]");
}

TEST(PrintTensorText, TakesAFloatFormat) {
  const auto with = [](unsigned digits, FloatFormat format) {
    return floats({1.5F, -20}, PrintTensorFmt(1000, 3, 75, digits, format));
  };
  EXPECT_EQ(with(4, FloatFormat::Auto), "x: [  1.50 -20.00]");
  EXPECT_EQ(with(4, FloatFormat::Fixed), "x: [  1.50 -20.00]");
  EXPECT_EQ(with(4, FloatFormat::Scientific), "x: [ 1.500e+00 -2.000e+01]");
  EXPECT_EQ(with(4, FloatFormat::None), "x: [1.5 -20]");
  EXPECT_EQ(with(0, FloatFormat::Auto), "x: [1.5 -20]");
  EXPECT_EQ(with(1, FloatFormat::Fixed), "x: [  2 -20]");
  EXPECT_EQ(with(1, FloatFormat::Auto), "x: [ 2e+00 -2e+01]");
}

TEST(PrintTensorText, WritesEveryType) {
  EXPECT_EQ(text<std::uint8_t>("x", DataType::Bool, {2}, {0, 1}), "x: [0 1]");
  EXPECT_EQ(text<std::int8_t>("x", DataType::Char, {2}, {65, -1}),
            "x: [65 -1]");
  EXPECT_EQ(text<std::uint8_t>("x", DataType::UnsignedChar, {1}, {255}),
            "x: [255]");
  EXPECT_EQ(text<std::int16_t>("x", DataType::Short, {1}, {-300}), "x: [-300]");
  EXPECT_EQ(text<std::uint16_t>("x", DataType::UnsignedShort, {1}, {65535}),
            "x: [65535]");
  EXPECT_EQ(text<unsigned>("x", DataType::UnsignedInt, {1}, {4294967295U}),
            "x: [4294967295]");
  EXPECT_EQ(text<std::int64_t>("x", DataType::LongLong, {1},
                               {std::numeric_limits<std::int64_t>::min()}),
            "x: [-9223372036854775808]");
  EXPECT_EQ(text<std::uint64_t>("x", DataType::UnsignedLongLong, {1},
                                {std::numeric_limits<std::uint64_t>::max()}),
            "x: [18446744073709551615]");
  EXPECT_EQ(text<support::Half>("x", DataType::Half, {2},
                                {support::Half(0.5F), support::Half(inf)}),
            "x: [0.5000000       inf]");
}

TEST(PrintTensorText, WritesScalarsAndEmptyTensors) {
  EXPECT_EQ(text<float>("x", DataType::Float, {}, {2}), "x: 2.0000000");
  EXPECT_EQ(text<int>("", DataType::Int, {2}, {1, 2}), "[1 2]");
  EXPECT_EQ(text<float>("x", DataType::Float, {0}, {}), "x: []");
  EXPECT_EQ(text<float>("x", DataType::Float, {0, 3}, {}), "x: []");
  EXPECT_EQ(text<float>("x", DataType::Float, {2, 0}, {}), "x: [\n"
                                                           "  []\n"
                                                           "  []\n"
                                                           "]");
}

TEST(PrintTensorText, SummarisesLargeTensors) {
  EXPECT_EQ(
      text("x", DataType::Int, {1000}, range(1000), PrintTensorFmt(999, 2)),
      "x: [  0   1 ... 998 999]");
  EXPECT_EQ(text("x", DataType::Int, {6, 4}, range(24), PrintTensorFmt(23, 2)),
            "x: [\n"
            "  [ 0  1  2  3]\n"
            "  [ 4  5  6  7]\n"
            "  ...\n"
            "  [16 17 18 19]\n"
            "  [20 21 22 23]\n"
            "]");
  // As many elements as the threshold are shown in full.
  EXPECT_EQ(text("x", DataType::Int, {5}, range(5), PrintTensorFmt(5, 1)),
            "x: [0 1 2 3 4]");
  EXPECT_EQ(text("x", DataType::Int, {5}, range(5), PrintTensorFmt(4, 1)),
            "x: [0 ... 4]");
  EXPECT_EQ(text("x", DataType::Int, {5}, range(5), PrintTensorFmt(0, 1)),
            "x: [0 1 2 3 4]");
}

// numpy.array2string(numpy.arange(n), max_line_width=..., prefix="x: ")
TEST(PrintTensorText, BreaksLinesWhereNumPyDoes) {
  EXPECT_EQ(text("x", DataType::Int, {30}, range(30)),
            "x: [ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 "
            "20 21 22\n"
            "    23 24 25 26 27 28 29]");
  EXPECT_EQ(
      text("x", DataType::Int, {10}, range(10), PrintTensorFmt(1000, 3, 12)),
      "x: [0 1 2 3\n"
      "    4 5 6 7\n"
      "    8 9]");
  EXPECT_EQ(
      text("x", DataType::Int, {2, 5}, range(10), PrintTensorFmt(1000, 3, 9)),
      "x: [\n"
      "  [0 1 2\n"
      "   3 4]\n"
      "  [5 6 7\n"
      "   8 9]\n"
      "]");
  EXPECT_EQ(text("x", DataType::Int, {3}, range(3), PrintTensorFmt(1000, 3, 1)),
            "x: [0\n"
            "    1\n"
            "    2]");
  const std::string line =
      text("x", DataType::Int, {100}, range(100), PrintTensorFmt(1000, 3, 0));
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(PrintTensorText, TakesOtherSeparatorsAndBrackets) {
  const PrintTensorFmt format(1000, 3, 75, 8, FloatFormat::Auto, ',', '(', ')');
  EXPECT_EQ(text("x", DataType::Int, {2, 2}, range(4), format), "x: (\n"
                                                                "  (0,1),\n"
                                                                "  (2,3)\n"
                                                                ")");
}

TEST(PrintTensorText, WritesOneLineWithoutFormatting) {
  EXPECT_EQ(text<float>("x", DataType::Float, {2, 2}, {1, 0.1F, 1e20F, NAN},
                        PrintTensorFmt::disableFormatting()),
            "x: 1 0.1 1e+20 nan");
  EXPECT_EQ(text("x", DataType::Int, {2000}, range(2000),
                 PrintTensorFmt::disableFormatting())
                .find("..."),
            std::string::npos);
}

} // namespace
