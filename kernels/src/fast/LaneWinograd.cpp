// Convolutions of 5x5 in Layout::BatchLanes16 by Winograd's method along rows.
// Weights are transformed first. Shards are blocks of sixteen samples and,
// where these are few, parts of their rows or, for a data gradient, channels;
// each goes through its strips of columns with factors of its own.
#include "LaneWinograd.hpp"
#include "ConvolutionSignature.hpp"
#include "LaneKernels.hpp"
#include "PlanHelpers.hpp"

#include <algorithm>

namespace kernels {

bool isForLaneWinograd(const ConvolutionShape &s) {
  for (std::size_t d : {0, 1}) {
    if (s.kernel[d] != laneWinogradTaps || s.strides[d] != 1 ||
        s.dilations[d] != 1 || s.padLower[d] < 0 || s.padUpper[d] < 0) {
      return false;
    }
  }
  // Of fewer channels, transforms take most of the time that products save, and
  // roundings of a few large products do not even out.
  constexpr std::int64_t leastChannels = 8;
  return s.groups == 1 && std::min(s.inChannels, s.outChannels) < 16 &&
         std::min(s.inChannels, s.outChannels) >= leastChannels;
}

double laneWinogradWork(const ConvolutionShape &s) {
  constexpr double vectorsPerPlace = 6; // of a transform, with its loads
  const std::int64_t rows = laneWinogradStrips(s) * s.out[0];
  return nanosecondsPerLanes * blocksInUse(s.batch) *
         static_cast<double>(laneWinogradPlaces * rows) *
         (static_cast<double>(s.inChannels * s.outChannels * s.kernel[0]) +
          vectorsPerPlace * static_cast<double>(s.inChannels + s.outChannels));
}

namespace {

constexpr auto lanes = Layout::BatchLanes16;
constexpr std::int64_t reach = laneWinogradTaps - 1;
constexpr LaneWinogradLoops::Pairs allPairs{0, laneWinogradPlaces / 2};

// Of one block of samples: rows of the results, or channels of a gradient.
struct Part {
  std::int64_t block, begin, end;
};

class ImagePlan final : public Plan {
public:
  ImagePlan(const Signature &signature, const ConvolutionShape &shape,
            bool isGradient);

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    auto *weights = reinterpret_cast<float *>(memory.scratch);
    if (task == 0) {
      selectedLoops().laneWinograd.weights(
          weights_, dataOf<const float>(operands, 1), weights);
      return;
    }
    const Part &part = parts_[task - 1];
    auto *own = reinterpret_cast<float *>(memory.workspace);
    for (std::int64_t strip = 0; strip < strips_; ++strip) {
      isGradient_ ? runGradient(part, strip, operands, weights, own)
                  : runForward(part, strip, operands, weights, own);
    }
  }

private:
  std::size_t outputIndex() const { return hasBias_ ? 3 : 2; }
  std::int64_t inImage() const { // in floats, as those below
    return s_.inChannels * s_.in[0] * s_.in[1] * laneSamples;
  }
  std::int64_t outImage() const {
    return s_.outChannels * s_.out[0] * s_.out[1] * laneSamples;
  }
  std::int64_t placeWeights() const {
    return weights_.rows * weights_.columns * laneWinogradTaps;
  }

