#include "BlockedConvolution.hpp"

#include "ConvolutionSignature.hpp"
#include "KeptConvolution.hpp"
#include "PlanHelpers.hpp"
#include "loops/Loops.hpp"

#include <algorithm>
#include <limits>

namespace kernels {

namespace {

using Field = BlockedConvolutionLoops::Field;
using Part = BlockedConvolutionLoops::Part;

constexpr std::int64_t lanes = 16;
constexpr auto blocked = Layout::ChannelBlocked16;

// Where each pixel of the result reads a plane of the image, tap by tap.
std::vector<std::int32_t> windowPlaces(const ConvolutionShape &s) {
  const auto at = [&](std::size_t d, std::int64_t result, std::int64_t tap) {
    return result * s.strides[d] - s.padLower[d] + tap * s.dilations[d];
  };
  std::vector<std::int32_t> places;
  for (std::int64_t tapRow = 0; tapRow < s.kernel[0]; ++tapRow) {
    for (std::int64_t tapColumn = 0; tapColumn < s.kernel[1]; ++tapColumn) {
      for (std::int64_t pixel = 0; pixel < support::elementCount(s.out);
           ++pixel) {
        const std::int64_t row = at(0, pixel / s.out[1], tapRow);
        const std::int64_t column = at(1, pixel % s.out[1], tapColumn);
        const bool isInside =
            row >= 0 && row < s.in[0] && column >= 0 && column < s.in[1];
        places.push_back(isInside ? static_cast<std::int32_t>(
                                        (row * s.in[1] + column) * lanes)
                                  : -1);
      }
    }
  }
  return places;
}

// Whether the places fit their type, and are few: large images have enough
// pixels for each weight however they are multiplied.
bool isForPlaces(const ConvolutionShape &s) {
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t most = 1 << 20;
  return support::elementCount(s.in) <= largest / lanes &&
         support::elementCount(s.out) * support::elementCount(s.kernel) <= most;
}

// Whether this is faster than the library. Where registers hold as many floats
// as a block, that is for weights that no core's cache holds and few pixels are
// multiplied by: the library waits for them.
bool isForRegisters(const ConvolutionShape &s) {
  constexpr std::int64_t cachedWeights = 1 << 20;
  constexpr std::int64_t fewPixels = 64;
  return !hasWideRegisters() ||
         (support::elementCount(s.weightShape()) > cachedWeights &&
          support::elementCount(s.kernel) > 1 &&
          s.batch * support::elementCount(s.out) <= fewPixels);
}

// Parts whose weights for sixteen channels of the result stay in a core's
// second-level cache while pixel after pixel is multiplied by them.
std::vector<Part> partsOf(const ConvolutionShape &s) {
  constexpr std::int64_t cachedBlocks = 128; // of 16x16 weights
  const std::int64_t blocks = s.inChannels / lanes;
  const std::int64_t taps = support::elementCount(s.kernel);
  std::vector<Part> parts;
  if (blocks > cachedBlocks) {
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      for (std::int64_t b = 0; b < blocks; b += cachedBlocks) {
        parts.push_back({tap, 1, b, std::min(cachedBlocks, blocks - b)});
      }
    }
    return parts;
  }
  const std::int64_t together = cachedBlocks / blocks;
  for (std::int64_t tap = 0; tap < taps; tap += together) {
    parts.push_back({tap, std::min(together, taps - tap), 0, blocks});
  }
  return parts;
}

// How many runs of pixels an image is cut into: what their windows cover stays
// in the cache, too, as it is read for every sixteen channels of the result.
std::int64_t bandsOf(const ConvolutionShape &s) {
  constexpr std::int64_t cachedFloats = 64 << 10;
  const std::int64_t covered = std::min(support::elementCount(s.strides),
                                        support::elementCount(s.kernel));
  const std::int64_t floats =
      support::elementCount(s.out) * covered * s.inChannels;
  return std::min((floats + cachedFloats - 1) / cachedFloats, s.out[0]);
}

class BlockedPlan final : public Plan {
public:
  BlockedPlan(const Signature &signature, const ConvolutionShape &shape);

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const Shard &shard = shards_[task];
    for (std::int64_t unit = shard.units.begin; unit < shard.units.end;
         ++unit) {
      for (std::int64_t panel = shard.panels.begin; panel < shard.panels.end;
           ++panel) {
        runPanel(unit, panel, operands);
      }
    }
  }

private:
  // A unit is a band of one image, a panel sixteen channels of the result.
  struct Shard {
    ShardRange units, panels;
  };

  std::size_t outputIndex() const { return hasBias_ ? 3 : 2; }
  std::int64_t imageOf(std::int64_t unit) const { return unit / bands_; }
  ShardRange pixelsOf(std::int64_t unit) const {
    return shardRange(field_.pixels, bands_, unit % bands_);
  }
  // The first element of sixteen channels of a result.
  std::int64_t planeOf(std::int64_t unit, std::int64_t panel) const {
    return (imageOf(unit) * panels_ + panel) * field_.pixels * lanes;
  }

