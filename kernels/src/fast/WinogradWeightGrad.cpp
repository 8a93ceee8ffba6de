// "convolutionWeightGrad" by Winograd's method. A shard sums the products of
// its samples, which a last stage adds up in order, or, where weights are many,
// those of its output channels.
#include "ConvolutionSignature.hpp"
#include "PlanHelpers.hpp"
#include "Winograd.hpp"
#include "WinogradKernels.hpp"

#include <algorithm>

namespace kernels {

namespace {

constexpr auto blocked = Layout::ChannelBlocked16;
constexpr std::int64_t taps = 9;

struct Cut {
  std::int64_t samples, channels; // how many parts; one of them is 1
};

std::size_t floatBytes(std::int64_t floats) {
  return lineAligned(static_cast<std::size_t>(floats) * sizeof(float));
}

// Tiles that are transformed together: each block of them goes through all
// products once.
std::int64_t blockOf(const ConvolutionShape &shape) {
  constexpr std::int64_t cachedPairs = 64 * 64;
  return shape.inChannels * shape.outChannels <= cachedPairs ? 48 : 96;
}

Cut cutOf(const ConvolutionShape &s, double work) {
  // Every part of the channels transforms all of x again.
  constexpr std::int64_t channelsPerPart = 64;
  const std::int64_t pairs = s.inChannels * s.outChannels;
  constexpr std::int64_t few = 96 * 96;
  if (pairs > few && s.outChannels >= 2 * channelsPerPart) {
    return {1, shardCount(s.outChannels / channelsPerPart, work)};
  }
  const std::size_t bytes = floatBytes(
      winogradPlaces * (pairs + blockOf(s) * (s.inChannels + s.outChannels)));
  return {winogradShards(s.batch, work, bytes), 1};
}

class WeightGradPlan final : public Plan {
public:
  WeightGradPlan(const Signature &signature, const ConvolutionShape &shape);

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    auto *dw = dataOf<float>(operands, 2);
    auto *shared = reinterpret_cast<float *>(memory.scratch);
    auto *own = reinterpret_cast<float *>(memory.workspace);
    if (task >= shards_.size()) {
      const ShardRange columns = sums_[task - shards_.size()];
      selectedLoops().winograd.weightGradients(
          weights_, columns.begin, columns.end, cut_.samples, shared, dw);
      return;
    }
    const Shard &shard = shards_[task];
    if (cut_.samples > 1) {
      addProducts(shard, operands, shared + task * productFloats_, own);
      return;
    }
    addProducts(shard, operands, own, own + productFloats_);
    const std::int64_t channels = shard.blocks.end - shard.blocks.begin;
    auto weights = weights_;
    weights.columns = channels * 16;
    selectedLoops().winograd.weightGradients(weights, 0, channels * 16, 1, own,
                                             dw + shard.blocks.begin * 16 *
                                                      weights_.columnStride);
  }

private:
  struct Shard {
    ShardRange samples, blocks; // of sixteen output channels
  };

  void addProducts(const Shard &shard, std::byte *const *operands,
                   float *products, float *factors) const;
  void addShards(const Signature &signature, double work);
  void addSums(const Signature &signature);

