// "matmul" of floats by a matrix that stays from run to run, such as the
// weights of an inference: it lies as the loops read it (Layout::Columns16), so
// that a call copies nothing.
#include "PackedMatmul.hpp"

#include "PlanHelpers.hpp"
#include "Product.hpp"

#include "loops/Loops.hpp"

#include <algorithm>

namespace kernels {

namespace {

constexpr std::int64_t lanes = 16;

struct PackedShape {
  std::int64_t rows, columns, depth;
  std::int64_t aRow, yRow;

  explicit PackedShape(const Signature &signature)
      : rows(signature.inputs[0].shape[0]),
        columns(signature.inputs[1].shape[1]),
        depth(signature.inputs[1].shape[0]),
        aRow(signature.inputs[0].strides[0]),
        yRow(signature.outputs[0].strides[0]) {}

  double nanoseconds() const {
    return Product({rows, columns, depth, aRow, 1, columns, 1, yRow, 1})
        .nanoseconds();
  }
};

class PackedMatmulPlan final : public Plan {
public:
  explicit PackedMatmulPlan(const Signature &signature)
      : shape_(signature), hasBias_(signature.attributes.getInt("bias") != 0),
        hasRelu_(signature.attributes.getString("activation") == "RELU") {
    // Parts of rows follow each other from layer to layer without meeting, but
    // each reads all of b; a part of fewer rows would do so too often.
    constexpr std::int64_t rowsOfPart = 16;
    constexpr std::int64_t largestShared = 1 << 20; // elements of b
    const double work = shape_.nanoseconds();
    const std::int64_t rowParts = shardCount(shape_.rows / rowsOfPart, work);
    if (rowParts > 1 && shape_.depth * shape_.columns <= largestShared) {
      for (std::int64_t i = 0; i < rowParts; ++i) {
        addTask(signature, shardRange(shape_.rows, rowParts, i),
                {0, shape_.columns}, work);
      }
      return;
    }
    const std::int64_t vectors = (shape_.columns + lanes - 1) / lanes;
    const std::int64_t columnParts = shardCount(vectors, work);
    for (std::int64_t i = 0; i < columnParts; ++i) {
      const auto [begin, end] = shardRange(vectors, columnParts, i);
      addTask(signature, {0, shape_.rows},
              {begin * lanes, std::min(end * lanes, shape_.columns)}, work);
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const auto &[rows, columns] = parts_[task];
    const auto &loops = selectedLoops().product;
    ProductLoops::Matrices m{};
    m.rows = rows.end - rows.begin;
    m.aRow = shape_.aRow;
    m.aDepth = 1;
    m.bRow = lanes;
    m.bVector = lanes * shape_.depth;
    m.yRow = shape_.yRow;
    for (std::int64_t column = columns.begin; column < columns.end;
         column += loops.panelColumns) {
      m.columns = std::min(loops.panelColumns, columns.end - column);
      m.y =
          dataOf<float>(operands, outputIndex()) + rows.begin * m.yRow + column;
      m.columnBias =
          hasBias_ ? dataOf<const float>(operands, 2) + column : nullptr;
      for (std::int64_t k = 0; k < shape_.depth; k += blockDepth) {
        m.depth = std::min(blockDepth, shape_.depth - k);
        m.a = dataOf<const float>(operands, 0) + rows.begin * m.aRow + k;
        m.b = dataOf<const float>(operands, 1) + column * shape_.depth +
              k * lanes;
        setNext(m, k, columns.end - column);
        m.isAdded = k > 0;
        m.hasRelu = hasRelu_ && k + m.depth == shape_.depth;
        loops.multiply(m);
      }
    }
  }

private:
  struct Part {
    ShardRange rows, columns;
  };

  // A panel of so much depth stays in the second-level cache.
  static constexpr std::int64_t blockDepth = 1024;

  // What follows depth [k, k + m.depth) of a panel that begins so many columns
  // before the end: the rest of it, or the next panel.
  void setNext(ProductLoops::Matrices &m, std::int64_t k,
               std::int64_t columnsLeft) const {
    const std::int64_t depthLeft = shape_.depth - k - m.depth;
    if (depthLeft > 0) {
      m.next = m.b + m.depth * lanes;
      m.nextRows = std::min(blockDepth, depthLeft);
      return;
    }
    const std::int64_t vectors = (m.columns + lanes - 1) / lanes;
    m.next = m.b + (vectors * shape_.depth - k) * lanes;
    m.nextRows =
        columnsLeft > m.columns ? std::min(blockDepth, shape_.depth) : 0;
  }

  std::size_t outputIndex() const { return hasBias_ ? 3 : 2; }

  // `work` is that of all parts.
  void addTask(const Signature &signature, ShardRange rows, ShardRange columns,
               double work) {
    const double share = static_cast<double>((rows.end - rows.begin) *
                                             (columns.end - columns.begin)) /
                         static_cast<double>(shape_.rows * shape_.columns);
    const std::int64_t storedColumns =
        (columns.end + lanes - 1) / lanes * lanes;
    Task task;
    task.cost = 200 + share * work;
    task.accesses = {elementAccess(signature, 0, rows.begin * shape_.aRow,
                                   (rows.end - 1) * shape_.aRow + shape_.depth),
                     elementAccess(signature, 1, columns.begin * shape_.depth,
                                   storedColumns * shape_.depth),
                     elementAccess(signature, outputIndex(),
                                   rows.begin * shape_.yRow + columns.begin,
                                   (rows.end - 1) * shape_.yRow + columns.end)};
    if (hasBias_) {
      task.accesses.push_back(
          elementAccess(signature, 2, columns.begin, columns.end));
    }
    tasks_.push_back(std::move(task));
    parts_.push_back({rows, columns});
  }

  PackedShape shape_;
  bool hasBias_, hasRelu_;
  std::vector<Part> parts_;
};

// Rows that are each contiguous, none twice.
bool hasRowsOfItsOwn(const OperandSpec &spec) {
  return spec.strides[1] == 1 && spec.strides[0] >= spec.shape[1];
}

// Small matrices with contiguous rows are read as they are just as fast.
bool isBetterInColumns(const OperandSpec &b) {
  constexpr std::int64_t large = 1 << 19; // elements
  const std::int64_t elements = support::elementCount(b.shape);
  return elements > 0 && (b.strides[1] != 1 || elements > large);
}

std::optional<std::vector<Layout>> layouts(const Signature &signature) {
  // Fewer wait for b to come from memory, however it lies.
  constexpr std::int64_t leastRows = 3;
  const OperandSpec &a = signature.inputs[0];
  const OperandSpec &b = signature.inputs[1];
  const bool hasBias = signature.attributes.getInt("bias") != 0;
  if (!isAllFloat(signature) || a.shape.size() != 2 || !b.isKept ||
      !isBetterInColumns(b) || a.shape[0] < leastRows || !hasRowsOfItsOwn(a) ||
      !hasRowsOfItsOwn(signature.outputs[0]) ||
      (hasBias && signature.inputs[2].strides[0] != 1)) {
    return std::nullopt;
  }
  std::vector<Layout> wanted(signature.operandCount(), Layout::Plain);
  wanted[1] = Layout::Columns16;
  return wanted;
}

std::unique_ptr<Plan> plan(const Signature &signature) {
  return std::make_unique<PackedMatmulPlan>(signature);
}

} // namespace

constexpr KernelEntry packedMatmul{"packed", layouts, plan};

} // namespace kernels
