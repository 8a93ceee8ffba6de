#include "Program.hpp"

#include <poplar/exceptions.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

namespace tools {
namespace {

TEST(DeviceIds, AreThoseThatTheSystemHas) {
  EXPECT_EQ(parseDeviceId("0", 31), 0);
  EXPECT_EQ(parseDeviceId("30", 31), 30);
  for (const char *text : {"31", "-1", "x", "", "1x", "4294967297", " 1"}) {
    try {
      parseDeviceId(text, 31);
      ADD_FAILURE() << text;
    } catch (const poplar::poplar_error &error) {
      EXPECT_STREQ(error.what(), ("no device '" + std::string(text) +
                                  "'; the system has devices 0 to 30")
                                     .c_str());
    }
  }
}

TEST(TerminalWidth, IsThatOfTheEnvironment) {
  setenv("COLUMNS", "158", 1);
  EXPECT_EQ(terminalWidth(), 158);
}

TEST(VersionLine, IsWhatParsersSplit) {
  EXPECT_EQ(versionLine(), "Poplar version: 3.3.0");
}

} // namespace
} // namespace tools
