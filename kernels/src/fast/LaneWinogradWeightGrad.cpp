// "convolutionWeightGrad" of 5x5 in Layout::BatchLanes16 by Winograd's method
// along rows. A shard is a pair of places, of which it makes the factors of
// some blocks of samples and a few output channels at a time, and their
// products; a last stage transforms the sums of these.
#include "ConvolutionSignature.hpp"
#include "LaneKernels.hpp"
#include "LaneWinograd.hpp"
#include "PlanHelpers.hpp"

#include <algorithm>

namespace kernels {

namespace {

constexpr std::int64_t reach = laneWinogradTaps - 1;
constexpr std::uint32_t pairs = laneWinogradPlaces / 2;

// Whose factors are there at the same time.
constexpr std::int64_t mostBlocks = 4;
constexpr std::int64_t mostChannels =
    5; // of the output, as the loops take them

class WeightGradPlan final : public Plan {
public:
  WeightGradPlan(const Signature &signature, const ConvolutionShape &shape)
      : s_(shape), strips_(laneWinogradStrips(shape)),
        weights_(s_.inChannels * s_.outChannels * laneWinogradTaps),
        parts_((laneBlocks(s_.batch) + mostBlocks - 1) / mostBlocks) {
    const std::int64_t blocks = std::min(laneBlocks(s_.batch), mostBlocks);
    const std::int64_t products = parts_ * laneWinogradPlaces * weights_;
    const std::int64_t factors =
        2 * blocks * (xImage() + mostChannels * dyChannel());
    scratchBytes_ = static_cast<std::size_t>(products) * sizeof(float);
    workspaceBytes_ = static_cast<std::size_t>(factors) * sizeof(float);
    for (std::uint32_t pair = 0; pair < pairs; ++pair) {
      tasks_.push_back(
          {0,
           laneWinogradWork(s_) / pairs,
           {wholeAccess(signature, 0), wholeAccess(signature, 1)}});
    }
    constexpr double nanosecondsPerWeight = 0.5;
    const double work = nanosecondsPerWeight *
                        static_cast<double>(laneWinogradPlaces * weights_);
    const std::int64_t count = shardCount(s_.outChannels, work);
    for (std::int64_t i = 0; i < count; ++i) {
      sums_.push_back(shardRange(s_.outChannels, count, i));
      tasks_.push_back(
          {1,
           work / static_cast<double>(count),
           {rowAccess(signature, 2, sums_.back().begin, sums_.back().end)}});
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    auto *products = reinterpret_cast<float *>(memory.scratch);
    if (task >= pairs) {
      const auto channels = sums_[task - pairs];
      const std::int64_t perChannel = weights_ / s_.outChannels;
      selectedLoops().laneWinograd.weightGradients(
          weights_, parts_, channels.begin * perChannel,
          channels.end * perChannel, products, dataOf<float>(operands, 2));
      return;
    }
    for (std::int64_t part = 0; part < parts_; ++part) {
      runPart(task, shardRange(laneBlocks(s_.batch), parts_, part), operands,
              reinterpret_cast<float *>(memory.workspace),
              products + part * laneWinogradPlaces * weights_);
    }
  }

private:
  // Floats of one place of one block of samples.
  std::int64_t xImage() const {
    return s_.inChannels * strips_ * (s_.out[0] + reach) * laneSamples;
  }
  std::int64_t dyChannel() const { return strips_ * s_.out[0] * laneSamples; }

  void runPart(std::int64_t pair, ShardRange blocks, std::byte *const *operands,
               float *factors, float *products) const {
    const std::int64_t count = blocks.end - blocks.begin;
    float *const x = factors;
    float *const dy = factors + 2 * count * xImage();
    for (std::int64_t i = 0; i < count; ++i) {
      makePixels(pair, blocks.begin + i, dataOf<const float>(operands, 1),
                 x + i * xImage(), count * xImage());
    }
    const std::int64_t samples = std::min(blocks.end * laneSamples, s_.batch) -
                                 blocks.begin * laneSamples;
    const std::int64_t tiles =
        (s_.outChannels + mostChannels - 1) / mostChannels;
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      const auto channels = shardRange(s_.outChannels, tiles, tile);
      const std::int64_t image = (channels.end - channels.begin) * dyChannel();
      for (std::int64_t i = 0; i < count; ++i) {
        makeGradients(pair, blocks.begin + i, channels,
                      dataOf<const float>(operands, 0), dy + i * image,
                      count * image);
      }
      for (std::int64_t i = 0; i < 2; ++i) {
        selectedLoops().lanes.weightGradient(
            rowShape(), dy + i * count * image, image, x + i * count * xImage(),
            xImage(), samples, channels.end - channels.begin,
            products + (2 * pair + i) * weights_ +
                channels.begin * s_.inChannels * laneWinogradTaps);
      }
    }
  }

