// "convolution" and "convolutionDataGrad" by Winograd's method. The weights are
// transformed first; shards are then runs of rows of tiles over all images.
#include "ConvolutionSignature.hpp"
#include "PlanHelpers.hpp"
#include "Winograd.hpp"
#include "WinogradKernels.hpp"

#include <algorithm>

namespace kernels {

namespace {

constexpr auto blocked = Layout::ChannelBlocked16;

// Tiles that are transformed together: their factors stay in a core's cache.
// Weights that do not stay there are read for every block.
std::int64_t blockOf(const ConvolutionShape &shape) {
  constexpr std::int64_t cached = 2048; // channels times tiles
  constexpr std::int64_t many = 512;
  const std::int64_t channels = shape.inChannels + shape.outChannels;
  return channels < many ? std::max<std::int64_t>(16, cached / channels / 8 * 8)
                         : 32;
}

class ImagePlan final : public Plan {
public:
  ImagePlan(const Signature &signature, const ConvolutionShape &shape,
            bool isGradient);

  void run(std::uint32_t task, std::byte *const *operands,
           std::byte *scratch) const override {
    auto *factors = reinterpret_cast<float *>(scratch);
    if (task < weightRows_.size()) {
      selectedLoops().winograd.weights(
          weights_, weightRows_[task].begin, weightRows_[task].end,
          winogradPanel, dataOf<const float>(operands, 1), factors);
      return;
    }
    const std::size_t shard = task - weightRows_.size();
    auto *own =
        reinterpret_cast<float *>(scratch + weightBytes_ + shard * shardBytes_);
    const std::int64_t end = tileRows_[shard].end * in_.tileColumns;
    for (std::int64_t first = tileRows_[shard].begin * in_.tileColumns;
         first < end; first += block_) {
      runTiles({first, std::min(block_, end - first)}, operands, factors, own);
    }
  }

private:
  std::size_t outputIndex() const { return hasBias_ ? 3 : 2; }

  void runTiles(const WinogradLoops::Tiles &tiles, std::byte *const *operands,
                const float *weights, float *scratch) const {
    const auto &loops = selectedLoops();
    float *const images = scratch;
    const std::int64_t inPlace = tiles.apart(in_.channels);
    const std::int64_t outPlace = tiles.apart(out_.channels);
    float *const products = scratch + winogradPlaces * inPlace;
    loops.winograd.images(in_, tiles, dataOf<const float>(operands, 0), images);
    for (std::int64_t p = 0; p < winogradPlaces; ++p) {
      for (std::int64_t c = 0; c < out_.channels; c += winogradPanel) {
        const std::int64_t panel = std::min(winogradPanel, out_.channels - c);
        loops.product.multiply(
            {.rows = tiles.count,
             .columns = panel,
             .depth = in_.channels,
             .a = images + p * inPlace,
             .aRow = in_.channels,
             .aDepth = 1,
             .b = weights + (p * out_.channels + c) * in_.channels,
             .bRow = panel,
             .y = products + p * outPlace + c,
             .yRow = out_.channels});
      }
    }
    loops.winograd.results(out_, tiles, products,
                           hasBias_ ? dataOf<const float>(operands, 2)
                                    : nullptr,
                           hasRelu_, dataOf<float>(operands, outputIndex()));
  }

  void addTask(const Signature &signature, ShardRange rows, double cost);

