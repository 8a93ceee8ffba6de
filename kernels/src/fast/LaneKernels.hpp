// Kernels that keep sixteen samples of the batch in the lanes
// (Layout::BatchLanes16): networks of few channels, whose vectors would be
// mostly padding in any layout blocked by channels.
#pragma once

#include <kernels/KernelEntry.hpp>

#include <vector>

namespace kernels {

extern const KernelEntry laneConvolution;
extern const KernelEntry laneConvolutionDataGrad;
extern const KernelEntry laneConvolutionWeightGrad;
extern const KernelEntry laneWinogradConvolution;
extern const KernelEntry laneWinogradConvolutionDataGrad;
extern const KernelEntry laneWinogradConvolutionWeightGrad;
extern const KernelEntry laneMaxPool;
extern const KernelEntry laneMaxPoolGrad;
extern const KernelEntry laneGroupNorm;
extern const KernelEntry laneGroupNormGrad;
extern const KernelEntry laneReduce;

// Whether an image of this shape is one for these kernels: enough samples to
// fill the lanes, few channels.
bool isForLanes(const OperandSpec &image);

// Whether these are images that can lie in such blocks of channels.
bool fitsBlocks(const OperandSpec &image, Layout blocks);

// Some channels of an operand in lanes, in every block of samples.
std::vector<Access> channelAccesses(const Signature &signature,
                                    std::size_t operand, ShardRange channels);

// Sixteen samples.
inline constexpr std::int64_t laneSamples = 16;
constexpr std::int64_t laneBlocks(std::int64_t batch) {
  return (batch + laneSamples - 1) / laneSamples;
}
// Samples in use in a block.
constexpr std::int64_t lanesInUse(std::int64_t batch, std::int64_t block) {
  const std::int64_t left = batch - block * laneSamples;
  return left < laneSamples ? left : laneSamples;
}
// A block in which eight lanes are enough is half of one.
constexpr double blocksInUse(std::int64_t batch) {
  constexpr std::int64_t half = laneSamples / 2;
  return 0.5 * static_cast<double>((batch + half - 1) / half);
}

// Nanoseconds per sixteen products, at one vector a cycle.
inline constexpr double nanosecondsPerLanes = 0.35;

} // namespace kernels
