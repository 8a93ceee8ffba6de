// The public headers compile as C++11, each on its own, and user programs that
// lean on them resolve every overload without ambiguity.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;

// What the tests' own source tree holds.
const fs::path poplarFolder = fs::path(__FILE__).parent_path().parent_path();

bool compiles(const std::string &arguments) {
  std::string command = "g++ -std=c++11 -Wall -Wextra -Werror -pedantic "
                        "-fsyntax-only -I" +
                        (poplarFolder / "include").string() + " " + arguments;
  return std::system(command.c_str()) == 0;
}

TEST(PublicHeaders, EachIsValidCxx11OnItsOwn) {
  for (const auto &entry :
       fs::directory_iterator(poplarFolder / "include/poplar")) {
    EXPECT_TRUE(
        compiles("-include " + entry.path().string() + " -x c++ /dev/null"))
        << entry.path();
  }
}

TEST(PublicHeaders, OverloadTrapsResolve) {
  EXPECT_TRUE(
      compiles((poplarFolder / "tests/headers/OverloadTraps.cpp").string()));
}

TEST(PublicHeaders, EngineBringsTheStandardLibraryAlong) {
  EXPECT_TRUE(compiles(
      (poplarFolder / "tests/headers/TransitiveIncludes.cpp").string()));
}

} // namespace
