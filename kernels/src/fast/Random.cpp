// "random" and "dropout" on row-major operands, in shards of whole blocks of
// random numbers.
#include "FastKernels.hpp"
#include "PlanHelpers.hpp"

#include "loops/Loops.hpp"
#include "random/Parameters.hpp"

#include <algorithm>
#include <cstring>

namespace kernels {

namespace {

using random::elementsPerBlock;

// The loop of each distribution.
auto loopOf(const random::Uniform &) {
  return selectedLoops().random.uniform;
}
auto loopOf(const random::Normal &) {
  return selectedLoops().random.normal;
}
auto loopOf(const random::TruncatedNormal &) {
  return selectedLoops().random.truncatedNormal;
}
auto loopOf(const random::LogUniform &) {
  return selectedLoops().random.logUniform;
}
auto loopOf(const random::Bernoulli &) {
  return selectedLoops().random.bernoulli;
}
auto loopOf(const random::UniformInt &) {
  return selectedLoops().random.uniformInt;
}
auto loopOf(const random::Bits &) {
  return selectedLoops().random.bits;
}

void store(DataType type, const float *from, std::int64_t count,
           std::byte *to) {
  switch (type) {
  case DataType::Half:
    selectedLoops().elementwise.storeHalf(reinterpret_cast<std::uint16_t *>(to),
                                          from, 1, count);
    break;
  case DataType::Int:
    std::transform(from, from + count, reinterpret_cast<std::int32_t *>(to),
                   [](float x) { return static_cast<std::int32_t>(x); });
    break;
  default:
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
  }
}
void store(DataType, const std::int32_t *from, std::int64_t count,
           std::byte *to) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof *from);
}

// Shards of the result's elements, each starting at a block.
class BlocksPlan : public Plan {
protected:
  BlocksPlan(const Signature &signature, double nanosecondsPerElement)
      : type_(signature.outputs[0].type) {
    const auto elements = support::elementCount(signature.outputs[0].shape);
    const auto blocks = (elements + elementsPerBlock - 1) / elementsPerBlock;
    const auto count = shardCount(blocks, nanosecondsPerElement *
                                              static_cast<double>(elements));
    for (std::int64_t i = 0; i < count && blocks > 0; ++i) {
      auto range = shardRange(blocks, count, i);
      range = {range.begin * elementsPerBlock,
               std::min(range.end * elementsPerBlock, elements)};
      Task task{0,
                nanosecondsPerElement *
                    static_cast<double>(range.end - range.begin),
                {}};
      for (std::size_t o = 0; o < signature.operandCount(); ++o) {
        const bool isSeed = o + 1 == signature.inputs.size();
        task.accesses.push_back(
            isSeed ? wholeAccess(signature, o)
                   : elementAccess(signature, o, range.begin, range.end));
      }
      tasks_.push_back(std::move(task));
      shards_.push_back(range);
    }
  }

  std::int64_t blockOf(std::int64_t element) const {
    return element / elementsPerBlock;
  }

  DataType type_;
  std::vector<ShardRange> shards_; // of elements
};

class RandomPlan final : public BlocksPlan {
public:
  explicit RandomPlan(const Signature &signature)
      : BlocksPlan(signature, nanosecondsPerElement),
        attributes_(signature.attributes),
        distribution_(random::distributionOf(attributes_, type_)) {}

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const auto stream =
        random::streamOf(attributes_, dataOf<const std::uint32_t>(operands, 0));
    std::visit(
        [&](const auto &distribution) {
          draw(distribution, stream, shards_[task], operands[1]);
        },
        distribution_);
  }

private:
  static constexpr double nanosecondsPerElement = 0.6;

  // Through a buffer in the cache: the last block may be more than is left, and
  // numbers may have to become another type.
  template <typename Distribution>
  void draw(const Distribution &distribution, const random::Stream &stream,
            ShardRange shard, std::byte *out) const {
    using Number = decltype(distribution(0U));
    constexpr std::int64_t most = blockElements;
    static_assert(most % elementsPerBlock == 0);
    alignas(64) Number buffer[most];
    const auto loop = loopOf(distribution);
    const auto size = static_cast<std::int64_t>(sizeOf(type_));
    for (std::int64_t at = shard.begin; at < shard.end; at += most) {
      const auto count = std::min(most, shard.end - at);
      loop(stream, distribution, blockOf(at),
           blockOf(count + elementsPerBlock - 1), buffer);
      store(type_, buffer, count, out + at * size);
    }
  }

  Attributes attributes_;
  random::Distribution distribution_;
};

class DropoutPlan final : public BlocksPlan {
public:
  explicit DropoutPlan(const Signature &signature)
      : BlocksPlan(signature, nanosecondsPerElement),
        attributes_(signature.attributes),
        kept_(random::bernoulliOf(attributes_.getFloat("keepProbability"))),
        scale_(static_cast<float>(attributes_.getFloat("scale"))) {}

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const auto stream =
        random::streamOf(attributes_, dataOf<const std::uint32_t>(operands, 1));
    const auto [begin, end] = shards_[task];
    if (type_ == DataType::Float) {
      selectedLoops().random.dropout(stream, kept_, scale_, blockOf(begin),
                                     end - begin,
                                     dataOf<const float>(operands, 0) + begin,
                                     dataOf<float>(operands, 2) + begin);
    } else {
      dropHalves(stream, begin, end, dataOf<const std::uint16_t>(operands, 0),
                 dataOf<std::uint16_t>(operands, 2));
    }
  }

private:
  static constexpr double nanosecondsPerElement = 0.6;

  void dropHalves(const random::Stream &stream, std::int64_t begin,
                  std::int64_t end, const std::uint16_t *x,
                  std::uint16_t *y) const {
    const Loops &loops = selectedLoops();
    alignas(64) float buffer[blockElements];
    for (std::int64_t at = begin; at < end; at += blockElements) {
      const auto count = std::min(blockElements, end - at);
      loops.elementwise.loadHalf(buffer, x + at, 1, count);
      loops.random.dropout(stream, kept_, scale_, blockOf(at), count, buffer,
                           buffer);
      loops.elementwise.storeHalf(y + at, buffer, 1, count);
    }
  }

  Attributes attributes_;
  random::Bernoulli kept_;
  float scale_;
};

template <typename BlockPlan>
std::unique_ptr<Plan> plan(const Signature &signature) {
  if (!isAllRowMajor(signature)) {
    return nullptr;
  }
  return std::make_unique<BlockPlan>(signature);
}

constexpr KernelEntry randomEntries[] = {
    {"blocks", allPlain, plan<RandomPlan>}};
constexpr KernelEntry dropoutEntries[] = {
    {"blocks", allPlain, plan<DropoutPlan>}};

} // namespace

std::span<const KernelEntry> randomKernels() {
  return randomEntries;
}
std::span<const KernelEntry> dropoutKernels() {
  return dropoutEntries;
}

} // namespace kernels
