// Convolutions of row-major images of few channels, by weights that stay,
// against the reference.
#include "ConvolutionCase.hpp"

#include <gtest/gtest.h>

namespace kernels::testing {
namespace {

using Case = ConvolutionCase;

const Case cases[] = {
    // As they are, and in zeros.
    {3, 1, 16, {7, 5}, {3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {3, 3, 32, {9, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    // Windows that reach beyond the image, by unlike steps; whole windows of
    // zeros; a single pixel.
    {1, 2, 48, {6, 7}, {3, 2}, {1, 2}, {2, 1}, {0, 3}, {2, 3}},
    {1, 4, 16, {2, 2}, {2, 2}, {1, 1}, {3, 3}, {3, 3}, {1, 1}},
    {1, 1, 64, {5, 5}, {5, 5}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    // Tasks that begin and end within the channels of an image.
    {21, 3, 48, {30, 20}, {5, 5}, {2, 1}, {0, 2}, {3, 0}, {1, 1}},
};

bool isTaken(Call call) {
  return call.kept(1).isTaken(call.kernelNamed("few channels"));
}

TEST(FastFewChannelConvolution, MatchesTheReference) {
  // The tests of lesser instruction sets run this on any machine.
  if (!isTaken(cases[0].call(false, ""))) {
    GTEST_SKIP() << "where registers hold sixteen floats, oneDNN's is used";
  }
  for (const Case &c : cases) {
    Call plain = c.call(false, ""), full = c.call(true, "RELU");
    for (Call *call : {&plain, &full}) {
      ASSERT_TRUE(isTaken(*call));
      call->kept(1);
      expectFastMatchesReference(*call, 1e-4);
    }
  }
}

TEST(FastFewChannelConvolution, LeavesOthers) {
  const Case &few = cases[1];
  const Call changing = few.call(false, "");
  EXPECT_FALSE(changing.isTaken(changing.kernelNamed("few channels")));
  Case c = few;
  c.in = 5;
  EXPECT_FALSE(isTaken(c.call(false, "")));
  c = few;
  c.out = 24;
  EXPECT_FALSE(isTaken(c.call(false, "")));
  c = few;
  c.field = {100, 100};
  EXPECT_FALSE(isTaken(c.call(false, "")));
}

} // namespace
} // namespace kernels::testing
