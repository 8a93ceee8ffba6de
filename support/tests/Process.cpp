// Other programs get their arguments and input unchanged, and what they write
// comes back whole.
#include <support/Process.hpp>

#include <gtest/gtest.h>

#include <system_error>

namespace {

using support::runProcess;

TEST(Process, PassesArgumentsWithoutAShell) {
  const auto result = runProcess({"/usr/bin/printf", "[%s]", "a b", "$HOME;"});
  EXPECT_EQ(result.exitCode, 0);
  EXPECT_EQ(result.output, "[a b][$HOME;]");
}

TEST(Process, CarriesInputAndBothOutputs) {
  const std::string large(1 << 20, 'x'); // more than pipes hold
  const auto result = runProcess({"/bin/sh", "-c", "tee /dev/stderr"}, large);
  EXPECT_EQ(result.output, large);
  EXPECT_EQ(result.errors, large);
}

TEST(Process, TellsHowItEnded) {
  EXPECT_EQ(runProcess({"/bin/sh", "-c", "exit 7"}).exitCode, 7);
  EXPECT_EQ(runProcess({"/bin/sh", "-c", "kill -9 $$"}).exitCode, 128 + 9);
  EXPECT_THROW(runProcess({"/no/such/program"}), std::system_error);
}

} // namespace
