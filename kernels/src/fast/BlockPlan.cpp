#include "BlockPlan.hpp"

#include "BlockCode.hpp"
#include "PlanHelpers.hpp"

#include "loops/Loops.hpp"

#include <support/Error.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace kernels {

namespace {

// Cuts on multiples of a cache line, so that shards share none.
constexpr std::int64_t elementsPerLine = 16;

// Rows from which on a block for each costs less than packing several.
constexpr std::int64_t longRow = 128;

// Whether blocks hold the elements of this type bit by bit.
bool isHeldAsItIs(DataType type) {
  return type != DataType::Half && type != DataType::Bool && !narrowOf(type);
}

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
                     std::size_t buffers, std::size_t elementBytes,
                     std::bitset<maxOperands> singles)
    : scalars_(std::move(scalars)), buffers_(buffers),
      blockBytes_(blockElements * elementBytes) {
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
  hasLongRows_ = extents_.size() > 1 && extents_.back() >= longRow;
  std::size_t held = buffers;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const bool isInput = i >= outputs.size();
    const bool isSingle =
        isInput && singles[i - outputs.size()] && hasOneValue(space.strides[i]);
    const Use use = useOf(specs[i]->type, space.strides[i], isInput, isSingle);
    auto &list = isInput ? inputs_ : outputs_;
    list.push_back({indices[i], specs[i]->type,
                    static_cast<std::int64_t>(sizeOf(specs[i]->type)),
                    std::move(space.strides[i]), isSingle, use});
    held += list.back().hasBuffer() ? 1 : 0;
  }
  workspaceBytes_ = held * blockBytes_;
  // Packed rows are whole, so that operands which repeat them stay the same.
  const std::int64_t inner = extents_.back();
  const bool isPacked = extents_.size() > 1 && !hasLongRows_ && inner > 0;
  step_ = held == 0  ? support::elementCount(extents_)
          : isPacked ? blockElements / inner * inner
                     : blockElements;
  addShards(signature, nanoseconds);
}

// Whether the elements of each block are equal.
bool BlockPlan::hasOneValue(const std::vector<std::int64_t> &strides) const {
  const auto ofBlock = hasLongRows_ ? strides.end() - 1 : strides.begin();
  return std::all_of(ofBlock, strides.end(),
                     [](std::int64_t stride) { return stride == 0; });
}

