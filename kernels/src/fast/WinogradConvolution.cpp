// "convolution" and "convolutionDataGrad" by Winograd's method. Where tiles are
// many, the weights are transformed first; shards are then runs of rows of
// tiles over all images, or, where tiles overlap, runs of images.
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
            WinogradWay way);

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    auto *factors = reinterpret_cast<float *>(memory.scratch);
    if (task < weightRows_.size()) {
      selectedLoops().winograd.weights(
          call_.weights, weightRows_[task].begin, weightRows_[task].end,
          winogradPanel, dataOf<const float>(operands, 1), factors);
      return;
    }
    const std::size_t shard = task - weightRows_.size();
    auto *own = reinterpret_cast<float *>(memory.workspace);
    const std::int64_t end = tileRows_[shard].end * call_.in.tileColumns;
    for (std::int64_t first = tileRows_[shard].begin * call_.in.tileColumns;
         first < end; first += block_) {
      runTiles({first, std::min(block_, end - first)}, operands, factors, own);
    }
  }

private:
  void runTiles(const WinogradLoops::Tiles &tiles, std::byte *const *operands,
                const float *weights, float *workspace) const {
    const auto &loops = selectedLoops();
    float *const images = workspace;
    const std::int64_t inPlace = tiles.apart(call_.in.channels);
    const std::int64_t outPlace = tiles.apart(call_.out.channels);
    float *const products = workspace + winogradPlaces * inPlace;
    const auto toFactors =
        isTransposed() ? loops.winograd.gradients : loops.winograd.images;
    toFactors(call_.in, tiles, 0, call_.in.channels / 16,
              dataOf<const float>(operands, 0), images);
    for (std::int64_t p = 0; p < winogradPlaces; ++p) {
      for (std::int64_t c = 0; c < call_.out.channels; c += winogradPanel) {
        const std::int64_t panel =
            std::min(winogradPanel, call_.out.channels - c);
        loops.product.multiply(
            {.rows = tiles.count,
             .columns = panel,
             .depth = call_.in.channels,
             .a = images + p * inPlace,
             .aRow = call_.in.channels,
             .aDepth = 1,
             .b = weights + p * call_.weights.apart() + c * call_.in.channels,
             .bRow = panel,
             .y = products + p * outPlace + c,
             .yRow = call_.out.channels});
      }
    }
    auto *const result = dataOf<float>(operands, call_.outputIndex());
    if (isTransposed()) {
      loops.winograd.pixelGradients(call_.out, tiles, 0,
                                    call_.out.channels / 16, products, result);
      return;
    }
    loops.winograd.results(
        call_.out, tiles, 0, call_.out.channels / 16, products,
        call_.hasBias ? dataOf<const float>(operands, 2) : nullptr,
        call_.hasRelu, result);
  }
  bool isTransposed() const { return call_.way == WinogradWay::Transposed; }

  void addTask(const Signature &signature, ShardRange rows, double cost);

  WinogradCall call_;
  std::int64_t block_;
  std::vector<ShardRange> weightRows_, tileRows_;
};

ImagePlan::ImagePlan(const Signature &signature, const ConvolutionShape &s,
                     WinogradWay way)
    : call_(signature, s, way), block_(blockOf(s)) {
  constexpr double nanosecondsPerWeight = 5;
  const std::int64_t pairs = s.inChannels * s.outChannels;
  const double weightWork = nanosecondsPerWeight * static_cast<double>(pairs);
  const std::int64_t weightParts = shardCount(call_.weights.rows, weightWork);
  for (std::int64_t i = 0; i < weightParts; ++i) {
    weightRows_.push_back(shardRange(call_.weights.rows, weightParts, i));
    tasks_.push_back({0,
                      weightWork / static_cast<double>(weightParts),
                      {wholeAccess(signature, 1)}});
  }
  scratchBytes_ =
      static_cast<std::size_t>(winogradPlaces * call_.weights.apart()) *
      sizeof(float);
  const std::int64_t rows = s.batch * call_.in.tileRows;
  const WinogradLoops::Tiles tiles{
      0, std::min(block_, rows * call_.in.tileColumns)};
  workspaceBytes_ =
      static_cast<std::size_t>(winogradPlaces * (tiles.apart(s.inChannels) +
                                                 tiles.apart(s.outChannels))) *
      sizeof(float);
  const double work = winogradWork(s, rows * call_.in.tileColumns);
  const std::int64_t together = isTransposed() ? call_.in.tileRows : 1;
  const std::int64_t parts =
      winogradShards(rows / together, work, workspaceBytes_);
  for (std::int64_t i = 0; i < parts; ++i) {
    const ShardRange range = shardRange(rows / together, parts, i);
    tileRows_.push_back({range.begin * together, range.end * together});
    addTask(signature, tileRows_.back(), work / static_cast<double>(parts));
  }
}

void ImagePlan::addTask(const Signature &signature, ShardRange rows,
                        double cost) {
  Task task{1, cost, {}};
  const std::int64_t inImage =
      call_.in.channels * call_.in.rows * call_.in.columns;
  const std::int64_t outImage =
      call_.out.channels * call_.out.rows * call_.out.columns;
  const std::int64_t line = call_.out.columns * 16,
                     plane = call_.out.rows * line;
  const std::int64_t last = (rows.end - 1) / call_.in.tileRows;
  const std::int64_t firstImage = rows.begin / call_.in.tileRows;
  task.accesses.push_back(
      elementAccess(signature, 0, firstImage * inImage, (last + 1) * inImage));
  if (call_.hasBias) {
    task.accesses.push_back(wholeAccess(signature, 2));
  }
  for (std::int64_t image = firstImage; image <= last; ++image) {
    const std::int64_t begin =
        4 * std::max<std::int64_t>(rows.begin - image * call_.in.tileRows, 0);
    const std::int64_t overlap = isTransposed() ? 2 : 0;
    const std::int64_t end = std::min(
        4 * (rows.end - image * call_.in.tileRows) + overlap, call_.out.rows);
    for (std::int64_t at = image * outImage; at < (image + 1) * outImage;
         at += plane) {
      task.accesses.push_back(elementAccess(
          signature, call_.outputIndex(), at + begin * line, at + end * line));
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
  // In a training step few tiles are computed exactly: it takes small batches
  // for their values, larger ones for speed.
  const auto shape = forwardShape(signature);
  const bool isForFew = signature.inputs[1].isKept && isForFewTiles(shape);
  if (!isForWinograd(shape, shape.out) && !isForFew) {
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
  const bool isTransposed = dataGradWay(shape) == WinogradWay::Transposed;
  if (!isForWinograd(shape, isTransposed ? shape.out : shape.in)) {
    return std::nullopt;
  }
  return std::vector{blocked, Layout::Plain, blocked};
}

std::unique_ptr<Plan> planForward(const Signature &signature) {
  const auto shape = forwardShape(signature);
  if (isForFewTiles(shape)) {
    return planFewTiles(signature, shape);
  }
  return std::make_unique<ImagePlan>(signature, shape, WinogradWay::Forward);
}
std::unique_ptr<Plan> planDataGrad(const Signature &signature) {
  const auto shape = dataGradShape(signature);
  return std::make_unique<ImagePlan>(signature, shape, dataGradWay(shape));
}

} // namespace

constexpr KernelEntry winogradConvolution{"winograd", forwardLayouts,
                                          planForward};
constexpr KernelEntry winogradConvolutionDataGrad{"winograd", dataGradLayouts,
                                                  planDataGrad};

} // namespace kernels