  void runPanel(std::int64_t unit, std::int64_t panel,
                std::byte *const *operands) const;
  void addTask(const Signature &signature, const Shard &shard, double cost);

  std::vector<std::int32_t> places_;
  Field field_;
  std::vector<Part> parts_;
  bool hasBias_, hasRelu_;
  std::int64_t imageFloats_, weightFloats_; // of an image, of a panel
  std::int64_t panels_, bands_;
  std::vector<Shard> shards_;
};

BlockedPlan::BlockedPlan(const Signature &signature, const ConvolutionShape &s)
    : places_(windowPlaces(s)), field_{support::elementCount(s.in) * lanes,
                                       support::elementCount(s.out),
                                       places_.data()},
      parts_(partsOf(s)), hasBias_(signature.inputs.size() == 3),
      hasRelu_(signature.attributes.getString("activation") == "RELU"),
      imageFloats_(s.inChannels * support::elementCount(s.in)),
      weightFloats_(lanes * s.inChannels * support::elementCount(s.kernel)),
      panels_(s.outChannels / lanes), bands_(bandsOf(s)) {
  constexpr double nanosecondsPerProduct = 0.024;
  const double work = nanosecondsPerProduct * static_cast<double>(s.products());
  const std::int64_t units = s.batch * bands_;
  // Where units are too few for the cores, shards are parts of one.
  constexpr std::int64_t few = 8;
  const std::int64_t unitParts = units < few ? units : shardCount(units, work);
  const std::int64_t panelParts =
      units < few
          ? std::max<std::int64_t>(shardCount(units * panels_, work) / units, 1)
          : 1;
  const double cost = work / static_cast<double>(unitParts * panelParts);
  for (std::int64_t p = 0; p < panelParts; ++p) {
    for (std::int64_t u = 0; u < unitParts; ++u) {
      shards_.push_back({shardRange(units, unitParts, u),
                         shardRange(panels_, panelParts, p)});
      addTask(signature, shards_.back(), cost);
    }
  }
}

void BlockedPlan::addTask(const Signature &signature, const Shard &shard,
                          double cost) {
  const std::int64_t lastImage = imageOf(shard.units.end - 1);
  Task task{
      0,
      cost,
      {elementAccess(signature, 0, imageOf(shard.units.begin) * imageFloats_,
                     (lastImage + 1) * imageFloats_),
       elementAccess(signature, 1, shard.panels.begin * weightFloats_,
                     shard.panels.end * weightFloats_)}};
  if (hasBias_) {
    task.accesses.push_back(wholeAccess(signature, 2));
  }
  for (std::int64_t unit = shard.units.begin; unit < shard.units.end; ++unit) {
    const ShardRange pixels = pixelsOf(unit);
    for (std::int64_t panel = shard.panels.begin; panel < shard.panels.end;
         ++panel) {
      const std::int64_t plane = planeOf(unit, panel);
      task.accesses.push_back(elementAccess(signature, outputIndex(),
                                            plane + pixels.begin * lanes,
                                            plane + pixels.end * lanes));
    }
  }
  tasks_.push_back(std::move(task));
}

void BlockedPlan::runPanel(std::int64_t unit, std::int64_t panel,
                           std::byte *const *operands) const {
  const ShardRange pixels = pixelsOf(unit);
  BlockedConvolutionLoops::Sums sums{
      .begin = pixels.begin,
      .end = pixels.end,
      .image = dataOf<const float>(operands, 0) + imageOf(unit) * imageFloats_,
      .weights = dataOf<const float>(operands, 1) + panel * weightFloats_,
      .result = dataOf<float>(operands, outputIndex()) + planeOf(unit, panel),
      .bias = hasBias_ ? dataOf<const float>(operands, 2) + panel * lanes
                       : nullptr};
  for (const Part &part : parts_) {
    sums.hasRelu = hasRelu_ && &part == &parts_.back();
    selectedLoops().blockedConvolution.multiply(field_, part, sums);
    sums.isAdded = true;
    sums.weights += part.taps * part.blocks * lanes * lanes;
  }
}

std::optional<std::vector<Layout>> layouts(const Signature &signature) {
  if (signature.inputs[0].found != blocked || !isKeptConvolution(signature)) {
    return std::nullopt;
  }
  const auto shape = forwardShape(signature);
  if (shape.inChannels % lanes != 0 || shape.products() == 0 ||
      !isForPlaces(shape) || !isForRegisters(shape)) {
    return std::nullopt;
  }
  return keptConvolutionLayouts(signature, blocked);
}

std::unique_ptr<Plan> plan(const Signature &signature) {
  return std::make_unique<BlockedPlan>(signature, forwardShape(signature));
}

} // namespace

constexpr KernelEntry blockedConvolution{"blocked", layouts, plan};

} // namespace kernels
