// "oneHot" and "iota" of row-major outputs, sharded by rows.
#include "FastKernels.hpp"
#include "PlanHelpers.hpp"

#include <algorithm>

namespace kernels {

namespace {

// Rows of the first output, in shards; inputs are read whole.
class RowShards : public Plan {
protected:
  RowShards(const Signature &signature, double nanosecondsPerElement) {
    const auto &output = signature.outputs[0].shape;
    const double work = nanosecondsPerElement *
                        static_cast<double>(support::elementCount(output));
    const auto count = shardCount(output[0], work);
    for (std::int64_t i = 0; i < count && work > 0; ++i) {
      const auto rows = shardRange(output[0], count, i);
      Task task{0, work / static_cast<double>(count), {}};
      for (std::size_t input = 0; input < signature.inputs.size(); ++input) {
        task.accesses.push_back(wholeAccess(signature, input));
      }
      task.accesses.push_back(
          rowAccess(signature, signature.inputs.size(), rows.begin, rows.end));
      shards_.push_back(rows);
      tasks_.push_back(std::move(task));
    }
  }
  std::vector<ShardRange> shards_;
};

class OneHotPlan final : public RowShards {
public:
  explicit OneHotPlan(const Signature &signature)
      : RowShards(signature, 0.2), size_(sizeOf(signature.inputs[1].type)),
        classes_(signature.outputs[0].shape[1]) {}

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    if (size_ == 2) {
      encode<std::uint16_t>(shards_[task], operands);
    } else {
      encode<std::uint32_t>(shards_[task], operands);
    }
  }

private:
  template <typename Word>
  void encode(ShardRange rows, std::byte *const *operands) const {
    const auto *indices = dataOf<const std::uint32_t>(operands, 0);
    const Word on = *dataOf<const Word>(operands, 1);
    const Word off = *dataOf<const Word>(operands, 2);
    auto *encoded = dataOf<Word>(operands, 3);
    for (auto row = rows.begin; row < rows.end; ++row) {
      Word *to = encoded + row * classes_;
      std::fill_n(to, classes_, off);
      if (indices[row] < classes_) { // negative ones are large
        to[indices[row]] = on;
      }
    }
  }

  std::size_t size_;
  std::int64_t classes_;
};

class IotaPlan final : public RowShards {
public:
  explicit IotaPlan(const Signature &signature)
      : RowShards(signature, 0.1), start_(static_cast<std::uint32_t>(
                                       signature.attributes.getInt("start"))) {}

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    auto *output = dataOf<std::uint32_t>(operands, 0);
    for (auto i = shards_[task].begin; i < shards_[task].end; ++i) {
      output[i] = start_ + static_cast<std::uint32_t>(i);
    }
  }

private:
  std::uint32_t start_;
};

template <typename ThePlan>
std::unique_ptr<Plan> plan(const Signature &signature) {
  if (!isAllRowMajor(signature)) {
    return nullptr;
  }
  return std::make_unique<ThePlan>(signature);
}

constexpr KernelEntry oneHotEntries[] = {{"rows", allPlain, plan<OneHotPlan>}};
constexpr KernelEntry iotaEntries[] = {{"rows", allPlain, plan<IotaPlan>}};

} // namespace

std::span<const KernelEntry> oneHotKernels() {
  return oneHotEntries;
}
std::span<const KernelEntry> iotaKernels() {
  return iotaEntries;
}

} // namespace kernels
