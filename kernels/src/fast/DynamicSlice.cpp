// "dynamicSlice" and "dynamicUpdate" of row-major tensors. Shards own elements
// of the result: a slice is copied run by run, and a tensor is updated by every
// shard for its own elements, in the order of the slices.
#include "FastKernels.hpp"
#include "PlanHelpers.hpp"
#include "SliceRuns.hpp"

#include "loops/Loops.hpp"

#include <kernels/Expression.hpp>
#include <support/Error.hpp>
#include <support/Half.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace kernels {

namespace {

// Elements in whole cache lines for each shard of `elements`, of which there
// are at most `most`.
std::vector<ShardRange>
elementShards(std::int64_t elements, std::int64_t size, double work,
              std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  const auto line = 64 / size;
  const auto lines = (elements + line - 1) / line;
  const auto count = shardCount(std::min(lines, most), work);
  std::vector<ShardRange> shards;
  for (std::int64_t i = 0; i < count && elements > 0; ++i) {
    const auto range = shardRange(lines, count, i);
    shards.push_back(
        {range.begin * line, std::min(range.end * line, elements)});
  }
  return shards;
}

class SlicePlan final : public Plan {
public:
  explicit SlicePlan(const Signature &signature)
      : runs_(signature, 0, 1),
        size_(static_cast<std::int64_t>(sizeOf(signature.inputs[0].type))) {
    if (signature.attributes.getString("missing") == "nan") {
      setNan(signature.inputs[0].type);
    }
    constexpr double nanosecondsPerByte = 0.03;
    constexpr double nanosecondsPerRun = 5;
    const auto elements = support::elementCount(signature.outputs[0].shape);
    const double work =
        nanosecondsPerByte * static_cast<double>(size_ * elements) +
        nanosecondsPerRun * static_cast<double>(runs_.runCount());
    shards_ = elementShards(elements, size_, work);
    for (const auto &shard : shards_) {
      tasks_.push_back({0,
                        work / static_cast<double>(shards_.size()),
                        {wholeAccess(signature, 0), wholeAccess(signature, 1),
                         elementAccess(signature, 2, shard.begin, shard.end)}});
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const auto [begin, end] = shards_[task];
    const std::byte *t = operands[0];
    std::byte *slices = operands[2];
    runs_.forSlices(
        operands[1], begin, end,
        [&](std::int64_t to, std::int64_t from, std::int64_t count) {
          copy(slices + to * size_, t + from * size_, count);
        },
        [&](std::int64_t to, std::int64_t count, std::int64_t offset) {
          fillMissing(slices + to * size_, count, isMasked(offset));
        });
  }

private:
  void setNan(DataType type) {
    isNan_ = true;
    const float value = std::numeric_limits<float>::quiet_NaN();
    const support::Half half(value);
    std::memcpy(nan_.data(),
                type == DataType::Half ? static_cast<const void *>(&half)
                                       : static_cast<const void *>(&value),
                static_cast<std::size_t>(size_));
  }

  void copy(std::byte *to, const std::byte *from, std::int64_t count) const {
    if (count == 1 && size_ == 4) { // picks single words
      std::memcpy(to, from, 4);
    } else {
      std::memcpy(to, from, static_cast<std::size_t>(count * size_));
    }
  }

  void fillMissing(std::byte *to, std::int64_t count, bool isMaskedOut) const {
    if (!isNan_ || isMaskedOut) {
      std::memset(to, 0, static_cast<std::size_t>(count * size_));
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(to + i * size_, nan_.data(), static_cast<std::size_t>(size_));
    }
  }

  SliceRuns runs_;
  std::int64_t size_; // of an element, bytes
  bool isNan_ = false;
  std::array<std::byte, 4> nan_{};
  std::vector<ShardRange> shards_;
};

// to[i] = to[i] op from[i].
struct Combine {
  enum class Op : std::uint8_t { Copy, Add, Max, Mul };
  Op op;
  DataType type;

  void operator()(std::byte *to, const std::byte *from, std::int64_t count,
                  double scale) const {
    if (op == Op::Copy) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeOf(type));
    } else if (type == DataType::Float) {
      floats(reinterpret_cast<float *>(to),
             reinterpret_cast<const float *>(from), count,
             static_cast<float>(scale));
    } else if (type == DataType::Half) {
      halves(reinterpret_cast<std::uint16_t *>(to),
             reinterpret_cast<const std::uint16_t *>(from), count,
             static_cast<float>(scale));
    } else {
      wholes(reinterpret_cast<std::uint32_t *>(to),
             reinterpret_cast<const std::uint32_t *>(from), count,
             static_cast<std::uint32_t>(static_cast<std::int64_t>(scale)));
    }
  }

private:
  void floats(float *to, const float *from, std::int64_t count,
              float scale) const {
    const auto &operators = selectedLoops().elementwise.operators;
    const auto apply = [&](ElementwiseOp which, const float *other,
                           std::int64_t begin, std::int64_t n) {
      operators[static_cast<std::size_t>(which)](to + begin, to + begin, other,
                                                 nullptr, n);
    };
    if (op != Op::Add || scale == 1) {
      apply(op == Op::Add   ? ElementwiseOp::ADD
            : op == Op::Max ? ElementwiseOp::MAXIMUM
                            : ElementwiseOp::MULTIPLY,
            from, 0, count);
      return;
    }
    float scaled[blockElements];
    for (std::int64_t i = 0; i < count; i += blockElements) {
      const auto n = std::min(blockElements, count - i);
      for (std::int64_t e = 0; e < n; ++e) {
        scaled[e] = scale * from[i + e];
      }
      apply(ElementwiseOp::ADD, scaled, i, n);
    }
  }