  WinogradLoops::Field in_, out_;
  WinogradLoops::Weights weights_;
  bool hasBias_ = false, hasRelu_ = false;
  std::int64_t block_;
  std::vector<ShardRange> weightRows_, tileRows_;
  std::size_t weightBytes_, shardBytes_;
};

ImagePlan::ImagePlan(const Signature &signature, const ConvolutionShape &s,
                     bool isGradient)
    : block_(blockOf(s)) {
  // The data gradient is a convolution of dy with the kernel turned round and
  // the channels exchanged.
  const std::int64_t taps = 9;
  const Shape &field = isGradient ? s.in : s.out;
  if (isGradient) {
    in_ = winogradField(s.out, s.outChannels, field, 2 - s.padLower[0],
                        2 - s.padLower[1]);
    out_ = winogradField(s.in, s.inChannels, field, 0, 0);
    weights_ = {s.outChannels, s.inChannels, s.inChannels * taps, taps, true};
  } else {
    in_ =
        winogradField(s.in, s.inChannels, field, s.padLower[0], s.padLower[1]);
    out_ = winogradField(s.out, s.outChannels, field, 0, 0);
    weights_ = {s.inChannels, s.outChannels, taps, s.inChannels * taps, false};
    hasBias_ = signature.attributes.getInt("bias") != 0;
    hasRelu_ = signature.attributes.getString("activation") == "RELU";
  }
  constexpr double nanosecondsPerWeight = 5;
  const std::int64_t pairs = s.inChannels * s.outChannels;
  const double weightWork = nanosecondsPerWeight * static_cast<double>(pairs);
  const std::int64_t weightParts = shardCount(weights_.rows, weightWork);
  for (std::int64_t i = 0; i < weightParts; ++i) {
    weightRows_.push_back(shardRange(weights_.rows, weightParts, i));
    tasks_.push_back({0,
                      weightWork / static_cast<double>(weightParts),
                      {wholeAccess(signature, 1)}});
  }
  weightBytes_ = lineAligned(static_cast<std::size_t>(winogradPlaces * pairs) *
                             sizeof(float));
  const std::int64_t rows = s.batch * in_.tileRows;
  const WinogradLoops::Tiles tiles{0, std::min(block_, rows * in_.tileColumns)};
  shardBytes_ = lineAligned(
      static_cast<std::size_t>(winogradPlaces * (tiles.apart(s.inChannels) +
                                                 tiles.apart(s.outChannels))) *
      sizeof(float));
  const double work = winogradWork(s, rows * in_.tileColumns);
  const std::int64_t parts = winogradShards(rows, work, shardBytes_);
  for (std::int64_t i = 0; i < parts; ++i) {
    tileRows_.push_back(shardRange(rows, parts, i));
    addTask(signature, tileRows_.back(), work / static_cast<double>(parts));
  }
  scratchBytes_ = weightBytes_ + tileRows_.size() * shardBytes_;
}

void ImagePlan::addTask(const Signature &signature, ShardRange rows,
                        double cost) {
  Task task{1, cost, {}};
  const std::int64_t inImage = in_.channels * in_.rows * in_.columns;
  const std::int64_t outImage = out_.channels * out_.rows * out_.columns;
  const std::int64_t line = out_.columns * 16, plane = out_.rows * line;
  const std::int64_t last = (rows.end - 1) / in_.tileRows;
  const std::int64_t firstImage = rows.begin / in_.tileRows;
  task.accesses.push_back(
      elementAccess(signature, 0, firstImage * inImage, (last + 1) * inImage));
  if (hasBias_) {
    task.accesses.push_back(wholeAccess(signature, 2));
  }
  for (std::int64_t image = firstImage; image <= last; ++image) {
    const std::int64_t begin =
        4 * std::max<std::int64_t>(rows.begin - image * in_.tileRows, 0);
    const std::int64_t end =
        std::min(4 * (rows.end - image * in_.tileRows), out_.rows);
    for (std::int64_t at = image * outImage; at < (image + 1) * outImage;
         at += plane) {
      task.accesses.push_back(elementAccess(
          signature, outputIndex(), at + begin * line, at + end * line));
    }
  }
  tasks_.push_back(std::move(task));
}

using Layouts = std::optional<std::vector<Layout>>;

Layouts forwardLayouts(const Signature &signature) {
  const bool hasBias = signature.inputs.size() == 3;
  if (!isAllFloat(signature) || !signature.inputs[1].isRowMajor() ||
      (hasBias && !signature.inputs[2].isRowMajor())) {
    return std::nullopt;
  }
  const auto shape = forwardShape(signature);
  if (!isForWinograd(shape, shape.out)) {
    return std::nullopt;
  }
  return hasBias ? std::vector{blocked, Layout::Plain, Layout::Plain, blocked}
                 : std::vector{blocked, Layout::Plain, blocked};
}

Layouts dataGradLayouts(const Signature &signature) {
  if (!isAllFloat(signature) || !signature.inputs[1].isRowMajor()) {
    return std::nullopt;
  }
  const auto shape = dataGradShape(signature);
  if (!isForWinograd(shape, shape.in)) {
    return std::nullopt;
  }
  return std::vector{blocked, Layout::Plain, blocked};
}

std::unique_ptr<Plan> planForward(const Signature &signature) {
  return std::make_unique<ImagePlan>(signature, forwardShape(signature), false);
}
std::unique_ptr<Plan> planDataGrad(const Signature &signature) {
  return std::make_unique<ImagePlan>(signature, dataGradShape(signature), true);
}

} // namespace

constexpr KernelEntry winogradConvolution{"winograd", forwardLayouts,
                                          planForward};
constexpr KernelEntry winogradConvolutionDataGrad{"winograd", dataGradLayouts,
                                                  planDataGrad};

} // namespace kernels
