// "topK" of row-major rows: each key becomes a word of a number that compares
// like it and the element's position, so that equal keys keep their order. A
// row is read once: words that are not below those kept so far are collected,
// and thinned out when there are too many.
#include "FastKernels.hpp"
#include "PlanHelpers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace kernels {

namespace {

constexpr std::uint32_t signBit = 0x80000000u;
constexpr std::int64_t block = 256; // elements that are looked at together

// A number that is above those of all smaller keys; the largest for
// not-a-number.
template <DataType Type> std::uint32_t ordered(const std::byte *key) {
  constexpr bool isHalf = Type == DataType::Half;
  std::uint32_t bits = 0;
  std::memcpy(&bits, key, isHalf ? 2 : 4);
  if constexpr (Type == DataType::UnsignedInt) {
    return bits;
  }
  if constexpr (Type == DataType::Int) {
    return bits ^ signBit;
  }
  constexpr std::uint32_t sign = isHalf ? 0x8000u : signBit;
  constexpr std::uint32_t infinity = isHalf ? 0x7C00u : 0x7F800000u;
  const std::uint32_t magnitude = bits & ~sign;
  // -0 equals 0.
  const std::uint32_t number =
      (bits & sign) != 0 ? signBit - magnitude : signBit + magnitude;
  return magnitude > infinity ? ~0u : number;
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
        static_cast<double>(length_) * 1.5 +
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
    scratchPerTask_ = lineAligned(static_cast<std::size_t>(capacity() + 1) *
                                  sizeof(std::uint64_t));
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

  // How many words may wait before they are thinned out to k.
  std::int64_t capacity() const { return std::min(length_, 2 * k_ + block); }

  // The first k words become those of the result, in its order.
  void select(const std::byte *keys, std::uint64_t *words) const {
    switch (type_) {
    case DataType::Half:
      collect<DataType::Half>(keys, words);
      break;
    case DataType::Float:
      collect<DataType::Float>(keys, words);
      break;
    case DataType::Int:
      collect<DataType::Int>(keys, words);
      break;
    default:
      collect<DataType::UnsignedInt>(keys, words);
    }
    if (isLargest_ != isDescending_) {
      for (std::int64_t i = 0; i < k_; ++i) {
        words[i] ^= 0xFFFFFFFF00000000u;
      }
    }
    std::sort(words, words + k_);
  }

  // The k smallest words of a row come first, in any order.
  template <DataType Type>
  void collect(const std::byte *keys, std::uint64_t *words) const {
    constexpr std::int64_t size = Type == DataType::Half ? 2 : 4;
    const std::uint32_t flip = isLargest_ ? ~0u : 0u;
    std::uint32_t limit = ~0u; // no number above it is among the k smallest
    std::int64_t count = 0;
    for (std::int64_t begin = 0; begin < length_; begin += block) {
      const auto in = std::min(block, length_ - begin);
      if (count + in > capacity()) {
        std::nth_element(words, words + k_ - 1, words + count);
        limit = static_cast<std::uint32_t>(words[k_ - 1] >> 32);
        count = k_;
      }
      std::uint32_t numbers[block];
      for (std::int64_t i = 0; i < in; ++i) {
        numbers[i] = ordered<Type>(keys + (begin + i) * size) ^ flip;
      }
      for (std::int64_t i = 0; i < in; ++i) {
        words[count] = std::uint64_t{numbers[i]} << 32 |
                       static_cast<std::uint64_t>(begin + i);
        count += numbers[i] < limit || limit == ~0u ? 1 : 0;
      }
    }
    if (k_ < count) {
      std::nth_element(words, words + k_ - 1, words + count);
    }
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
