#include "HalfPlan.hpp"

#include "PlanHelpers.hpp"

#include "loops/Loops.hpp"

#include <support/Error.hpp>

#include <algorithm>
#include <array>

namespace kernels {

namespace {

constexpr std::size_t maxOperands = 16;

OperandSpec asFloat(OperandSpec spec) {
  if (spec.type == DataType::Half) {
    spec.type = DataType::Float;
  }
  return spec;
}

// Stage 0 converts inputs, the last stage outputs; the stages of the FLOAT plan
// are between them. Its accesses concern copies, where the operand is one.
class HalfPlan final : public Plan {
public:
  HalfPlan(const Signature &signature, std::unique_ptr<Plan> inner)
      : inner_(std::move(inner)), operandCount_(signature.operandCount()) {
    support::requireInternal(operandCount_ <= maxOperands,
                             "a HALF plan takes {} operands, given {}",
                             maxOperands, operandCount_);
    scratchBytes_ = lineAligned(inner_->scratchBytes());
    for (std::size_t i = 0; i < operandCount_; ++i) {
      const auto &spec = signature.operand(i);
      isHalf_[i] = spec.type == DataType::Half;
      if (isHalf_[i]) {
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
           std::byte *scratch) const override {
    if (task >= firstInner_ && task < firstOutput_) {
      std::array<std::byte *, maxOperands> addresses;
      for (std::size_t i = 0; i < operandCount_; ++i) {
        addresses[i] = isHalf_[i] ? scratch + copies_[i] : operands[i];
      }
      inner_->run(static_cast<std::uint32_t>(task - firstInner_),
                  addresses.data(), scratch);
      return;
    }
    const bool isInput = task < firstInner_;
    const auto &[operand, range] =
        conversions_[isInput ? task : task - inner_->tasks().size()];
    auto *half = dataOf<std::uint16_t>(operands, operand) + range.begin;
    auto *copy =
        reinterpret_cast<float *>(scratch + copies_[operand]) + range.begin;
    const auto &loops = selectedLoops().elementwise;
    if (isInput) {
      loops.loadHalf(copy, half, 1, range.end - range.begin);
    } else {
      loops.storeHalf(half, copy, 1, range.end - range.begin);
    }
  }

private:
  struct Conversion {
    std::size_t operand;
    ShardRange range; // elements
  };

  void addConversions(const Signature &signature, std::size_t begin,
                      std::size_t end, std::uint32_t stage) {
    constexpr std::int64_t line = 32; // halves
    for (std::size_t operand = begin; operand < end; ++operand) {
      const auto elements =
          support::elementCount(signature.operand(operand).shape);
      if (!isHalf_[operand] || elements == 0) {
        continue;
      }
      const double work = 0.1 * static_cast<double>(elements);
      const std::int64_t items = (elements + line - 1) / line;
      const std::int64_t count = shardCount(items, work);
      for (std::int64_t i = 0; i < count; ++i) {
        const auto range = shardRange(items, count, i);
        const ShardRange part{range.begin * line,
                              std::min(range.end * line, elements)};
        conversions_.push_back({operand, part});
        tasks_.push_back(
            {stage,
             work / static_cast<double>(count),
             {elementAccess(signature, operand, part.begin, part.end)}});
      }
    }
  }

  std::unique_ptr<Plan> inner_;
  std::size_t operandCount_;
  std::array<bool, maxOperands> isHalf_{};
  std::array<std::size_t, maxOperands> copies_{}; // byte offsets
  std::vector<Conversion> conversions_;           // in the order of tasks
  std::size_t firstInner_ = 0;                    // tasks
  std::size_t firstOutput_ = 0;
};

} // namespace

std::unique_ptr<Plan> makeHalfPlan(const Signature &signature,
                                   PlanFunction plan) {
  std::vector<OperandSpec> inputs;
  std::vector<OperandSpec> outputs;
  bool hasHalf = false;
  for (std::size_t i = 0; i < signature.operandCount(); ++i) {
    const auto &spec = signature.operand(i);
    if (spec.type == DataType::Half) {
      hasHalf = true;
      if (!spec.isRowMajor()) {
        return nullptr;
      }
    }
    (i < signature.inputs.size() ? inputs : outputs).push_back(asFloat(spec));
  }
  if (!hasHalf || signature.operandCount() > maxOperands) {
    return nullptr;
  }
  auto inner = plan({signature.attributes, inputs, outputs});
  if (inner == nullptr) {
    return nullptr;
  }
  return std::make_unique<HalfPlan>(signature, std::move(inner));
}

} // namespace kernels
