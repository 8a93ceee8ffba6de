// "roundHalf": rows of floats to halves of any stride, in shards of whole
// blocks of random numbers where the result is row-major.
#include "FastKernels.hpp"
#include "PlanHelpers.hpp"

#include "loops/Loops.hpp"
#include "rounding/RoundingWords.hpp"

#include <algorithm>

namespace kernels {

namespace {

using random::elementsPerBlock;

class RoundHalfPlan final : public Plan {
public:
  explicit RoundHalfPlan(const Signature &signature)
      : attributes_(signature.attributes) {
    constexpr double nanosecondsPerElement = 0.8;
    const OperandSpec &y = signature.outputs[0];
    const auto elements = support::elementCount(y.shape);
    if (!y.isRowMajor()) {
      shape_ = y.shape;
      strides_ = y.strides;
    }
    const auto blocks = (elements + elementsPerBlock - 1) / elementsPerBlock;
    const double work = nanosecondsPerElement * static_cast<double>(elements);
    // Strided results may share cache lines and are written by one task.
    const auto count = y.isRowMajor() ? shardCount(blocks, work) : 1;
    for (std::int64_t i = 0; i < count && blocks > 0; ++i) {
      const auto range = shardRange(blocks, count, i);
      const ShardRange part{range.begin * elementsPerBlock,
                            std::min(range.end * elementsPerBlock, elements)};
      shards_.push_back(part);
      tasks_.push_back(
          {0,
           work / static_cast<double>(count),
           {elementAccess(signature, 0, part.begin, part.end),
            wholeAccess(signature, 1),
            y.isRowMajor() ? elementAccess(signature, 2, part.begin, part.end)
                           : wholeAccess(signature, 2)}});
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const auto *x = dataOf<const float>(operands, 0);
    const auto *words = dataOf<const std::uint32_t>(operands, 1);
    auto *y = dataOf<std::uint16_t>(operands, 2);
    const rounding::Control control = rounding::controlOf(attributes_, words);
    const random::Stream stream = rounding::streamOf(attributes_, words);
    const auto [begin, end] = shards_[task];
    const RandomLoops &loops = selectedLoops().random;
    alignas(64) float buffer[blockElements];
    for (std::int64_t at = begin; at < end; at += blockElements) {
      const auto count = std::min(blockElements, end - at);
      const float *from = x + at;
      if (control.isStochastic) {
        loops.roundStochastically(stream, at / elementsPerBlock, count, from,
                                  buffer);
        from = buffer;
      }
      loops.limit(control, count, from, buffer);
      store(buffer, at, count, y);
    }
  }

private:
  static_assert(blockElements % elementsPerBlock == 0);

  // Elements [at, at + count) of the result, row by row where it is strided.
  void store(const float *from, std::int64_t at, std::int64_t count,
             std::uint16_t *y) const {
    const auto storeHalf = selectedLoops().elementwise.storeHalf;
    if (shape_.empty()) {
      storeHalf(y + at, from, 1, count);
      return;
    }
    const std::int64_t row = shape_.back();
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t inRow = (at + done) % row;
      const std::int64_t length = std::min(row - inRow, count - done);
      std::int64_t offset = inRow * strides_.back();
      std::int64_t rest = (at + done) / row;
      for (std::size_t d = shape_.size() - 1; d-- > 0;) {
        offset += rest % shape_[d] * strides_[d];
        rest /= shape_[d];
      }
      storeHalf(y + offset, from + done, strides_.back(), length);
      done += length;
    }
  }

  Attributes attributes_;
  Shape shape_; // empty where the result is row-major
  Strides strides_;
  std::vector<ShardRange> shards_; // of elements
};

std::unique_ptr<Plan> plan(const Signature &signature) {
  if (!signature.inputs[0].isRowMajor()) {
    return nullptr;
  }
  return std::make_unique<RoundHalfPlan>(signature);
}

constexpr KernelEntry entries[] = {{"blocks", allPlain, plan}};

} // namespace

std::span<const KernelEntry> roundHalfKernels() {
  return entries;
}

} // namespace kernels
