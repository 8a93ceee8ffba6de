// ProfileValue: types, access and the two formats, whose bytes are worked out
// by hand from RFC 8259 and RFC 8949.
#include "ExpectError.hpp"

#include <poplar/ProfileValue.hpp>
#include <poplar/exceptions.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

namespace poplar {
namespace {

using Map = ProfileValue::Map;
using Vector = ProfileValue::Vector;
using Kind = ProfileValue::Type;

std::string jsonOf(const ProfileValue &value, bool isPretty = false) {
  std::ostringstream text;
  serializeToJSON(text, value, isPretty);
  return text.str();
}

std::string cborOf(const ProfileValue &value, bool withTag) {
  std::ostringstream bytes;
  serializeToCBOR(bytes, value, withTag);
  return bytes.str();
}

TEST(ProfileValue, HoldsOneOfTheTypes) {
  EXPECT_EQ(ProfileValue().type(), Kind::NONE);
  EXPECT_EQ(ProfileValue(true).type(), Kind::BOOL);
  EXPECT_EQ(ProfileValue("text").type(), Kind::STRING);
  EXPECT_EQ(ProfileValue(StringRef("text")).type(), Kind::STRING);
  EXPECT_EQ(ProfileValue(1.5F).type(), Kind::NUMBER);
  EXPECT_EQ(ProfileValue(std::size_t(7)).type(), Kind::NUMBER);
  EXPECT_EQ(ProfileValue(Vector{1, "a"}).type(), Kind::VECTOR);
  EXPECT_EQ(ProfileValue(Map{{"a", 1}}).type(), Kind::MAP);
  EXPECT_TRUE(ProfileValue(true).asBool());
  EXPECT_EQ(ProfileValue("text").asString(), "text");
}

TEST(ProfileValue, IntegersKeepAllBits) {
  constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
  constexpr auto lowest = std::numeric_limits<std::int64_t>::lowest();
  EXPECT_EQ(ProfileValue(largest).asUint(), largest);
  EXPECT_EQ(ProfileValue(lowest).asInt(), lowest);
  EXPECT_EQ(ProfileValue(7U).asInt(), 7);
  EXPECT_EQ(ProfileValue(-2.75).asInt(), -2);
  EXPECT_EQ(ProfileValue(1LL << 53).asDouble(), 0x1p53);
  EXPECT_EQ(ProfileValue(7U), ProfileValue(7LL));
  EXPECT_NE(ProfileValue(7), ProfileValue("7"));
  expectError<overflow_error>([] { ProfileValue(-1).asUint(); }, "-1");
  expectError<overflow_error>([] { ProfileValue(largest).asInt(); },
                              "18446744073709551615", "signed");
  expectError<overflow_error>([] { ProfileValue(1e300).asUint(); }, "1e+300");
}

TEST(ProfileValue, SaysWhatItIsWhenAskedForAnotherType) {
  expectError<type_error>([] { ProfileValue("a").asBool(); }, "a string",
                          "not a boolean");
  expectError<type_error>([] { ProfileValue().asMap(); }, "null", "not a map");
  expectError<type_error>([] { ProfileValue(1).size(); }, "a number");
}

TEST(ProfileValue, ElementsAreFoundByIndexAndKey) {
  const ProfileValue list = Vector{10, 20};
  EXPECT_EQ(list.size(), 2U);
  EXPECT_EQ(list[1].asInt(), 20);
  expectError<index_error>([&] { list[2]; }, "2", "2 elements");
  ProfileValue map = Map{{"a", 1}};
  EXPECT_EQ(map["a"].asInt(), 1);
  EXPECT_EQ(map.getOrNull("a").asInt(), 1);
  EXPECT_EQ(map.getOrNull("b"), ProfileValue::getNull());
  expectError<poplar_error>([&] { map["b"]; }, "'b'");
  const ProfileValue copy = map;
  map.asMap()["b"] = list;
  EXPECT_EQ(map["b"][0].asInt(), 10);
  EXPECT_EQ(copy.size(), 1U); // deep
}

TEST(ProfileValue, SumsReachIntoVectors) {
  const ProfileValue nested = Vector{1, Vector{2, Vector{}, 3}};
  EXPECT_EQ(nested.sumInt(), 6);
  EXPECT_EQ(nested.sumUint(), 6U);
  EXPECT_EQ(ProfileValue(Vector{0.5, 0.25}).sumDouble(), 0.75);
  EXPECT_EQ(ProfileValue(4).sumInt(), 4);
}

TEST(ProfileValue, BecomesJson) {
  const ProfileValue value =
      Map{{"b", Vector{true, 2.5, "x\"y"}}, {"a", ProfileValue()}, {"c", -3}};
  const std::string text = R"({"a":null,"b":[true,2.5,"x\"y"],"c":-3})";
  EXPECT_EQ(jsonOf(value), text);
  std::ostringstream stream;
  stream << value;
  EXPECT_EQ(stream.str(), text);
  EXPECT_EQ(jsonOf(Map{{"a", 1}}, true), "{\n  \"a\": 1\n}");
  EXPECT_EQ(jsonOf("\xff"), "\"\xef\xbf\xbd\""); // not UTF-8
}

TEST(ProfileValue, BecomesCbor) {
  // A map of one pair, "a" and an array of 1, -1, true and "b".
  const ProfileValue value = Map{{"a", Vector{1, -1, true, "b"}}};
  const std::string bytes = "\xa1\x61\x61\x84\x01\x20\xf5\x61\x62";
  EXPECT_EQ(cborOf(value, false), bytes);
  EXPECT_EQ(cborOf(value, true), "\xd9\xd9\xf7" + bytes);
  EXPECT_EQ(cborOf(ProfileValue(std::uint64_t(1) << 63), false),
            std::string("\x1b\x80\0\0\0\0\0\0\0", 9));
}

} // namespace
} // namespace poplar
