#include "BlockPlan.hpp"

#include "PlanHelpers.hpp"

#include "loops/Loops.hpp"

#include <support/Error.hpp>

#include <algorithm>
#include <array>
#include <numeric>

namespace kernels {

namespace {

// Cuts on multiples of a cache line, so that shards share none.
constexpr std::int64_t elementsPerLine = 16;

} // namespace

BlockSpace makeBlockSpace(std::span<const OperandSpec *const> operands) {
  const auto &shape = operands.front()->shape;
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) {
      order.push_back(d);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) {
                     return std::abs(operands.front()->strides[a]) >
                            std::abs(operands.front()->strides[b]);
                   });
  BlockSpace space;
  space.strides.resize(operands.size());
  for (std::size_t d : order) {
    const auto merges = [&](std::size_t i) {
      return space.strides[i].back() == operands[i]->strides[d] * shape[d];
    };
    bool isMerged = !space.extents.empty();
    for (std::size_t i = 0; isMerged && i < operands.size(); ++i) {
      isMerged = merges(i);
    }
    if (!isMerged) {
      space.extents.push_back(1);
    }
    space.extents.back() *= shape[d];
    for (std::size_t i = 0; i < operands.size(); ++i) {
      space.strides[i].resize(space.extents.size());
      space.strides[i].back() = operands[i]->strides[d];
    }
  }
  if (space.extents.empty()) { // a scalar
    space.extents.push_back(1);
    for (auto &strides : space.strides) {
      strides.push_back(1);
    }
  }
  return space;
}

BlockPlan::BlockPlan(const Signature &signature,
                     std::vector<std::size_t> inputs,
                     std::vector<std::size_t> outputs,
                     std::vector<std::size_t> scalars, double nanoseconds,
                     std::size_t buffers)
    : scalars_(std::move(scalars)), buffers_(buffers) {
  std::vector<const OperandSpec *> specs;
  std::vector<std::size_t> indices = outputs;
  indices.insert(indices.end(), inputs.begin(), inputs.end());
  for (std::size_t index : indices) {
    specs.push_back(&signature.operand(index));
  }
  support::requireInternal(indices.size() <= maxOperands,
                           "a block plan takes {} operands, given {}",
                           maxOperands, indices.size());
  auto space = makeBlockSpace(specs);
  extents_ = std::move(space.extents);
  const auto rowMajor = support::rowMajorStrides(extents_);
  std::size_t indirect = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const bool isDirect =
        specs[i]->type == DataType::Float && space.strides[i] == rowMajor;
    indirect += isDirect ? 0 : 1;
    (i < outputs.size() ? outputs_ : inputs_)
        .push_back({indices[i], specs[i]->type, std::move(space.strides[i]),
                    isDirect});
  }
  taskScratch_ = (indirect + buffers) * blockElements * sizeof(float);
  addShards(signature, nanoseconds);
  scratchBytes_ = taskScratch_ * shards_.size();
}

// One dimension is cut anywhere, several along the outermost.
void BlockPlan::addShards(const Signature &signature, double nanoseconds) {
  const std::int64_t elements = support::elementCount(extents_);
  if (elements == 0) {
    return;
  }
  const std::int64_t unit =
      extents_.size() == 1 ? elementsPerLine : elements / extents_[0];
  const std::int64_t items = (elements + unit - 1) / unit;
  const double work = nanoseconds * static_cast<double>(elements);
  const std::int64_t count = shardCount(items, work);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto range = shardRange(items, count, i);
    shards_.push_back(
        {range.begin * unit, std::min(range.end * unit, elements)});
    tasks_.push_back(
        {0, work / static_cast<double>(count),
         accesses(signature, shards_.back().begin, shards_.back().end, unit)});
  }
}

std::vector<Access> BlockPlan::accesses(const Signature &signature,
                                        std::int64_t begin, std::int64_t end,
                                        std::int64_t unit) const {
  std::vector<Access> result;
  const bool isFlat = extents_.size() == 1;
  const std::int64_t first = isFlat ? begin : begin / unit;
  const std::int64_t last = (isFlat ? end : end / unit) - 1;
  for (const auto *list : {&inputs_, &outputs_}) {
    for (const auto &operand : *list) {
      // Offsets of the lowest and the highest element, and the lowest of all.
      std::int64_t low = 0, high = 0, origin = 0;
      for (std::size_t d = 0; d < extents_.size(); ++d) {
        const std::int64_t stride = operand.strides[d];
        const std::int64_t from = (d == 0 ? first : 0) * stride;
        const std::int64_t to = (d == 0 ? last : extents_[d] - 1) * stride;
        low += std::min(from, to);
        high += std::max(from, to);
        origin += std::min<std::int64_t>(0, (extents_[d] - 1) * stride);
      }
      result.push_back(elementAccess(signature, operand.index, low - origin,
                                     high + 1 - origin));
    }
  }
  for (std::size_t scalar : scalars_) {
    result.push_back(elementAccess(signature, scalar, 0, 1));
  }
  return result;
}

