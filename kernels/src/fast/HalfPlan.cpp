#include "HalfPlan.hpp"

#include "PlanHelpers.hpp"

#include "loops/Loops.hpp"

#include <support/Error.hpp>

#include <algorithm>
#include <array>

namespace kernels {

namespace {

constexpr std::size_t maxOperands = 16;

// Whether the elements fill one run of memory, in whatever order of dimensions:
// a transposed matrix, for example.
bool isDense(const OperandSpec &spec) {
  std::vector<std::pair<std::int64_t, std::int64_t>> dims; // stride, extent
  for (std::size_t d = 0; d < spec.shape.size(); ++d) {
    if (spec.shape[d] != 1) {
      dims.emplace_back(spec.strides[d], spec.shape[d]);
    }
  }
  std::sort(dims.begin(), dims.end());
  std::int64_t expected = 1;
  for (const auto &[stride, extent] : dims) {
    if (stride != expected) {
      return false;
    }
    expected *= extent;
  }
  return true;
}

// How copies of operands lie: as the operand where that is dense, or row-major.
enum class Copies { Dense, RowMajor };

bool liesAsOperand(const OperandSpec &spec, Copies copies) {
  return copies == Copies::Dense ? isDense(spec) : spec.isRowMajor();
}

OperandSpec asFloat(OperandSpec spec, Copies copies) {
  if (spec.type == DataType::Half) {
    spec.type = DataType::Float;
    if (!liesAsOperand(spec, copies)) {
      spec.strides = support::rowMajorStrides(spec.shape);
    }
  }
  return spec;
}

// Stage 0 converts inputs, the last stage outputs; the stages of the FLOAT plan
// are between them. Its accesses concern copies, where the operand is one.
class HalfPlan final : public Plan {
public:
  HalfPlan(const Signature &signature, std::unique_ptr<Plan> inner,
           Copies copies)
      : inner_(std::move(inner)), operandCount_(signature.operandCount()) {
    support::requireInternal(operandCount_ <= maxOperands,
                             "a HALF plan takes {} operands, given {}",
                             maxOperands, operandCount_);
    scratchBytes_ = lineAligned(inner_->scratchBytes());
    workspaceBytes_ = inner_->workspaceBytes();
    for (std::size_t i = 0; i < operandCount_; ++i) {
      const auto &spec = signature.operand(i);
      isHalf_[i] = spec.type == DataType::Half;
      if (isHalf_[i]) {
        if (!liesAsOperand(spec, copies)) {
          shapes_[i] = spec.shape;
          strides_[i] = spec.strides;
        }
        copies_[i] = scratchBytes_;
        scratchBytes_ += lineAligned(
            static_cast<std::size_t>(support::elementCount(spec.shape)) *
            sizeof(float));
      }
    }
    const std::size_t inputs = signature.inputs.size();
    addConversions(signature, 0, inputs, 0);
    firstInner_ = conversions_.size();
    std::uint32_t lastStage = 0;
    for (Task task : inner_->tasks()) {
      ++task.stage;
      lastStage = std::max(lastStage, task.stage);
      std::erase_if(task.accesses, [&](const Access &access) {
        return isHalf_[access.operand];
      });
      tasks_.push_back(std::move(task));
    }
    firstOutput_ = tasks_.size();
    addConversions(signature, inputs, operandCount_, lastStage + 1);
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override {
    if (task >= firstInner_ && task < firstOutput_) {
      std::array<std::byte *, maxOperands> addresses;
      for (std::size_t i = 0; i < operandCount_; ++i) {
        addresses[i] = isHalf_[i] ? memory.scratch + copies_[i] : operands[i];
      }
      inner_->run(static_cast<std::uint32_t>(task - firstInner_),
                  addresses.data(), memory);
      return;
    }
    const auto &conversion =
        conversions_[task < firstInner_ ? task : task - inner_->tasks().size()];
    auto *half = dataOf<std::uint16_t>(operands, conversion.operand);
    auto *copy =
        reinterpret_cast<float *>(memory.scratch + copies_[conversion.operand]);
    const auto range = conversion.range;
    const bool isInput = task < firstInner_;
    if (shapes_[conversion.operand].empty()) {
      convert(isInput, half + range.begin, 1, copy + range.begin,
              range.end - range.begin);
    } else {
      convertRows(isInput, conversion, half, copy);
    }
  }

private:
  struct Conversion {
    std::size_t operand;
    ShardRange range; // elements; rows where the copy lies otherwise
  };

  static void convert(bool isInput, std::uint16_t *half, std::int64_t stride,
                      float *copy, std::int64_t count) {
    const auto &loops = selectedLoops().elementwise;
    if (isInput) {
      loops.loadHalf(copy, half, stride, count);
    } else {
      loops.storeHalf(half, copy, stride, count);
    }
  }

  // Rows along the last dimension.
  void convertRows(bool isInput, const Conversion &conversion,
                   std::uint16_t *half, float *copy) const {
    const auto &shape = shapes_[conversion.operand];
    const auto &strides = strides_[conversion.operand];
    for (auto row = conversion.range.begin; row < conversion.range.end; ++row) {
      std::int64_t offset = 0;
      auto rest = row;
      for (std::size_t d = shape.size() - 1; d-- > 0;) {
        offset += rest % shape[d] * strides[d];
        rest /= shape[d];
      }
      convert(isInput, half + offset, strides.back(), copy + row * shape.back(),
              shape.back());
    }
  }

  void addConversions(const Signature &signature, std::size_t begin,
                      std::size_t end, std::uint32_t stage) {
    constexpr std::int64_t line = 32; // halves
    for (std::size_t operand = begin; operand < end; ++operand) {
      const auto elements =
          support::elementCount(signature.operand(operand).shape);
      if (!isHalf_[operand] || elements == 0) {
        continue;
      }
      const bool hasRows = !shapes_[operand].empty();
      const auto whole =
          hasRows ? elements / shapes_[operand].back() : elements;
      const std::int64_t unit = hasRows ? 1 : line;
      const double work = 0.1 * static_cast<double>(elements);
      const std::int64_t items = (whole + unit - 1) / unit;
      // Rows of a strided result may share cache lines and are written by one.
      const std::int64_t count = hasRows && operand >= signature.inputs.size()
                                     ? 1
                                     : shardCount(items, work);
      for (std::int64_t i = 0; i < count; ++i) {
        const auto range = shardRange(items, count, i);
        const ShardRange part{range.begin * unit,
                              std::min(range.end * unit, whole)};
        conversions_.push_back({operand, part});
        tasks_.push_back({stage,
                          work / static_cast<double>(count),
                          {hasRows ? wholeAccess(signature, operand)
                                   : elementAccess(signature, operand,
                                                   part.begin, part.end)}});
      }
    }
  }

  std::unique_ptr<Plan> inner_;
  std::size_t operandCount_;
  std::array<bool, maxOperands> isHalf_{};
  std::array<std::size_t, maxOperands> copies_{}; // byte offsets
  std::array<Shape, maxOperands> shapes_;         // empty where dense
  std::array<Strides, maxOperands> strides_;
  std::vector<Conversion> conversions_; // in the order of tasks
  std::size_t firstInner_ = 0;          // tasks
  std::size_t firstOutput_ = 0;
};

std::unique_ptr<Plan> makeHalfPlan(const Signature &signature,
                                   PlanFunction plan, Copies copies) {
  std::vector<OperandSpec> inputs;
  std::vector<OperandSpec> outputs;
  for (std::size_t i = 0; i < signature.operandCount(); ++i) {
    (i < signature.inputs.size() ? inputs : outputs)
        .push_back(asFloat(signature.operand(i), copies));
  }
  auto inner = plan({signature.attributes, inputs, outputs});
  if (inner == nullptr) {
    return nullptr;
  }
  return std::make_unique<HalfPlan>(signature, std::move(inner), copies);
}

} // namespace

std::unique_ptr<Plan> makeHalfPlan(const Signature &signature,
                                   PlanFunction plan) {
  bool hasHalf = false;
  for (std::size_t i = 0; i < signature.operandCount(); ++i) {
    hasHalf = hasHalf || signature.operand(i).type == DataType::Half;
  }
  if (!hasHalf || signature.operandCount() > maxOperands) {
    return nullptr;
  }
  auto made = makeHalfPlan(signature, plan, Copies::Dense);
  return made != nullptr ? std::move(made)
                         : makeHalfPlan(signature, plan, Copies::RowMajor);
}

} // namespace kernels
