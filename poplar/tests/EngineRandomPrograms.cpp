// Random programs: the fast path must give the reference executor's bits.
#include "RandomProgram.hpp"

#include <gtest/gtest.h>

namespace {

using poplar::test::RandomProgram;

class EngineRandomPrograms : public testing::TestWithParam<unsigned> {};

TEST_P(EngineRandomPrograms, GiveTheReferenceBits) {
  for (unsigned i = 0; i < 20; ++i) {
    const unsigned seed = GetParam() * 20 + i;
    const RandomProgram random(seed);
    const auto expected = random.program.run("reference", 1);
    for (unsigned threads : {1U, 2U, 3U}) {
      ASSERT_EQ(random.program.run("fast", threads), expected)
          << "seed " << seed << ", " << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, EngineRandomPrograms, testing::Range(0U, 10U));

} // namespace
