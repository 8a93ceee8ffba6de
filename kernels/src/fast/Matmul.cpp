// "matmul" of floats through oneDNN. Matrices may be transposed or have longer
// rows than they use; other strides are packed first. A small batch times
// transposed weights is computed the other way round, as the weights times the
// transposed batch: oneDNN then rearranges the batch and not the weights.
#include "Dnnl.hpp"
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "PlanHelpers.hpp"

#include "loops/Loops.hpp"

#include <algorithm>

namespace kernels {

namespace {

// A group of matrices: where its elements are.
struct Matrices {
  std::int64_t groups, rows, columns;
  std::int64_t groupStride, rowStride, columnStride;

  std::int64_t offset(std::int64_t row, std::int64_t column) const {
    return row * rowStride + column * columnStride;
  }
  // What oneDNN's kernels take as it is. Strides of single rows or columns say
  // nothing.
  bool isTakenAsIs() const {
    const bool hasRows =
        columnStride == 1 && (rows == 1 || rowStride >= columns);
    const bool hasColumns =
        rowStride == 1 && (columns == 1 || columnStride >= rows);
    return (hasRows || hasColumns) && (groups == 1 || groupStride > 0);
  }
  Matrices transposed() const {
    return {groups, columns, rows, groupStride, columnStride, rowStride};
  }
  Matrices packed() const {
    return {groups, rows, columns, rows * columns, columns, 1};
  }
  Matrices part(std::int64_t partGroups, std::int64_t partRows,
                std::int64_t partColumns) const {
    return {partGroups,  partRows,  partColumns,
            groupStride, rowStride, columnStride};
  }
  std::size_t bytes() const {
    return lineAligned(static_cast<std::size_t>(groups * rows * columns) *
                       sizeof(float));
  }
  // Of rank 2 where that is all: oneDNN has better kernels for it.
  dnnl::memory::desc desc() const {
    if (groups == 1) {
      return dnnlStrided({rows, columns}, {rowStride, columnStride});
    }
    return dnnlStrided({groups, rows, columns},
                       {groupStride, rowStride, columnStride});
  }
};

Matrices matricesOf(const OperandSpec &spec) {
  const std::size_t rank = spec.shape.size();
  Matrices m{1, spec.shape[rank - 2],   spec.shape[rank - 1],
             0, spec.strides[rank - 2], spec.strides[rank - 1]};
  if (rank == 3) {
    m.groups = spec.shape[0];
    m.groupStride = spec.strides[0];
  }
  if (m.rows == 1) {
    m.rowStride = std::max<std::int64_t>(m.columns, m.rowStride);
  }
  if (m.columns == 1) {
    m.columnStride = m.rowStride == 1 ? m.rows : 1;
  }
  if (m.groups == 1) {
    m.groupStride = std::max(m.rows * m.rowStride, m.columns * m.columnStride);
  }
  return m;
}

void pack(const Matrices &from, const float *source, float *target) {
  const auto load = selectedLoops().elementwise.loadFloat;
  for (std::int64_t g = 0; g < from.groups; ++g) {
    for (std::int64_t row = 0; row < from.rows; ++row) {
      load(target, source + g * from.groupStride + row * from.rowStride,
           from.columnStride, from.columns);
      target += from.columns;
    }
  }
}

void unpack(const Matrices &to, const float *source, float *target) {
  const auto store = selectedLoops().elementwise.storeFloat;
  for (std::int64_t g = 0; g < to.groups; ++g) {
    for (std::int64_t row = 0; row < to.rows; ++row) {
      store(target + g * to.groupStride + row * to.rowStride, source,
            to.columnStride, to.columns);
      source += to.columns;
    }
  }
}

bool isBetterSwapped(const Matrices &a, const Matrices &b, const Matrices &y) {
  constexpr std::int64_t smallBatch = 64;
  if (y.groups > 1 || y.rows < 2 || y.columns < 2) {
    return false;
  }
  const bool hasTransposedResult = y.rowStride == 1 && y.columnStride != 1;
  const bool hasTransposedWeights = b.rowStride == 1 && b.columnStride > 1 &&
                                    a.columnStride == 1 &&
                                    y.rows <= smallBatch && y.rows <= y.columns;
  return hasTransposedResult || hasTransposedWeights;
}

// A block of the result, whole in k.
struct Part {
  ShardRange groups, rows, columns;
};

std::vector<Part> cut(const Matrices &y, std::int64_t depth) {
  constexpr double nanosecondsPerProduct = 0.02; // 100 GFLOP/s
  const double work = nanosecondsPerProduct *
                      static_cast<double>(y.groups * y.rows * y.columns) *
                      static_cast<double>(depth);
  std::vector<Part> parts;
  const ShardRange allGroups{0, y.groups}, allRows{0, y.rows},
      allColumns{0, y.columns};
  if (y.groups > 1) {
    const auto count = shardCount(y.groups, work);
    for (std::int64_t i = 0; i < count; ++i) {
      parts.push_back({shardRange(y.groups, count, i), allRows, allColumns});
    }
    return parts;
  }
  // Whole vectors of rows where there are enough, since rows of the result are
  // one range of bytes; else of the longer side.
  constexpr std::int64_t unit = 16;
  const bool hasEnoughRows =
      y.columnStride == 1 &&
      shardCount(y.rows / unit, work) == shardCount(y.columns / unit, work);
  const bool cutsRows = y.rows >= y.columns || hasEnoughRows;
  const std::int64_t length = cutsRows ? y.rows : y.columns;
  const std::int64_t items = (length + unit - 1) / unit;
  const auto count = shardCount(items, work);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto range = shardRange(items, count, i);
    const ShardRange elements{range.begin * unit,
                              std::min(range.end * unit, length)};
    parts.push_back({allGroups, cutsRows ? elements : allRows,
                     cutsRows ? allColumns : elements});
  }
  return parts;
}

class MatmulPlan final : public Plan {
public:
  explicit MatmulPlan(const Signature &signature)
      : a_(matricesOf(signature.inputs[0])),
        b_(matricesOf(signature.inputs[1])),
        y_(matricesOf(signature.outputs[0])),
        hasBias_(signature.attributes.getInt("bias") != 0),
        hasRelu_(signature.attributes.getString("activation") == "RELU"),
        biasStride_(hasBias_ ? signature.inputs[2].strides[0] : 0) {
    const SingleThread single;
    if (isBetterSwapped(a_, b_, y_)) {
      isSwapped_ = true;
      std::swap(a_, b_);
      for (Matrices *matrices : {&a_, &b_, &y_}) {
        *matrices = matrices->transposed();
      }
    }
    for (const auto &part : cut(y_, a_.columns)) {
      shards_.push_back(makeShard(part));
      addTask(signature, part);
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           std::byte *scratch) const override {
    const Shard &shard = shards_[task];
    std::byte *memory = scratch + shard.scratch;
    auto *a = dataOf<float>(operands, isSwapped_ ? 1 : 0) + shard.aOffset;
    auto *b = dataOf<float>(operands, isSwapped_ ? 0 : 1) + shard.bOffset;
    auto *const y = dataOf<float>(operands, outputIndex()) + shard.yOffset;
    if (shard.packsA) {
      pack(shard.a, a, reinterpret_cast<float *>(memory));
      a = reinterpret_cast<float *>(memory);
      memory += shard.a.bytes();
    }
    if (shard.packsB) {
      pack(shard.b, b, reinterpret_cast<float *>(memory));
      b = reinterpret_cast<float *>(memory);
      memory += shard.b.bytes();
    }
    float *result = y;
    if (shard.unpacksY) {
      result = reinterpret_cast<float *>(memory);
      memory += shard.y.bytes();
    }
    if (hasBias_ && !isSwapped_) {
      shard.operation.run(
          {a, b, result, memory, biasOf(shard, operands, memory)});
    } else {
      shard.operation.run({a, b, result, memory});
    }
    if (isSwapped_) {
      finish(shard, operands, result);
    }
    if (shard.unpacksY) {
      unpack(shard.y, result, y);
    }
  }

private:
  struct Shard {
    Matrices a, b, y;
    bool packsA, packsB, unpacksY;
    std::int64_t aOffset, bOffset, yOffset, biasOffset; // elements
    std::size_t scratch;                                // byte offset
    std::size_t scratchpad; // bytes that the primitive wants
    DnnlOperation operation;
  };

  std::size_t outputIndex() const { return hasBias_ ? 3 : 2; }

  // A bias whose elements are apart is copied behind the scratchpad.
  float *biasOf(const Shard &shard, std::byte *const *operands,
                std::byte *memory) const {
    auto *bias = dataOf<float>(operands, 2) + shard.biasOffset * biasStride_;
    if (biasStride_ == 1) {
      return bias;
    }
    auto *copy = reinterpret_cast<float *>(memory + shard.scratchpad);
    selectedLoops().elementwise.loadFloat(copy, bias, biasStride_,
                                          shard.y.columns);
    return copy;
  }

  // The bias, which is one number for a row of the swapped result, and the
  // activation.
  void finish(const Shard &shard, std::byte *const *operands,
              float *result) const {
    const std::int64_t stride =
        shard.unpacksY ? shard.y.columns : shard.y.rowStride;
    for (std::int64_t row = 0; row < shard.y.rows; ++row) {
      float *values = result + row * stride;
      const float bias =
          hasBias_ ? dataOf<float>(operands,
                                   2)[(shard.biasOffset + row) * biasStride_]
                   : 0;
      for (std::int64_t i = 0; i < shard.y.columns; ++i) {
        const float sum = values[i] + bias;
        values[i] = hasRelu_ && sum < 0 ? 0 : sum;
      }
    }
  }

  Shard makeShard(const Part &part) {
    const std::int64_t groups = part.groups.end - part.groups.begin;
    const std::int64_t rows = part.rows.end - part.rows.begin;
    const std::int64_t columns = part.columns.end - part.columns.begin;
    const Matrices a = a_.part(groups, rows, a_.columns);
    const Matrices b = b_.part(groups, b_.rows, columns);
    const Matrices y = y_.part(groups, rows, columns);
    const bool packsA = !a.isTakenAsIs();
    const bool packsB = !b.isTakenAsIs();
    const bool unpacksY = !(y.columnStride == 1 && y.isTakenAsIs());
    const auto aDesc = (packsA ? a.packed() : a).desc();
    const auto bDesc = (packsB ? b.packed() : b).desc();
    const auto yDesc = (unpacksY ? y.packed() : y).desc();
    const auto biasDesc =
        groups == 1 ? dnnlStrided({1, columns}, {columns, 1})
                    : dnnlStrided({1, 1, columns}, {columns, columns, 1});

    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (hasRelu_ && !isSwapped_) {
      dnnl::post_ops postOps;
      postOps.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
      attributes.set_post_ops(postOps);
    }
    const bool takesBias = hasBias_ && !isSwapped_;
    const auto description =
        takesBias ? dnnl::matmul::desc(aDesc, bDesc, biasDesc, yDesc)
                  : dnnl::matmul::desc(aDesc, bDesc, yDesc);
    const dnnl::matmul::primitive_desc pd(description, attributes,
                                          dnnlEngine());
    std::vector<DnnlOperation::Argument> arguments{
        {DNNL_ARG_SRC, aDesc},
        {DNNL_ARG_WEIGHTS, bDesc},
        {DNNL_ARG_DST, yDesc},
        {DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc()}};
    if (takesBias) {
      arguments.push_back({DNNL_ARG_BIAS, biasDesc});
    }
    const std::size_t scratchpad = lineAligned(pd.scratchpad_desc().get_size());
    Shard shard{
        a,
        b,
        y,
        packsA,
        packsB,
        unpacksY,
        part.groups.begin * a_.groupStride + a_.offset(part.rows.begin, 0),
        part.groups.begin * b_.groupStride + b_.offset(0, part.columns.begin),
        part.groups.begin * y_.groupStride +
            y_.offset(part.rows.begin, part.columns.begin),
        isSwapped_ ? part.rows.begin : part.columns.begin,
        scratchBytes_,
        scratchpad,
        DnnlOperation(dnnl::matmul(pd), arguments)};
    scratchBytes_ +=
        (packsA ? a.bytes() : 0) + (packsB ? b.bytes() : 0) +
        (unpacksY ? y.bytes() : 0) + scratchpad +
        lineAligned(static_cast<std::size_t>(columns) * sizeof(float));
    return shard;
  }

  // Negative strides would need offsets from the lowest element; plan() leaves
  // them to the reference.
  static void addRange(const Signature &signature, std::size_t operand,
                       const Matrices &m, std::int64_t offset, Task &task) {
    const std::int64_t last =
        (m.groups - 1) * m.groupStride + m.offset(m.rows - 1, m.columns - 1);
    task.accesses.push_back(
        elementAccess(signature, operand, offset, offset + last + 1));
  }

  void addTask(const Signature &signature, const Part &part) {
    const Shard &shard = shards_.back();
    Task task;
    task.cost = 500 + 0.02 * static_cast<double>(shard.y.groups * shard.y.rows *
                                                 shard.y.columns * a_.columns);
    addRange(signature, isSwapped_ ? 1 : 0, shard.a, shard.aOffset, task);
    addRange(signature, isSwapped_ ? 0 : 1, shard.b, shard.bOffset, task);
    addRange(signature, outputIndex(), shard.y, shard.yOffset, task);
    if (hasBias_) {
      const auto range = isSwapped_ ? part.rows : part.columns;
      task.accesses.push_back(elementAccess(signature, 2,
                                            range.begin * biasStride_,
                                            (range.end - 1) * biasStride_ + 1));
    }
    tasks_.push_back(std::move(task));
  }

  Matrices a_, b_, y_;
  bool hasBias_, hasRelu_;
  bool isSwapped_ = false; // a_, b_, y_ are b, a and y transposed
  std::int64_t biasStride_;
  std::vector<Shard> shards_;
};

bool hasOnlyStridesFrom(const OperandSpec &spec, std::int64_t least) {
  return std::all_of(spec.strides.begin(), spec.strides.end(),
                     [&](std::int64_t stride) { return stride >= least; });
}

std::unique_ptr<Plan> plan(const Signature &signature) {
  if (!isAllFloat(signature)) {
    return nullptr;
  }
  for (std::size_t i = 0; i < signature.operandCount(); ++i) {
    const auto &spec = signature.operand(i);
    if (support::elementCount(spec.shape) == 0 ||
        !hasOnlyStridesFrom(spec, 0)) {
      return nullptr;
    }
  }
  return std::make_unique<MatmulPlan>(signature);
}

constexpr KernelEntry entries[] = {{"oneDNN", allPlain, plan},
                                   {"half", allPlain, planAsFloat<plan>}};

} // namespace

std::span<const KernelEntry> matmulKernels() {
  return entries;
}

} // namespace kernels