  void runForward(const Part &part, std::int64_t strip,
                  std::byte *const *operands, const float *weights,
                  float *workspace) const {
    const auto &loops = selectedLoops().laneWinograd;
    const std::int64_t rows = part.end - part.begin;
    const auto from =
        laneWinogradFactors(workspace, s_.inChannels, rows + reach);
    const auto to = laneWinogradFactors(
        workspace + laneWinogradPlaces * from.place, s_.outChannels, rows);
    const std::int64_t inUse = lanesInUse(s_.batch, part.block);
    loops.pixels(
        {s_.inChannels, s_.in[0], s_.in[1], part.begin - s_.padLower[0],
         part.end + reach - s_.padLower[0],
         strip * laneWinogradResults - s_.padLower[1]},
        allPairs, dataOf<const float>(operands, 0) + part.block * inImage(),
        from);
    for (std::int64_t p = 0; p < laneWinogradPlaces; ++p) {
      loops.gather({s_.inChannels, s_.outChannels, rows, inUse},
                   from.data + p * from.place, weights + p * placeWeights(),
                   to.data + p * to.place);
    }
    loops.results({s_.outChannels, s_.out[0], s_.out[1], part.begin, part.end,
                   strip * laneWinogradResults},
                  to, hasBias_ ? dataOf<const float>(operands, 2) : nullptr,
                  hasRelu_, inUse,
                  dataOf<float>(operands, outputIndex()) +
                      part.block * outImage());
  }

  void runGradient(const Part &part, std::int64_t strip,
                   std::byte *const *operands, const float *weights,
                   float *workspace) const {
    const auto &loops = selectedLoops().laneWinograd;
    const std::int64_t channels = part.end - part.begin;
    const auto from = laneWinogradFactors(workspace, s_.outChannels, s_.out[0]);
    const auto to =
        laneWinogradFactors(workspace + laneWinogradPlaces * from.place,
                            channels, s_.out[0] + reach);
    const std::int64_t inUse = lanesInUse(s_.batch, part.block);
    loops.gradients({s_.outChannels, s_.out[0], s_.out[1], 0, s_.out[0],
                     strip * laneWinogradResults},
                    allPairs,
                    dataOf<const float>(operands, 0) + part.block * outImage(),
                    from);
    for (std::int64_t p = 0; p < laneWinogradPlaces; ++p) {
      loops.scatter({s_.outChannels, channels, s_.out[0], inUse},
                    from.data + p * from.place,
                    weights + p * placeWeights() +
                        part.begin * s_.outChannels * laneWinogradTaps,
                    to.data + p * to.place);
    }
    loops.pixelGradients({channels, s_.in[0], s_.in[1], -s_.padLower[0],
                          s_.out[0] + reach - s_.padLower[0],
                          strip * laneWinogradResults - s_.padLower[1]},
                         to, strip == 0, inUse,
                         dataOf<float>(operands, 2) + part.block * inImage() +
                             part.begin * s_.in[0] * s_.in[1] * laneSamples);
  }

  void addPart(const Signature &signature, const Part &part, double cost);

