// Winograd's method where tiles are few, as for one image: all of them are
// transformed first. Shards are then channels of the result, and transform
// their weights part by part: never all of them, which take four times the
// memory, so that reading them back would cost what the method saves.
#include "PlanHelpers.hpp"
#include "Winograd.hpp"

#include <algorithm>

namespace kernels {

namespace {

// Blocks of channels whose tiles and weights are multiplied together: the
// factors of a panel's weights stay in a core's second-level cache.
constexpr std::int64_t partBlocks = 4;

std::size_t floatBytes(std::int64_t floats) {
  return lineAligned(static_cast<std::size_t>(floats) * sizeof(float));
}

class FewTilesPlan final : public Plan {
public:
  FewTilesPlan(const Signature &signature, const ConvolutionShape &shape);

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    if (task < parts_.size()) {
      const Part &part = parts_[task];
      selectedLoops().winograd.images(
          call_.in, tiles_, part.blocks.begin, part.blocks.end,
          dataOf<const float>(operands, 0),
          reinterpret_cast<float *>(memory.scratch + part.offset));
      return;
    }
    const std::size_t shard = task - parts_.size();
    for (std::int64_t panel = panels_[shard].begin; panel < panels_[shard].end;
         ++panel) {
      runPanel(panel, operands, memory);
    }
  }

private:
  // Blocks of sixteen channels that are multiplied, and their transformed tiles
  // in the scratch.
  struct Part {
    ShardRange blocks;
    std::size_t offset;
  };

  void addImages(const Signature &signature);
  void addPanels(const Signature &signature, const ConvolutionShape &shape);
  ShardRange blocksOf(std::int64_t panel) const {
    const std::int64_t blocks = panel_ / 16;
    return {panel * blocks,
            std::min((panel + 1) * blocks, call_.out.channels / 16)};
  }
  void runPanel(std::int64_t panel, std::byte *const *operands,
                Memory memory) const;
  void addProducts(const Part &part, const float *images, const float *weights,
                   std::int64_t columns, float *factors, float *products) const;

  WinogradCall call_;
  WinogradLoops::Tiles tiles_;
  std::int64_t panel_; // channels of the result that a shard does at a time
  std::vector<Part> parts_;
  std::vector<ShardRange> panels_; // by shard
  std::size_t factorBytes_ = 0;
};

FewTilesPlan::FewTilesPlan(const Signature &signature,
                           const ConvolutionShape &shape)
    : call_(signature, shape, WinogradWay::Forward), tiles_{0, 0},
      panel_(call_.out.channels > winogradPanel ? winogradPanel : 16) {
  tiles_.count = shape.batch * call_.in.tileRows * call_.in.tileColumns;
  addImages(signature);
  addPanels(signature, shape);
}

void FewTilesPlan::addImages(const Signature &signature) {
  constexpr double nanosecondsPerFactor = 0.1;
  const std::int64_t blocks = call_.in.channels / 16;
  const std::int64_t plane = call_.in.rows * call_.in.columns * 16;
  const std::int64_t images =
      tiles_.count / (call_.in.tileRows * call_.in.tileColumns);
  for (std::int64_t begin = 0; begin < blocks; begin += partBlocks) {
    const ShardRange range{begin, std::min(begin + partBlocks, blocks)};
    const std::int64_t channels = (range.end - range.begin) * 16;
    parts_.push_back({range, scratchBytes_});
    scratchBytes_ += floatBytes(winogradPlaces * tiles_.apart(channels));
    Task task{0,
              nanosecondsPerFactor *
                  static_cast<double>(winogradPlaces * tiles_.count * channels),
              {}};
    for (std::int64_t image = 0; image < images; ++image) {
      task.accesses.push_back(
          elementAccess(signature, 0, (image * blocks + range.begin) * plane,
                        (image * blocks + range.end) * plane));
    }
    tasks_.push_back(std::move(task));
  }
  WinogradLoops::Weights factors = call_.weights;
  factors.rows = std::min(partBlocks, blocks) * 16;
  factors.columns = panel_;
  factorBytes_ = floatBytes(winogradPlaces * factors.apart());
}

void FewTilesPlan::addPanels(const Signature &signature,
                             const ConvolutionShape &shape) {
  workspaceBytes_ =
      factorBytes_ + floatBytes(winogradPlaces * tiles_.apart(panel_));
  const double work = winogradWork(shape, tiles_.count);
  const std::int64_t panels = (call_.out.channels + panel_ - 1) / panel_;
  const std::int64_t count = winogradShards(panels, work, workspaceBytes_);
  const std::int64_t blocks = call_.out.channels / 16;
  const std::int64_t plane = call_.out.rows * call_.out.columns * 16;
  for (std::int64_t i = 0; i < count; ++i) {
    panels_.push_back(shardRange(panels, count, i));
    const std::int64_t begin = blocksOf(panels_.back().begin).begin;
    const std::int64_t end = blocksOf(panels_.back().end - 1).end;
    Task task{1,
              work / static_cast<double>(count),
              {rowAccess(signature, 1, begin * 16, end * 16)}};
    if (call_.hasBias) {
      task.accesses.push_back(wholeAccess(signature, 2));
    }
    for (std::int64_t image = 0; image < shape.batch; ++image) {
      task.accesses.push_back(elementAccess(signature, call_.outputIndex(),
                                            (image * blocks + begin) * plane,
                                            (image * blocks + end) * plane));
    }
    tasks_.push_back(std::move(task));
  }
}

void FewTilesPlan::runPanel(std::int64_t panel, std::byte *const *operands,
                            Memory memory) const {
  const ShardRange blocks = blocksOf(panel);
  const std::int64_t columns = (blocks.end - blocks.begin) * 16;
  const float *weights = dataOf<const float>(operands, 1) +
                         blocks.begin * 16 * call_.weights.columnStride;
  auto *const factors = reinterpret_cast<float *>(memory.workspace);
  float *const products = factors + factorBytes_ / sizeof(float);
  for (const Part &part : parts_) {
    addProducts(part,
                reinterpret_cast<const float *>(memory.scratch + part.offset),
                weights, columns, factors, products);
  }
  selectedLoops().winograd.results(
      call_.out, tiles_, blocks.begin, blocks.end, products,
      call_.hasBias ? dataOf<const float>(operands, 2) : nullptr, call_.hasRelu,
      dataOf<float>(operands, call_.outputIndex()));
}

void FewTilesPlan::addProducts(const Part &part, const float *images,
                               const float *weights, std::int64_t columns,
                               float *factors, float *products) const {
  const auto &loops = selectedLoops();
  const std::int64_t depth = (part.blocks.end - part.blocks.begin) * 16;
  WinogradLoops::Weights shape = call_.weights;
  shape.rows = depth;
  shape.columns = columns;
  loops.winograd.weights(shape, 0, depth, columns,
                         weights + part.blocks.begin * 16 * shape.rowStride,
                         factors);
  for (std::int64_t p = 0; p < winogradPlaces; ++p) {
    loops.product.multiply({.rows = tiles_.count,
                            .columns = columns,
                            .depth = depth,
                            .a = images + p * tiles_.apart(depth),
                            .aRow = depth,
                            .aDepth = 1,
                            .b = factors + p * shape.apart(),
                            .bRow = columns,
                            .y = products + p * tiles_.apart(columns),
                            .yRow = columns,
                            .isAdded = part.blocks.begin > 0});
  }
}

} // namespace

std::unique_ptr<Plan> planFewTiles(const Signature &signature,
                                   const ConvolutionShape &shape) {
  return std::make_unique<FewTilesPlan>(signature, shape);
}

} // namespace kernels