// Calls visit(offset in elements, count) for pieces along the innermost
// dimension.
template <typename Visit>
void BlockPlan::forRuns(const Operand &operand, std::int64_t begin,
                        std::int64_t count, const Visit &visit) const {
  const std::size_t rank = extents_.size();
  const std::int64_t inner = extents_[rank - 1];
  std::int64_t column = begin % inner;
  std::int64_t row = begin / inner;
  while (count > 0) {
    const std::int64_t length = std::min(inner - column, count);
    std::int64_t offset = column * operand.strides[rank - 1];
    for (std::int64_t rest = row, d = std::int64_t(rank) - 2; d >= 0; --d) {
      const auto dimension = static_cast<std::size_t>(d);
      offset += rest % extents_[dimension] * operand.strides[dimension];
      rest /= extents_[dimension];
    }
    visit(offset, length);
    count -= length;
    column = 0;
    ++row;
  }
}

void BlockPlan::load(const Operand &operand, const std::byte *data,
                     std::int64_t begin, std::int64_t count, float *to) const {
  const auto &loops = selectedLoops().elementwise;
  const std::int64_t stride = operand.strides.back();
  forRuns(operand, begin, count, [&](std::int64_t offset, std::int64_t length) {
    switch (operand.type) {
    case DataType::Half:
      loops.loadHalf(to, reinterpret_cast<const std::uint16_t *>(data) + offset,
                     stride, length);
      break;
    case DataType::Bool:
      loops.loadBool(to, reinterpret_cast<const std::uint8_t *>(data) + offset,
                     stride, length);
      break;
    default:
      loops.loadFloat(to, reinterpret_cast<const float *>(data) + offset,
                      stride, length);
    }
    to += length;
  });
}

void BlockPlan::store(const Operand &operand, std::byte *data,
                      std::int64_t begin, std::int64_t count,
                      const float *from) const {
  const auto &loops = selectedLoops().elementwise;
  const std::int64_t stride = operand.strides.back();
  forRuns(operand, begin, count, [&](std::int64_t offset, std::int64_t length) {
    switch (operand.type) {
    case DataType::Half:
      loops.storeHalf(reinterpret_cast<std::uint16_t *>(data) + offset, from,
                      stride, length);
      break;
    case DataType::Bool:
      loops.storeBool(reinterpret_cast<std::uint8_t *>(data) + offset, from,
                      stride, length);
      break;
    default:
      loops.storeFloat(reinterpret_cast<float *>(data) + offset, from, stride,
                       length);
    }
    from += length;
  });
}

void BlockPlan::run(std::uint32_t task, std::byte *const *operands,
                    std::byte *scratch) const {
  auto *buffers = reinterpret_cast<float *>(scratch + task * taskScratch_);
  float *const own = buffers;
  buffers += buffers_ * blockElements;
  std::array<const float *, maxOperands> inputs{};
  std::array<float *, maxOperands> outputs{};
  const Shard shard = shards_[task];
  // Without buffers there is nothing to keep small.
  const std::int64_t step =
      taskScratch_ == 0 ? shard.end - shard.begin : blockElements;
  for (std::int64_t at = shard.begin; at < shard.end; at += step) {
    const std::int64_t count = std::min(step, shard.end - at);
    float *next = buffers;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      std::byte *data = operands[inputs_[i].index];
      if (inputs_[i].isDirect) {
        inputs[i] = reinterpret_cast<const float *>(data) + at;
        continue;
      }
      load(inputs_[i], data, at, count, next);
      inputs[i] = next;
      next += blockElements;
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      std::byte *data = operands[outputs_[i].index];
      const bool isDirect = outputs_[i].isDirect;
      outputs[i] = isDirect ? reinterpret_cast<float *>(data) + at : next;
      next += isDirect ? 0 : blockElements;
    }
    compute({inputs.data(), outputs.data(), count, operands, own});
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (!outputs_[i].isDirect) {
        store(outputs_[i], operands[outputs_[i].index], at, count, outputs[i]);
      }
    }
  }
}

} // namespace kernels