BlockPlan::Use BlockPlan::useOf(DataType type,
                                const std::vector<std::int64_t> &strides,
                                bool isInput, bool isSingle) const {
  const bool isOuterZero =
      std::all_of(strides.begin(), strides.end() - 1,
                  [](std::int64_t stride) { return stride == 0; });
  if (isHeldAsItIs(type) && strides == support::rowMajorStrides(extents_)) {
    return Use::InPlace;
  }
  if (isHeldAsItIs(type) &&
      (isSingle || (hasLongRows_ && strides.back() == 1))) {
    return Use::InRows;
  }
  const bool repeats = isOuterZero && extents_.size() > 1 && !hasLongRows_;
  return isInput && (repeats || (isOuterZero && strides.back() == 0))
             ? Use::Once
             : Use::Each;
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

// The offset of a row's first element.
std::int64_t BlockPlan::rowOffset(const Operand &operand,
                                  std::int64_t row) const {
  std::int64_t offset = 0;
  for (std::size_t d = extents_.size() - 1; d-- > 1;) {
    offset += row % extents_[d] * operand.strides[d];
    row /= extents_[d];
  }
  return extents_.size() > 1 ? offset + row * operand.strides[0] : offset;
}

// Calls visit(offset in elements, count) for pieces along the innermost
// dimension.
template <typename Visit>
void BlockPlan::forRuns(const Operand &operand, std::int64_t begin,
                        std::int64_t count, const Visit &visit) const {
  const std::int64_t inner = extents_.back();
  std::int64_t column = begin % inner;
  std::int64_t row = begin / inner;
  while (count > 0) {
    const std::int64_t length = std::min(inner - column, count);
    visit(rowOffset(operand, row) + column * operand.strides.back(), length);
    count -= length;
    column = 0;
    ++row;
  }
}

void BlockPlan::load(const Operand &operand, const std::byte *data,
                     std::int64_t begin, std::int64_t count,
                     std::byte *to) const {
  const auto &floats = selectedLoops().elementwise;
  const auto &integers = selectedLoops().integers;
  const std::int64_t stride = operand.strides.back();
  const auto narrow = narrowOf(operand.type);
  const auto elementBytes = laneBytes(laneOf(operand.type));
  forRuns(operand, begin, count, [&](std::int64_t offset, std::int64_t length) {
    const std::byte *from = data + offset * operand.size;
    auto *block = reinterpret_cast<float *>(to);
    if (narrow) {
      integers.loadNarrow[static_cast<std::size_t>(*narrow)](to, from, stride,
                                                             length);
    } else if (operand.type == DataType::Half) {
      floats.loadHalf(block, reinterpret_cast<const std::uint16_t *>(from),
                      stride, length);
    } else if (operand.type == DataType::Bool) {
      floats.loadBool(block, reinterpret_cast<const std::uint8_t *>(from),
                      stride, length);
    } else if (elementBytes == 8) {
      integers.loadLong(to, from, stride, length);
    } else { // four bytes as they are
      floats.loadFloat(block, reinterpret_cast<const float *>(from), stride,
                       length);
    }
    to += static_cast<std::size_t>(length) * elementBytes;
  });
}

void BlockPlan::store(const Operand &operand, std::byte *data,
                      std::int64_t begin, std::int64_t count,
                      const std::byte *from) const {
  const auto &floats = selectedLoops().elementwise;
  const auto &integers = selectedLoops().integers;
  const std::int64_t stride = operand.strides.back();
  const auto narrow = narrowOf(operand.type);
  const auto elementBytes = laneBytes(laneOf(operand.type));
  forRuns(operand, begin, count, [&](std::int64_t offset, std::int64_t length) {
    std::byte *to = data + offset * operand.size;
    const auto *block = reinterpret_cast<const float *>(from);
    if (narrow) {
      integers.storeNarrow[static_cast<std::size_t>(*narrow)](to, from, stride,
                                                              length);
    } else if (operand.type == DataType::Half) {
      floats.storeHalf(reinterpret_cast<std::uint16_t *>(to), block, stride,
                       length);
    } else if (operand.type == DataType::Bool) {
      floats.storeBool(reinterpret_cast<std::uint8_t *>(to), block, stride,
                       length);
    } else if (elementBytes == 8) {
      integers.storeLong(to, from, stride, length);
    } else {
      floats.storeFloat(reinterpret_cast<float *>(to), block, stride, length);
    }
    from += static_cast<std::size_t>(length) * elementBytes;
  });
}

void BlockPlan::run(std::uint32_t task, std::byte *const *operands,
                    Memory memory) const {
  std::array<const float *, maxOperands> inputs;
  std::array<float *, maxOperands> outputs;
  const Shard shard = shards_[task];
  // Where blocks stay within rows: shards start with one.
  const std::int64_t inner = extents_.back();
  std::int64_t row = shard.begin / inner;
  std::int64_t column = 0;
  std::int64_t count = 0;
  for (std::int64_t at = shard.begin; at < shard.end; at += count) {
    count = std::min(step_, shard.end - at);
    if (hasLongRows_) {
      count = std::min(count, inner - column);
    }
    std::byte *next = memory.workspace + buffers_ * blockBytes_;
    const auto place = [&](const Operand &operand) {
      std::byte *const data = operands[operand.index];
      switch (operand.use) {
      case Use::InPlace:
        return data + at * operand.size;
      case Use::InRows:
        return data +
               (rowOffset(operand, row) + (operand.isSingle ? 0 : column)) *
                   operand.size;
      default:
        return std::exchange(next, next + blockBytes_);
      }
    };
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      std::byte *block = place(inputs_[i]);
      if (inputs_[i].use == Use::Each ||
          (inputs_[i].use == Use::Once && at == shard.begin)) {
        load(inputs_[i], operands[inputs_[i].index], at,
             inputs_[i].isSingle ? 1 : count, block);
      }
      inputs[i] = reinterpret_cast<const float *>(block);
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      outputs[i] = reinterpret_cast<float *>(place(outputs_[i]));
    }
    compute({inputs.data(), outputs.data(), count, operands,
             reinterpret_cast<float *>(memory.workspace)});
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].use == Use::Each) {
        store(outputs_[i], operands[outputs_[i].index], at, count,
              reinterpret_cast<const std::byte *>(outputs[i]));
      }
    }
    column += count;
    if (column == inner) {
      column = 0;
      ++row;
    }
  }
}

} // namespace kernels
