// "hasNan" of contiguous elements: shards look at their bits, a last task joins
// what they found.
#include "FastKernels.hpp"
#include "PlanHelpers.hpp"

#include <algorithm>
#include <limits>

namespace kernels {

namespace {

// Whether the magnitude of any element, as bits, is `least` or more.
template <typename Word>
bool anyReaches(const Word *x, std::int64_t count, Word least) {
  constexpr std::int64_t block = 4096; // looked at before giving up
  constexpr auto magnitude =
      static_cast<Word>(std::numeric_limits<Word>::max() >> 1);
  for (std::int64_t begin = 0; begin < count; begin += block) {
    const auto end = std::min(begin + block, count);
    Word most = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      most = std::max(most, static_cast<Word>(x[i] & magnitude));
    }
    if (most >= least) {
      return true;
    }
  }
  return false;
}

class HasNanPlan final : public Plan {
public:
  explicit HasNanPlan(const Signature &signature)
      : isHalf_(signature.inputs[0].type == DataType::Half),
        orInf_(signature.attributes.getInt("orInf") != 0) {
    const auto elements = support::elementCount(signature.inputs[0].shape);
    const double work = 0.1 * static_cast<double>(elements);
    const auto count = elements == 0 ? 0 : shardCount(elements, work);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto shard = shardRange(elements, count, i);
      shards_.push_back(shard);
      tasks_.push_back({0,
                        work / static_cast<double>(count),
                        {elementAccess(signature, 0, shard.begin, shard.end)}});
    }
    tasks_.push_back({1, 10, {elementAccess(signature, 1, 0, 1)}});
    scratchBytes_ = shards_.size(); // a flag of each
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    if (task == shards_.size()) {
      *operands[1] =
          std::byte{std::find(memory.scratch, memory.scratch + shards_.size(),
                              std::byte{1}) != memory.scratch + shards_.size()};
      return;
    }
    const auto [begin, end] = shards_[task];
    // NaNs lie above the infinities.
    const bool isFound =
        isHalf_ ? anyReaches<std::uint16_t>(
                      dataOf<const std::uint16_t>(operands, 0) + begin,
                      end - begin, orInf_ ? 0x7C00 : 0x7C01)
                : anyReaches<std::uint32_t>(
                      dataOf<const std::uint32_t>(operands, 0) + begin,
                      end - begin, orInf_ ? 0x7F800000 : 0x7F800001);
    memory.scratch[task] = std::byte{isFound};
  }

private:
  bool isHalf_;
  bool orInf_;
  std::vector<ShardRange> shards_;
};

std::unique_ptr<Plan> plan(const Signature &signature) {
  if (!isAllRowMajor(signature)) {
    return nullptr;
  }
  return std::make_unique<HasNanPlan>(signature);
}

constexpr KernelEntry entries[] = {{"bits", allPlain, plan}};

} // namespace

std::span<const KernelEntry> hasNanKernels() {
  return entries;
}

} // namespace kernels