  ConvolutionShape s_;
  bool isGradient_;
  bool hasBias_ = false, hasRelu_ = false;
  std::int64_t strips_;
  LaneWinogradLoops::Weights weights_;
  std::vector<Part> parts_;
};

ImagePlan::ImagePlan(const Signature &signature, const ConvolutionShape &shape,
                     bool isGradient)
    : s_(shape), isGradient_(isGradient), strips_(laneWinogradStrips(shape)) {
  const std::int64_t taps = laneWinogradTaps * laneWinogradTaps;
  const std::int64_t perOutput = s_.inChannels * taps;
  if (isGradient) {
    weights_ = {s_.inChannels, s_.outChannels, taps, perOutput};
  } else {
    weights_ = {s_.outChannels, s_.inChannels, perOutput, taps};
    hasBias_ = signature.attributes.getInt("bias") != 0;
    hasRelu_ = signature.attributes.getString("activation") == "RELU";
  }
  const std::int64_t weightFloats = laneWinogradPlaces * placeWeights();
  scratchBytes_ = static_cast<std::size_t>(weightFloats) * sizeof(float);
  constexpr double nanosecondsPerWeight = 0.6;
  tasks_.push_back({0,
                    nanosecondsPerWeight * static_cast<double>(weightFloats),
                    {wholeAccess(signature, 1)}});

  // Parts of fewer rows would transform more than they multiply.
  constexpr std::int64_t leastItems = 4;
  const double work = laneWinogradWork(s_);
  const std::int64_t blocks = laneBlocks(s_.batch);
  const std::int64_t items = isGradient ? s_.inChannels : s_.out[0];
  const std::int64_t perBlock =
      std::clamp<std::int64_t>(shardCount(blocks * items, work) / blocks, 1,
                               std::max<std::int64_t>(items / leastItems, 1));
  for (std::int64_t block = 0; block < blocks; ++block) {
    const double share = blocksInUse(lanesInUse(s_.batch, block)) /
                         blocksInUse(s_.batch) / static_cast<double>(perBlock);
    for (std::int64_t i = 0; i < perBlock; ++i) {
      const auto range = shardRange(items, perBlock, i);
      addPart(signature, {block, range.begin, range.end}, work * share);
    }
  }
  const std::int64_t most = (items + perBlock - 1) / perBlock;
  const std::int64_t factors =
      isGradient ? laneWinogradFloats(s_.outChannels, s_.out[0]) +
                       laneWinogradFloats(most, s_.out[0] + reach)
                 : laneWinogradFloats(s_.inChannels, most + reach) +
                       laneWinogradFloats(s_.outChannels, most);
  workspaceBytes_ = static_cast<std::size_t>(factors) * sizeof(float);
}

void ImagePlan::addPart(const Signature &signature, const Part &part,
                        double cost) {
  Task task{1, cost, {}};
  const std::int64_t read = isGradient_ ? outImage() : inImage();
  task.accesses.push_back(
      elementAccess(signature, 0, part.block * read, (part.block + 1) * read));
  if (isGradient_) {
    const std::int64_t plane = s_.in[0] * s_.in[1] * laneSamples;
    const std::int64_t image = part.block * inImage();
    task.accesses.push_back(elementAccess(
        signature, 2, image + part.begin * plane, image + part.end * plane));
  } else {
    if (hasBias_) {
      task.accesses.push_back(wholeAccess(signature, 2));
    }
    const std::int64_t row = s_.out[1] * laneSamples;
    for (std::int64_t c = 0; c < s_.outChannels; ++c) {
      const std::int64_t plane = part.block * outImage() + c * s_.out[0] * row;
      task.accesses.push_back(elementAccess(signature, outputIndex(),
                                            plane + part.begin * row,
                                            plane + part.end * row));
    }
  }
  tasks_.push_back(std::move(task));
  parts_.push_back(part);
}

using Layouts = std::optional<std::vector<Layout>>;

Layouts forwardLayouts(const Signature &signature) {
  const bool hasBias = signature.inputs.size() == 3;
  if (!isForLanes(signature.inputs[0]) || !isForLanes(signature.outputs[0]) ||
      !isForLaneWinograd(forwardShape(signature)) ||
      !signature.inputs[1].isRowMajor() ||
      (hasBias && !signature.inputs[2].isRowMajor())) {
    return std::nullopt;
  }
  return hasBias ? std::vector{lanes, Layout::Plain, Layout::Plain, lanes}
                 : std::vector{lanes, Layout::Plain, lanes};
}

Layouts dataGradLayouts(const Signature &signature) {
  if (!isForLanes(signature.inputs[0]) || !isForLanes(signature.outputs[0]) ||
      !isForLaneWinograd(dataGradShape(signature)) ||
      !signature.inputs[1].isRowMajor()) {
    return std::nullopt;
  }
  return std::vector{lanes, Layout::Plain, lanes};
}

std::unique_ptr<Plan> planForward(const Signature &signature) {
  return std::make_unique<ImagePlan>(signature, forwardShape(signature), false);
}
std::unique_ptr<Plan> planDataGrad(const Signature &signature) {
  return std::make_unique<ImagePlan>(signature, dataGradShape(signature), true);
}

} // namespace

constexpr KernelEntry laneWinogradConvolution{"lanes, winograd", forwardLayouts,
                                              planForward};
constexpr KernelEntry laneWinogradConvolutionDataGrad{
    "lanes, winograd", dataGradLayouts, planDataGrad};

} // namespace kernels