  WinogradLoops::Field x_, dy_;
  WinogradLoops::Weights weights_;
  std::int64_t batch_, block_;
  Cut cut_;
  std::vector<Shard> shards_;
  std::vector<ShardRange> sums_;   // columns
  std::int64_t productFloats_ = 0; // of a shard, at most
};

WeightGradPlan::WeightGradPlan(const Signature &signature,
                               const ConvolutionShape &s)
    : x_(winogradField(s.in, s.inChannels, s.out, s.padLower[0],
                       s.padLower[1])),
      dy_(winogradField(s.out, s.outChannels, s.out, 0, 0)),
      weights_{s.inChannels, s.outChannels, taps, s.inChannels * taps, false},
      batch_(s.batch), block_(blockOf(s)) {
  const double work = winogradWork(s, s.batch * dy_.tileRows * dy_.tileColumns);
  cut_ = cutOf(s, work);
  addShards(signature, work);
  if (cut_.samples > 1) {
    addSums(signature);
  }
}

void WeightGradPlan::addShards(const Signature &signature, double work) {
  const std::int64_t count = cut_.samples * cut_.channels;
  const std::int64_t xImage = x_.channels * x_.rows * x_.columns;
  const std::int64_t plane = dy_.rows * dy_.columns * 16;
  const std::int64_t blocks = dy_.channels / 16;
  std::int64_t widest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const ShardRange samples =
        cut_.samples > 1 ? shardRange(batch_, count, i) : ShardRange{0, batch_};
    const ShardRange part =
        cut_.samples > 1 ? ShardRange{0, blocks} : shardRange(blocks, count, i);
    shards_.push_back({samples, part});
    widest = std::max(widest, (part.end - part.begin) * 16);
    Task task{0,
              work / static_cast<double>(count),
              {elementAccess(signature, 1, samples.begin * xImage,
                             samples.end * xImage)}};
    for (std::int64_t n = samples.begin; n < samples.end; ++n) {
      task.accesses.push_back(elementAccess(signature, 0,
                                            (n * blocks + part.begin) * plane,
                                            (n * blocks + part.end) * plane));
    }
    if (cut_.samples == 1) {
      task.accesses.push_back(
          rowAccess(signature, 2, part.begin * 16, part.end * 16));
    }
    tasks_.push_back(std::move(task));
  }
  const WinogradLoops::Tiles tiles{0, block_};
  productFloats_ = winogradPlaces * x_.channels * widest;
  workspaceBytes_ = floatBytes(
      winogradPlaces * (tiles.apart(x_.channels) + tiles.apart(widest)));
  const std::size_t productBytes = floatBytes(productFloats_);
  if (cut_.samples > 1) {
    scratchBytes_ = shards_.size() * productBytes;
  } else {
    workspaceBytes_ += productBytes;
  }
}

void WeightGradPlan::addSums(const Signature &signature) {
  const double work = 0.2 * static_cast<double>(winogradPlaces * cut_.samples *
                                                x_.channels * dy_.channels);
  const std::int64_t blocks = dy_.channels / 16;
  const std::int64_t count = shardCount(blocks, work);
  for (std::int64_t i = 0; i < count; ++i) {
    const ShardRange range = shardRange(blocks, count, i);
    sums_.push_back({range.begin * 16, range.end * 16});
    tasks_.push_back(
        {1,
         work / static_cast<double>(count),
         {rowAccess(signature, 2, range.begin * 16, range.end * 16)}});
  }
}

void WeightGradPlan::addProducts(const Shard &shard, std::byte *const *operands,
                                 float *products, float *factors) const {
  const auto &loops = selectedLoops();
  const std::int64_t perImage = dy_.tileRows * dy_.tileColumns;
  const std::int64_t end = shard.samples.end * perImage;
  const std::int64_t columns = (shard.blocks.end - shard.blocks.begin) * 16;
  for (std::int64_t first = shard.samples.begin * perImage; first < end;
       first += block_) {
    const WinogradLoops::Tiles tiles{first, std::min(block_, end - first)};
    float *const images = factors;
    const std::int64_t xPlace = tiles.apart(x_.channels);
    float *const gradients = factors + winogradPlaces * xPlace;
    loops.winograd.images(x_, tiles, 0, x_.channels / 16,
                          dataOf<const float>(operands, 1), images);
    loops.winograd.gradients(dy_, tiles, shard.blocks.begin, shard.blocks.end,
                             dataOf<const float>(operands, 0), gradients);
    for (std::int64_t p = 0; p < winogradPlaces; ++p) {
      loops.product.multiply(
          {.rows = x_.channels,
           .columns = columns,
           .depth = tiles.count,
           .a = images + p * xPlace,
           .aRow = 1,
           .aDepth = x_.channels,
           .b = gradients + p * tiles.apart(columns),
           .bRow = columns,
           .y = products + p * x_.channels * columns,
           .yRow = columns,
           .isAdded = first > shard.samples.begin * perImage});
    }
  }
}

std::optional<std::vector<Layout>> layouts(const Signature &signature) {
  if (!isAllFloat(signature) || !signature.outputs[0].isRowMajor()) {
    return std::nullopt;
  }
  const auto shape = weightGradShape(signature);
  if (!isForWinograd(shape, shape.out)) {
    return std::nullopt;
  }
  return std::vector{blocked, blocked, Layout::Plain};
}

std::unique_ptr<Plan> plan(const Signature &signature) {
  return std::make_unique<WeightGradPlan>(signature,
                                          weightGradShape(signature));
}

} // namespace

constexpr KernelEntry winogradConvolutionWeightGrad{"winograd", layouts, plan};

} // namespace kernels
