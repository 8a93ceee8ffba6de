// Random programs: the fast path must give the reference executor's bits.
// RANDOM_PROGRAMS says how many; make test-full runs more than make test.
#include "RandomProgram.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

using poplar::test::RandomProgram;

constexpr unsigned programsPerTest = 20;

unsigned testCount() {
  const char *programs = std::getenv("RANDOM_PROGRAMS");
  return (programs == nullptr ? 200 : std::stoi(programs)) / programsPerTest;
}

class EngineRandomPrograms : public testing::TestWithParam<unsigned> {};

TEST_P(EngineRandomPrograms, GiveTheReferenceBits) {
  for (unsigned i = 0; i < programsPerTest; ++i) {
    const unsigned seed = GetParam() * programsPerTest + i;
    const RandomProgram random(seed);
    const auto expected = random.program.run("reference", 1);
    for (unsigned threads : {1U, 2U, 3U}) {
      ASSERT_EQ(random.program.run("fast", threads), expected)
          << "seed " << seed << ", " << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, EngineRandomPrograms,
                         testing::Range(0U, testCount()));

} // namespace
