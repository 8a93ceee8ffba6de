// "attention" of floats with any strides: keys are copied once for each group
// of matrices; then a block of rows at a time goes through products, softmax
// and products again, so that scores never leave the caches.
#include "FastKernels.hpp"
#include "PlanHelpers.hpp"

#include "loops/Loops.hpp"

#include <kernels/Expression.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace kernels {

namespace {

constexpr std::int64_t lanes = 16;

std::int64_t ceilDiv(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// An operand: a matrix for each group.
struct Matrices {
  std::int64_t rows, columns;
  std::int64_t row, column;         // distances of neighbours
  std::vector<std::int64_t> groups; // where each begins

  explicit Matrices(const OperandSpec &spec) {
    const std::size_t rank = spec.shape.size();
    rows = spec.shape[rank - 2];
    columns = spec.shape[rank - 1];
    row = spec.strides[rank - 2];
    column = spec.strides[rank - 1];
    groups = {0};
    for (std::size_t d = 0; d + 2 < rank; ++d) {
      std::vector<std::int64_t> more;
      for (const std::int64_t group : groups) {
        for (std::int64_t i = 0; i < spec.shape[d]; ++i) {
          more.push_back(group + i * spec.strides[d]);
        }
      }
      groups = std::move(more);
    }
  }
};

class AttentionPlan final : public Plan {
public:
  explicit AttentionPlan(const Signature &signature)
      : q_(signature.inputs[0]), k_(signature.inputs[1]),
        v_(signature.inputs[2]), y_(signature.outputs[0]),
        scaling_(signature.attributes.getString("scaling")),
        hasMask_(signature.attributes.getInt("mask") != 0),
        mask_(hasMask_ ? signature.inputs.back() : signature.inputs[0]),
        resultIndex_(signature.inputs.size()) {
    setBlocks();
    const auto groups = static_cast<std::int64_t>(q_.groups.size());
    const double work = nanoseconds() * static_cast<double>(groups);
    const std::int64_t blocks = ceilDiv(q_.rows, blockRows_);
    const std::int64_t wanted = shardCount(groups * blocks, work);
    // Each part copies the keys again: half as many as there might be.
    parts_ = std::clamp<std::int64_t>(wanted / (2 * groups), 1, blocks);
    const std::int64_t items = groups * parts_;
    const std::int64_t count = shardCount(items, work);
    for (std::int64_t i = 0; i < count; ++i) {
      shards_.push_back(shardRange(items, count, i));
      addTask(signature, work / static_cast<double>(count));
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    std::int64_t prepared = -1;
    for (auto i = shards_[task].begin; i < shards_[task].end; ++i) {
      Block block{
          static_cast<std::size_t>(i / parts_), {}, operands, memory.workspace};
      if (i / parts_ != prepared) {
        prepared = i / parts_;
        copyKeys(block);
        copyValues(block);
      }
      const ShardRange part = shardRange(q_.rows, parts_, i % parts_);
      for (auto row = part.begin; row < part.end; row += blockRows_) {
        block.rows = {row, std::min(row + blockRows_, part.end)};
        multiplyKeys(block);
        mixValues(block);
      }
    }
  }

private:
  // Rows of one group that are computed together, and what they are made of.
  struct Block {
    std::size_t group;
    ShardRange rows;
    std::byte *const *operands;
    std::byte *workspace;

    float *of(std::size_t operand, const Matrices &m) const {
      return dataOf<float>(operands, operand) + m.groups[group] +
             rows.begin * m.row;
    }
    float *at(std::size_t offset) const {
      return reinterpret_cast<float *>(workspace + offset);
    }
  };

  // Of one group on one core.
  double nanoseconds() const {
    constexpr double cyclesPerPower = 24; // for each vector
    constexpr double cyclesPerCopied = 8;
    constexpr double nanosecondsPerCycle = 0.27;
    const auto vectors = static_cast<double>(ceilDiv(k_.rows, lanes));
    const auto depth = static_cast<double>(k_.columns);
    const auto mixed =
        static_cast<double>(ceilDiv(v_.columns, lanes) * v_.rows);
    const double cycles = static_cast<double>(q_.rows) *
                              (vectors * (depth + cyclesPerPower) + mixed) +
                          cyclesPerCopied * vectors * depth;
    return nanosecondsPerCycle * cycles;
  }

  void setBlocks() {
    constexpr std::int64_t nearElements = 1 << 12; // half of the nearest cache
    constexpr std::int64_t leastRows = 8; // what the loops take at once
    const std::int64_t vectors = ceilDiv(k_.rows, lanes);
    const std::int64_t widest = selectedLoops().product.panelColumns / lanes;
    panel_ = ceilDiv(vectors, ceilDiv(vectors, widest)) * lanes;
    scoreRow_ = (vectors + 1) * lanes; // not a whole number of pages
    blockRows_ = std::clamp(nearElements / k_.rows / leastRows * leastRows,
                            leastRows, mostRows);
    keysAt_ = reserve(ceilDiv(k_.rows, panel_) * panel_ * k_.columns);
    scoresAt_ = reserve(blockRows_ * scoreRow_);
    valuesAt_ = reserve(v_.column == 1 ? 0 : v_.rows * v_.columns);
    resultAt_ = reserve(y_.column == 1 ? 0 : blockRows_ * y_.columns);
    maskAt_ = reserve(k_.rows);
  }

  std::size_t reserve(std::int64_t floats) {
    const std::size_t at = workspaceBytes_;
    workspaceBytes_ += lineAligned(static_cast<std::size_t>(floats) * 4);
    return at;
  }

  // Of the shard that was added last. Items of one group are only its rows;
  // where there are more, so are all rows of theirs.
  void addTask(const Signature &signature, double cost) {
    const ShardRange items = shards_.back();
    const ShardRange groups = {items.begin / parts_,
                               (items.end - 1) / parts_ + 1};
    ShardRange rows = {0, q_.rows};
    if (groups.end - groups.begin == 1) {
      const std::int64_t first = groups.begin * parts_;
      rows = {shardRange(q_.rows, parts_, items.begin - first).begin,
              shardRange(q_.rows, parts_, items.end - 1 - first).end};
    }
    Task task{0, cost, {}};
    const auto add = [&](std::size_t operand, const Matrices &m,
                         const ShardRange &taken) {
      const auto [low, high] = std::minmax_element(
          m.groups.begin() + groups.begin, m.groups.begin() + groups.end);
      task.accesses.push_back(elementAccess(
          signature, operand, *low + taken.begin * m.row,
          *high + (taken.end - 1) * m.row + (m.columns - 1) * m.column + 1));
    };
    add(0, q_, rows);
    add(1, k_, {0, k_.rows});
    add(2, v_, {0, v_.rows});
    if (!scaling_.empty()) {
      task.accesses.push_back(elementAccess(signature, 3, 0, 1));
    }
    if (hasMask_) {
      add(resultIndex_ - 1, mask_, rows);
    }
    add(resultIndex_, y_, rows);
    tasks_.push_back(std::move(task));
  }

  static void multiplyAll(float *x, float factor, std::int64_t count) {
    constexpr auto multiply = static_cast<std::size_t>(ElementwiseOp::MULTIPLY);
    constexpr std::size_t bySecond = 1;
    selectedLoops().elementwise.singles[bySecond][multiply](x, x, &factor,
                                                            nullptr, count);
  }

  // As panels of columns, one after another, and scaled. What the last panel
  // has beyond them is zero: the scale meets all panels at once.
  void copyKeys(const Block &block) const {
    const auto &loops = selectedLoops();
    const float *from = block.of(1, k_);
    float *const panels = block.at(keysAt_);
    float *to = panels;
    for (std::int64_t key = 0; key < k_.rows; key += panel_) {
      const std::int64_t count = std::min(panel_, k_.rows - key);
      if (count < panel_) {
        std::fill_n(to, panel_ * k_.columns, 0.0f);
      }
      if (k_.column == 1) {
        loops.product.transpose(to, panel_, from, k_.row, count, k_.columns);
      }
      for (std::int64_t d = 0; k_.column != 1 && d < k_.columns; ++d) {
        loops.elementwise.loadFloat(to + d * panel_, from + d * k_.column,
                                    k_.row, count);
      }
      from += panel_ * k_.row;
      to += panel_ * k_.columns;
    }
    if (!scaling_.empty()) {
      const float scale = *dataOf<float>(block.operands, 3);
      multiplyAll(panels, scaling_ == "DIVIDE" ? 1 / scale : scale,
                  to - panels);
    }
  }

  // Rows that are not contiguous.
  void copyValues(const Block &block) const {
    for (std::int64_t row = 0; v_.column != 1 && row < v_.rows; ++row) {
      selectedLoops().elementwise.loadFloat(
          block.at(valuesAt_) + row * v_.columns,
          block.of(2, v_) + row * v_.row, v_.column, v_.columns);
    }
  }

  void multiplyKeys(const Block &block) const {
    ProductLoops::Matrices m{};
    m.rows = block.rows.end - block.rows.begin;
    m.depth = k_.columns;
    m.a = block.of(0, q_);
    m.aRow = q_.row;
    m.aDepth = q_.column;
    m.bRow = panel_;
    m.yRow = scoreRow_;
    for (std::int64_t key = 0; key < k_.rows; key += panel_) {
      m.columns = std::min(panel_, k_.rows - key);
      m.b = block.at(keysAt_) + key * k_.columns;
      m.y = block.at(scoresAt_) + key;
      selectedLoops().product.multiply(m);
    }
  }

  const float *maskRow(const Block &block, std::int64_t row) const {
    if (!hasMask_) {
      return nullptr;
    }
    const float *from = block.of(resultIndex_ - 1, mask_) + row * mask_.row;
    if (mask_.column == 1) {
      return from;
    }
    float *const to = block.at(maskAt_);
    selectedLoops().elementwise.loadFloat(to, from, mask_.column, k_.rows);
    return to;
  }

  // The sum of powers divides results, of which there are fewer.
  void mixValues(const Block &block) const {
    const auto &loops = selectedLoops();
    ProductLoops::Matrices m{};
    m.rows = block.rows.end - block.rows.begin;
    float inverses[mostRows];
    for (std::int64_t r = 0; r < m.rows; ++r) {
      float *const scores = block.at(scoresAt_) + r * scoreRow_;
      inverses[r] =
          1 / loops.softmax.powers(scores, maskRow(block, r), k_.rows);
    }
    m.columns = v_.columns;
    m.depth = v_.rows;
    m.a = block.at(scoresAt_);
    m.aRow = scoreRow_;
    m.aDepth = 1;
    const bool isCopied = v_.column != 1;
    m.b = isCopied ? block.at(valuesAt_)
                   : dataOf<float>(block.operands, 2) + v_.groups[block.group];
    m.bRow = isCopied ? v_.columns : v_.row;
    const bool isInPlace = y_.column == 1;
    m.y = isInPlace ? block.of(resultIndex_, y_) : block.at(resultAt_);
    m.yRow = isInPlace ? y_.row : y_.columns;
    loops.product.multiply(m);
    for (std::int64_t r = 0; r < m.rows; ++r) {
      multiplyAll(m.y + r * m.yRow, inverses[r], y_.columns);
      if (!isInPlace) {
        loops.elementwise.storeFloat(block.of(resultIndex_, y_) + r * y_.row,
                                     m.y + r * m.yRow, y_.column, y_.columns);
      }
    }
  }

  static constexpr std::int64_t mostRows = 64; // of a block

  Matrices q_, k_, v_, y_;
  std::string scaling_;
  bool hasMask_;
  Matrices mask_; // q_ where there is none
  std::size_t resultIndex_;
  std::int64_t panel_;    // keys in one
  std::int64_t scoreRow_; // from one row to the next
  std::int64_t blockRows_;
  std::int64_t parts_; // of a group's rows
  std::size_t keysAt_, scoresAt_, valuesAt_, resultAt_, maskAt_; // in bytes
  std::vector<ShardRange> shards_; // of items: parts of groups
};

std::unique_ptr<Plan> plan(const Signature &signature) {
  if (!isAllFloat(signature)) {
    return nullptr;
  }
  for (std::size_t i = 0; i < signature.operandCount(); ++i) {
    const OperandSpec &spec = signature.operand(i);
    const bool isTaken =
        support::elementCount(spec.shape) > 0 &&
        std::all_of(spec.strides.begin(), spec.strides.end(),
                    [](std::int64_t stride) { return stride >= 0; });
    if (!isTaken) {
      return nullptr;
    }
  }
  return std::make_unique<AttentionPlan>(signature);
}

constexpr KernelEntry entries[] = {{"blocks", allPlain, plan}};

} // namespace

std::span<const KernelEntry> attentionKernels() {
  return entries;
}

} // namespace kernels
