// Convolutions of images that lie in blocks of sixteen channels, by weights
// that stay, against the reference.
#include "ConvolutionCase.hpp"

#include <gtest/gtest.h>

namespace kernels::testing {
namespace {

constexpr auto blocked = Layout::ChannelBlocked16;

using Case = ConvolutionCase;

const Case cases[] = {
    // Points: all pixels, every second one, more channels than one part has.
    {2, 32, 48, {7, 5}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {1, 16, 32, {9, 8}, {1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
    {1, 2080, 16, {2, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    // Windows that reach beyond the image, by unlike steps; whole windows of
    // zeros.
    {1, 32, 32, {8, 9}, {3, 3}, {2, 1}, {1, 0}, {1, 2}, {1, 1}},
    {1, 16, 16, {6, 7}, {3, 2}, {1, 2}, {2, 1}, {0, 3}, {2, 3}},
    {1, 16, 16, {2, 2}, {2, 2}, {1, 1}, {3, 3}, {3, 3}, {1, 1}},
    // Several parts of the taps; a single pixel.
    {1, 512, 16, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {1, 64, 16, {3, 3}, {3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    // Bands of the rows, fewer and more than the parts that tasks are cut to.
    {1, 128, 64, {28, 28}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {9, 64, 32, {40, 30}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
};

// Weights that no core's cache holds, for few pixels.
const Case manyWeights[] = {
    {1, 1024, 128, {3, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {2, 512, 256, {7, 5}, {3, 3}, {2, 1}, {1, 0}, {1, 1}, {1, 1}},
};

// Where registers hold sixteen floats, all but many weights are left to the
// library: the tests of lesser instruction sets run this on any machine.
bool isForThisMachine() {
  Call call = cases[0].call(false, "");
  call.kept(1).found(0, blocked);
  return call.isTaken(call.kernelNamed("blocked"));
}

void expectMatchesReference(const Case &c) {
  Call plain = c.call(false, ""), full = c.call(true, "RELU");
  for (Call *call : {&plain, &full}) {
    call->kept(1).found(0, blocked);
    ASSERT_TRUE(call->isTaken(call->kernelNamed("blocked")));
    expectFastMatchesReference(*call, 1e-4);
  }
}

TEST(FastBlockedConvolution, MatchesTheReference) {
  if (!isForThisMachine()) {
    GTEST_SKIP() << "where registers hold sixteen floats, oneDNN's is used";
  }
  for (const Case &c : cases) {
    expectMatchesReference(c);
  }
}

TEST(FastBlockedConvolution, TakesManyWeightsForFewPixels) {
  for (const Case &c : manyWeights) {
    expectMatchesReference(c);
  }
  Case c = manyWeights[0];
  c.batch = 6; // 72 pixels
  Call more = c.call(false, "");
  EXPECT_EQ(more.kept(1).found(0, blocked).isTaken(more.kernelNamed("blocked")),
            isForThisMachine());
}

TEST(FastBlockedConvolution, LeavesLargeImages) {
  Case c{1, 16, 16, {360, 360}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  Call large = c.call(false, "");
  const std::size_t ours = large.kernelNamed("blocked");
  EXPECT_FALSE(large.kept(1).found(0, blocked).isTaken(ours));
  c.field = {36, 36};
  Call smaller = c.call(false, "");
  EXPECT_EQ(smaller.kept(1).found(0, blocked).isTaken(ours),
            isForThisMachine());
}

// Weights that change would be laid out anew for each call, and images that
// lie otherwise copied.
TEST(FastBlockedConvolution, TakesImagesInBlocksAndWeightsThatStay) {
  Call call = cases[0].call(false, "");
  const std::size_t ours = call.kernelNamed("blocked");
  EXPECT_FALSE(call.isTaken(ours));
  EXPECT_FALSE(call.kept(1).isTaken(ours));
  EXPECT_FALSE(call.found(0, Layout::ChannelBlocked8).isTaken(ours));
}

} // namespace
} // namespace kernels::testing
