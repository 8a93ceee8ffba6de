// "topK" of row-major rows: each key becomes a word of a number that compares
// like it and the element's position, so that equal keys keep their order. A
// row is read once: words that may be among the first k are kept, and thinned
// out when there are too many; mostly whole groups are not.
#include "FastKernels.hpp"
#include "PlanHelpers.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace kernels {

namespace {

constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t group = 16; // elements that are looked at together

// A number that is above those of all smaller keys; the largest for
// not-a-number. Without branches: the compiler makes vectors of it.
template <DataType Type> std::int32_t ordered(const std::byte *key) {
  constexpr bool isHalf = Type == DataType::Half;
  std::conditional_t<isHalf, std::uint16_t, std::uint32_t> bits;
  std::memcpy(&bits, key, sizeof bits);
  if constexpr (Type == DataType::UnsignedInt) {
    return static_cast<std::int32_t>(bits ^ 0x80000000u);
  }
  if constexpr (Type == DataType::Int) {
    return static_cast<std::int32_t>(bits);
  }
  constexpr int aside = isHalf ? 16 : 0;
  constexpr std::int32_t infinity = isHalf ? 0x7C00 << aside : 0x7F800000;
  const auto number = static_cast<std::int32_t>(std::uint32_t{bits} << aside);
  const std::int32_t sign = number >> 31; // all bits
  const std::int32_t magnitude = number & 0x7FFFFFFF;
  const std::int32_t isNan = -static_cast<std::int32_t>(magnitude > infinity);
  const std::int32_t value = (magnitude ^ sign) - sign; // -0 equals 0
  return (value & ~isNan) | (largest & isNan);
}

// Of a whole group, or of a row's last elements.
template <DataType Type>
void orderedOf(const std::byte *keys, std::int64_t count, std::int32_t flip,
               std::int32_t (&numbers)[group]) {
  constexpr std::int64_t size = Type == DataType::Half ? 2 : 4;
  if (count == group) {
    for (std::int64_t i = 0; i < group; ++i) {
      numbers[i] = ordered<Type>(keys + i * size) ^ flip;
    }
    return;
  }
  std::fill_n(numbers, group, largest);
  for (std::int64_t i = 0; i < count; ++i) {
    numbers[i] = ordered<Type>(keys + i * size) ^ flip;
  }
}

// The words of the k smallest numbers so far, and some more.
class Kept {
public:
  Kept(std::uint64_t *words, std::int64_t k, std::int64_t capacity)
      : words_(words), k_(k), capacity_(capacity) {}

  // The first `count` of a group, from position `begin` on. A number equal to
  // the limit comes after those that are kept.
  void add(const std::int32_t (&numbers)[group], std::int64_t begin,
           std::int64_t count) {
    std::int32_t smallest = largest;
    for (std::int64_t i = 0; i < group; ++i) {
      smallest = std::min(smallest, numbers[i]);
    }
    if (smallest >= limit_ && limit_ != largest) { // mostly
      return;
    }
    if (count_ + count > capacity_) {
      thin();
    }
    const std::int32_t limit = limit_;
    const bool takesAll = limit == largest;
    std::uint64_t *next = words_ + count_;
    for (std::int64_t i = 0; i < count; ++i) {
      *next = std::uint64_t{static_cast<std::uint32_t>(numbers[i]) ^ signBit}
                  << 32 |
              static_cast<std::uint64_t>(begin + i);
      next += numbers[i] < limit || takesAll ? 1 : 0;
    }
    count_ = next - words_;
  }

  // The k smallest come first, in any order.
  void thin() {
    if (k_ < count_) {
      std::nth_element(words_, words_ + k_ - 1, words_ + count_);
      limit_ = static_cast<std::int32_t>(
          static_cast<std::uint32_t>(words_[k_ - 1] >> 32) ^ signBit);
      count_ = k_;
    }
  }

private:
  static constexpr std::uint32_t signBit = 0x80000000u;

  std::uint64_t *words_; // room for one more than the capacity
  std::int64_t k_, capacity_;
  std::int64_t count_ = 0;
  std::int32_t limit_ = largest; // none above it is among the k smallest
};

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
        static_cast<double>(length_) * 0.8 +
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
    workspaceBytes_ =
        static_cast<std::size_t>(capacity() + 1) * sizeof(std::uint64_t);
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    auto *words = reinterpret_cast<std::uint64_t *>(memory.workspace);
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
  std::int64_t capacity() const {
    return std::min(length_, 2 * k_ + 2 * group);
  }

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
    const std::int32_t flip = isLargest_ ? -1 : 0;
    Kept kept(words, k_, capacity());
    for (std::int64_t begin = 0; begin < length_; begin += group) {
      const auto count = std::min(group, length_ - begin);
      std::int32_t numbers[group];
      orderedOf<Type>(keys + begin * keyBytes(), count, flip, numbers);
      kept.add(numbers, begin, count);
    }
    kept.thin();
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
