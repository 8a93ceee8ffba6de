// Options from JSON, and borrowed ranges.
#include "Environment.hpp"
#include "ExpectError.hpp"

#include <gccs/ArrayRef.hpp>
#include <poplar/ArrayRef.hpp>
#include <poplar/EngineOptions.hpp>
#include <poplar/exceptions.hpp>

#include <gtest/gtest.h>

namespace poplar {
namespace {

using test::Environment;

TEST(OptionFlagsJson, AddsToTheFlagsAndReplacesThem) {
  OptionFlags flags = {{"kept", "1"}, {"changed", "old"}};
  readJSON(R"({"changed": "new", "added": "x y"})", flags);
  EXPECT_EQ(flags,
            (OptionFlags{{"added", "x y"}, {"changed", "new"}, {"kept", "1"}}));
  readJSON("{}", flags);
  EXPECT_EQ(flags.size(), 3U);
}

TEST(OptionFlagsJson, RefusesOtherTextAndChangesNothing) {
  OptionFlags flags = {{"kept", "1"}};
  expectError<parse_error>([&] { readJSON("colours=true", flags); },
                           "'colours=true'", "JSON object of strings");
  expectError<parse_error>([&] { readJSON(R"(["a"])", flags); }, R"(["a"])");
  expectError<parse_error>(
      [&] { readJSON(R"({"a": "1", "kept": true})", flags); }, "'kept'", "true",
      "must be a string");
  expectError<parse_error>([&] { readJSON("", flags); }, "''");
  EXPECT_EQ(flags, (OptionFlags{{"kept", "1"}}));
}

TEST(OptionFlagsJson, ReadsEnvironmentVariablesThatAreSet) {
  OptionFlags flags;
  readJSONFromEnv("ASPEN_TEST_FLAGS", flags);
  EXPECT_EQ(flags.size(), 0U);
  {
    const Environment empty("ASPEN_TEST_FLAGS", "");
    readJSONFromEnv("ASPEN_TEST_FLAGS", flags);
    EXPECT_EQ(flags.size(), 0U);
  }
  {
    const Environment set("ASPEN_TEST_FLAGS", R"({"a":"1"})");
    readJSONFromEnv("ASPEN_TEST_FLAGS", flags);
    EXPECT_EQ(flags, (OptionFlags{{"a", "1"}}));
  }
  const Environment broken("ASPEN_TEST_FLAGS", "a:1");
  expectError<parse_error>([&] { readJSONFromEnv("ASPEN_TEST_FLAGS", flags); },
                           "ASPEN_TEST_FLAGS", "'a:1'");
}

float sumOf(gccs::ArrayRef<const float> values) {
  float sum = 0;
  for (float value : values) {
    sum += value;
  }
  return sum;
}

TEST(ArrayRef, IsOneTypeUnderBothNames) {
  EXPECT_TRUE((std::is_same<ArrayRef<int>, gccs::ArrayRef<int>>::value));
}

TEST(ArrayRef, OfConstantsTakesWhatTheOtherTakes) {
  const std::vector<float> vector = {1, 2};
  const std::array<float, 2> array = {3, 4};
  const float plain[] = {5, 6};
  EXPECT_EQ(sumOf(vector), 3);
  EXPECT_EQ(sumOf(array), 7);
  EXPECT_EQ(sumOf(plain), 11);
  EXPECT_EQ(sumOf({7, 8}), 15);
  EXPECT_EQ(sumOf(ArrayRef<float>(vector)), 3);
  const gccs::ArrayRef<const float> constants(vector);
  const ArrayRef<float> back = constants;
  EXPECT_EQ(back.data(), vector.data());
  EXPECT_EQ(constants.cloneAsVector(), vector);
}

} // namespace
} // namespace poplar