  // One place: strips are rows, and the rows of the images columns.
  LaneLoops::Convolution rowShape() const {
    return {.inChannels = s_.inChannels,
            .inRows = strips_,
            .inColumns = s_.out[0] + reach,
            .outRows = strips_,
            .outColumns = s_.out[0],
            .kernelRows = 1,
            .kernelColumns = laneWinogradTaps,
            .strideRows = 1,
            .strideColumns = 1,
            .padRows = 0,
            .padColumns = 0,
            .dilationRows = 1,
            .dilationColumns = 1};
  }

  // Factors of one block: channel by channel, strip by strip, the rows.
  void makePixels(std::int64_t pair, std::int64_t block, const float *x,
                  float *to, std::int64_t place) const {
    const std::int64_t rows = (s_.out[0] + reach) * laneSamples;
    x += block * s_.inChannels * s_.in[0] * s_.in[1] * laneSamples;
    for (std::int64_t strip = 0; strip < strips_; ++strip) {
      selectedLoops().laneWinograd.pixels(
          {s_.inChannels, s_.in[0], s_.in[1], -s_.padLower[0],
           s_.out[0] + reach - s_.padLower[0],
           strip * laneWinogradResults - s_.padLower[1]},
          {pair, pair + 1}, x, {to + strip * rows, place, strips_ * rows});
    }
  }
  void makeGradients(std::int64_t pair, std::int64_t block, ShardRange channels,
                     const float *dy, float *to, std::int64_t place) const {
    const std::int64_t rows = s_.out[0] * laneSamples;
    dy += (block * s_.outChannels + channels.begin) * s_.out[1] * rows;
    for (std::int64_t strip = 0; strip < strips_; ++strip) {
      selectedLoops().laneWinograd.gradients(
          {channels.end - channels.begin, s_.out[0], s_.out[1], 0, s_.out[0],
           strip * laneWinogradResults},
          {pair, pair + 1}, dy, {to + strip * rows, place, strips_ * rows});
    }
  }

  ConvolutionShape s_;
  std::int64_t strips_;
  std::int64_t weights_; // of one place
  std::int64_t parts_;   // of the samples
  std::vector<ShardRange> sums_;
};

std::optional<std::vector<Layout>> wantedLayouts(const Signature &signature) {
  if (!isForLanes(signature.inputs[0]) || !isForLanes(signature.inputs[1]) ||
      !isForLaneWinograd(weightGradShape(signature)) ||
      !signature.outputs[0].isRowMajor()) {
    return std::nullopt;
  }
  constexpr auto lanes = Layout::BatchLanes16;
  return std::vector{lanes, lanes, Layout::Plain};
}

std::unique_ptr<Plan> planWeightGrad(const Signature &signature) {
  return std::make_unique<WeightGradPlan>(signature,
                                          weightGradShape(signature));
}

} // namespace

constexpr KernelEntry laneWinogradConvolutionWeightGrad{
    "lanes, winograd", wantedLayouts, planWeightGrad};

} // namespace kernels