  void halves(std::uint16_t *to, const std::uint16_t *from, std::int64_t count,
              float scale) const {
    const auto &loops = selectedLoops().elementwise;
    float old[blockElements];
    float update[blockElements];
    for (std::int64_t i = 0; i < count; i += blockElements) {
      const auto n = std::min(blockElements, count - i);
      loops.loadHalf(old, to + i, 1, n);
      loops.loadHalf(update, from + i, 1, n);
      floats(old, update, n, scale);
      loops.storeHalf(to + i, old, 1, n);
    }
  }

  // Both signed and unsigned: products and sums wrap alike.
  void wholes(std::uint32_t *to, const std::uint32_t *from, std::int64_t count,
              std::uint32_t scale) const {
    for (std::int64_t i = 0; i < count; ++i) {
      switch (op) {
      case Op::Add:
        to[i] += scale * from[i];
        break;
      case Op::Mul:
        to[i] *= from[i];
        break;
      default:
        to[i] = type == DataType::Int ? static_cast<std::uint32_t>(std::max(
                                            static_cast<std::int32_t>(to[i]),
                                            static_cast<std::int32_t>(from[i])))
                                      : std::max(to[i], from[i]);
      }
    }
  }
};

Combine::Op parseOp(const std::string &name) {
  return name == "COPY"  ? Combine::Op::Copy
         : name == "ADD" ? Combine::Op::Add
         : name == "MAX" ? Combine::Op::Max
                         : Combine::Op::Mul;
}

class UpdatePlan final : public Plan {
public:
  explicit UpdatePlan(const Signature &signature)
      : runs_(signature, 0, 2), combine_{parseOp(signature.attributes.getString(
                                             "op")),
                                         signature.inputs[0].type},
        size_(static_cast<std::int64_t>(sizeOf(signature.inputs[0].type))),
        output_(signature.inputs.size()) {
    if (signature.attributes.getInt("scaled") != 0) {
      scaleType_ = signature.inputs[3].type;
    }
    constexpr double nanosecondsPerByte = 0.05;
    constexpr double nanosecondsPerRun = 10;
    constexpr double nanosecondsToPass = 2; // a slice of another shard
    const auto elements = support::elementCount(signature.inputs[0].shape);
    const auto updates = support::elementCount(signature.inputs[1].shape);
    const double work =
        nanosecondsPerByte * static_cast<double>(size_ * updates) +
        nanosecondsPerRun * static_cast<double>(runs_.runCount());
    // Every shard looks at all slices: that must stay a small part.
    const double passing =
        nanosecondsToPass * static_cast<double>(runs_.runCount());
    const auto worthwhile =
        static_cast<std::int64_t>(0.25 * work / std::max(passing, 1.0));
    shards_ = elementShards(elements, size_, work, worthwhile);
    for (const auto &shard : shards_) {
      Task task{0, work / static_cast<double>(shards_.size()), {}};
      for (std::size_t i = 0; i < signature.operandCount(); ++i) {
        task.accesses.push_back(
            i == 0 || i == output_
                ? elementAccess(signature, i, shard.begin, shard.end)
                : wholeAccess(signature, i));
      }
      tasks_.push_back(std::move(task));
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const auto [begin, end] = shards_[task];
    std::byte *t = operands[output_];
    if (operands[0] != t) {
      std::memcpy(t + begin * size_, operands[0] + begin * size_,
                  static_cast<std::size_t>((end - begin) * size_));
    }
    const double scale = scaleType_ ? scalar(operands[3]) : 1;
    const std::byte *updates = operands[1];
    runs_.forUpdates(
        operands[2], begin, end,
        [&](std::int64_t to, std::int64_t from, std::int64_t count) {
          combine_(t + to * size_, updates + from * size_, count, scale);
        });
  }

private:
  double scalar(const std::byte *data) const {
    switch (*scaleType_) {
    case DataType::Half: {
      support::Half value;
      std::memcpy(&value, data, sizeof value);
      return static_cast<float>(value);
    }
    case DataType::Float: {
      float value;
      std::memcpy(&value, data, sizeof value);
      return value;
    }
    default: { // wraps alike, signed or not
      std::int32_t value;
      std::memcpy(&value, data, sizeof value);
      return value;
    }
    }
  }

  SliceRuns runs_;
  Combine combine_;
  std::int64_t size_; // of an element, bytes
  std::size_t output_;
  std::optional<DataType> scaleType_;
  std::vector<ShardRange> shards_;
};

template <typename ThePlan>
std::unique_ptr<Plan> plan(const Signature &signature) {
  if (!isAllRowMajor(signature)) {
    return nullptr;
  }
  return std::make_unique<ThePlan>(signature);
}

constexpr KernelEntry sliceEntries[] = {{"runs", allPlain, plan<SlicePlan>}};
constexpr KernelEntry updateEntries[] = {{"runs", allPlain, plan<UpdatePlan>}};

} // namespace

std::span<const KernelEntry> dynamicSliceKernels() {
  return sliceEntries;
}
std::span<const KernelEntry> dynamicUpdateKernels() {
  return updateEntries;
}

} // namespace kernels
