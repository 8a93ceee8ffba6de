// "topK" of row-major rows: each row becomes words of a key that compares as a
// whole number and the element's position, so that equal keys keep their order;
// the words are then selected and sorted.
#include "FastKernels.hpp"
#include "PlanHelpers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace kernels {

namespace {

constexpr std::uint32_t signBit = 0x80000000u;

// A number that is above those of all smaller keys; the largest for
// not-a-number.
std::uint32_t ordered(DataType type, const std::byte *key) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, key, sizeOf(type));
  if (type == DataType::UnsignedInt) {
    return bits;
  }
  if (type == DataType::Int) {
    return bits ^ signBit;
  }
  const bool isHalf = type == DataType::Half;
  const std::uint32_t sign = isHalf ? 0x8000u : signBit;
  const std::uint32_t infinity = isHalf ? 0x7C00u : 0x7F800000u;
  const std::uint32_t magnitude = bits & ~sign;
  if (magnitude > infinity) {
    return ~0u;
  }
  // -0 equals 0.
  return (bits & sign) != 0 ? signBit - magnitude : signBit + magnitude;
}

class TopKPlan final : public Plan {
public:
  explicit TopKPlan(const Signature &signature)
      : type_(signature.inputs[0].type),
        length_(signature.inputs[0].shape.back()),
        k_(signature.attributes.getInt("k")),
        isLargest_(signature.attributes.getInt("largest") != 0),
        isDescending_(signature.attributes.getString("order") == "DESCENDING"),
        inputs_(signature.inputs.size()),
        hasPermutation_(signature.attributes.getString("payload") ==
                        "permutation") {
    if (inputs_ > 1) {
      valueBytes_ = sizeOf(signature.inputs[1].type);
    }
    const auto elements = support::elementCount(signature.inputs[0].shape);
    if (elements == 0 || k_ == 0) {
      return;
    }
    const auto rows = elements / length_;
    const double perRow =
        static_cast<double>(length_) * 3 +
        static_cast<double>(k_) * 4 * std::log2(static_cast<double>(k_) + 1);
    const auto count = shardCount(rows, perRow * static_cast<double>(rows));
    for (std::int64_t i = 0; i < count; ++i) {
      const auto shard = shardRange(rows, count, i);
      Task task{0, perRow * static_cast<double>(shard.end - shard.begin), {}};
      for (std::size_t operand = 0; operand < signature.operandCount();
           ++operand) {
        const auto row = operand < inputs_ ? length_ : k_;
        task.accesses.push_back(elementAccess(
            signature, operand, shard.begin * row, shard.end * row));
      }
      shards_.push_back(shard);
      tasks_.push_back(std::move(task));
    }
    scratchPerTask_ =
        lineAligned(static_cast<std::size_t>(length_) * sizeof(std::uint64_t));
    scratchBytes_ = scratchPerTask_ * tasks_.size();
  }

  void run(std::uint32_t task, std::byte *const *operands,
           std::byte *scratch) const override {
    auto *words =
        reinterpret_cast<std::uint64_t *>(scratch + task * scratchPerTask_);
    for (auto row = shards_[task].begin; row < shards_[task].end; ++row) {
      select(operands[0] + row * length_ * keyBytes(), words);
      write(row, words, operands);
    }
  }

private:
  std::int64_t keyBytes() const {
    return static_cast<std::int64_t>(sizeOf(type_));
  }

  // The first k words become those of the result, in its order.
  void select(const std::byte *keys, std::uint64_t *words) const {
    const std::uint32_t flip = isLargest_ ? ~0u : 0u;
    for (std::int64_t i = 0; i < length_; ++i) {
      words[i] = std::uint64_t{ordered(type_, keys + i * keyBytes()) ^ flip}
                     << 32 |
                 static_cast<std::uint64_t>(i);
    }
    if (k_ < length_) {
      std::nth_element(words, words + k_ - 1, words + length_);
    }
    if (isLargest_ != isDescending_) {
      for (std::int64_t i = 0; i < k_; ++i) {
        words[i] ^= 0xFFFFFFFF00000000u;
      }
    }
    std::sort(words, words + k_);
  }

  void write(std::int64_t row, const std::uint64_t *words,
             std::byte *const *operands) const {
    const auto positionOf = [&](std::int64_t i) {
      return static_cast<std::int64_t>(words[i] & 0xFFFFFFFFu);
    };
    const auto copy = [&](const std::byte *from, std::byte *to,
                          std::size_t size) {
      const auto step = static_cast<std::int64_t>(size);
      for (std::int64_t i = 0; i < k_; ++i) {
        std::memcpy(to + (row * k_ + i) * step,
                    from + (row * length_ + positionOf(i)) * step, size);
      }
    };
    copy(operands[0], operands[inputs_], sizeOf(type_));
    if (valueBytes_ != 0) {
      copy(operands[1], operands[inputs_ + 1], valueBytes_);
    } else if (hasPermutation_) {
      auto *positions = dataOf<std::uint32_t>(operands, inputs_ + 1) + row * k_;
      for (std::int64_t i = 0; i < k_; ++i) {
        positions[i] = static_cast<std::uint32_t>(positionOf(i));
      }
    }
  }

  DataType type_;
  std::int64_t length_, k_;
  bool isLargest_, isDescending_;
  std::size_t inputs_;
  bool hasPermutation_;
  std::size_t valueBytes_ = 0;
  std::size_t scratchPerTask_ = 0;
  std::vector<ShardRange> shards_;
};

std::unique_ptr<Plan> plan(const Signature &signature) {
  // Positions take half a word.
  if (!isAllRowMajor(signature) ||
      signature.inputs[0].shape.back() > std::int64_t{0xFFFFFFFF}) {
    return nullptr;
  }
  return std::make_unique<TopKPlan>(signature);
}

constexpr KernelEntry entries[] = {{"rows", allPlain, plan}};

} // namespace

std::span<const KernelEntry> topKKernels() {
  return entries;
}

} // namespace kernels
