// "softmax", "logSoftmax" and their gradients on row-major floats.
#include "FastKernels.hpp"
#include "HalfPlan.hpp"
#include "PlanHelpers.hpp"

#include "loops/Loops.hpp"

#include <variant>

namespace kernels {

namespace {

using Function = std::variant<SoftmaxLoops::Forward, SoftmaxLoops::Gradient>;

class RowsPlan final : public Plan {
public:
  RowsPlan(const Signature &signature, Function function)
      : function_(function), length_(signature.outputs[0].shape.back()) {
    const std::int64_t rows =
        support::elementCount(signature.outputs[0].shape) / length_;
    constexpr double nanosecondsPerElement = 0.4;
    const double work =
        nanosecondsPerElement * static_cast<double>(rows * length_);
    const std::int64_t count = shardCount(rows, work);
    for (std::int64_t i = 0; i < count && rows > 0; ++i) {
      const auto range = shardRange(rows, count, i);
      shards_.push_back(range);
      Task task{0, work / static_cast<double>(count), {}};
      for (std::size_t operand = 0; operand < signature.operandCount();
           ++operand) {
        task.accesses.push_back(elementAccess(
            signature, operand, range.begin * length_, range.end * length_));
      }
      tasks_.push_back(std::move(task));
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const std::int64_t at = shards_[task].begin * length_;
    const std::int64_t rows = shards_[task].end - shards_[task].begin;
    const auto *first = dataOf<const float>(operands, 0) + at;
    if (const auto *forward = std::get_if<SoftmaxLoops::Forward>(&function_)) {
      (*forward)(first, dataOf<float>(operands, 1) + at, rows, length_);
    } else {
      std::get<SoftmaxLoops::Gradient>(function_)(
          first, dataOf<const float>(operands, 1) + at,
          dataOf<float>(operands, 2) + at, rows, length_);
    }
  }

private:
  Function function_;
  std::int64_t length_;
  std::vector<ShardRange> shards_;
};

template <auto Member> std::unique_ptr<Plan> plan(const Signature &signature) {
  if (!isAllFloat(signature) || !isAllRowMajor(signature)) {
    return nullptr;
  }
  return std::make_unique<RowsPlan>(signature, selectedLoops().softmax.*Member);
}

constexpr KernelEntry softmaxEntries[] = {
    {"rows", allPlain, plan<&SoftmaxLoops::softmax>},
    {"half", allPlain, planAsFloat<plan<&SoftmaxLoops::softmax>>}};
constexpr KernelEntry softmaxGradEntries[] = {
    {"rows", allPlain, plan<&SoftmaxLoops::softmaxGrad>},
    {"half", allPlain, planAsFloat<plan<&SoftmaxLoops::softmaxGrad>>}};
constexpr KernelEntry logSoftmaxEntries[] = {
    {"rows", allPlain, plan<&SoftmaxLoops::logSoftmax>},
    {"half", allPlain, planAsFloat<plan<&SoftmaxLoops::logSoftmax>>}};
constexpr KernelEntry logSoftmaxGradEntries[] = {
    {"rows", allPlain, plan<&SoftmaxLoops::logSoftmaxGrad>},
    {"half", allPlain, planAsFloat<plan<&SoftmaxLoops::logSoftmaxGrad>>}};

} // namespace

std::span<const KernelEntry> softmaxKernels() {
  return softmaxEntries;
}
std::span<const KernelEntry> softmaxGradKernels() {
  return softmaxGradEntries;
}
std::span<const KernelEntry> logSoftmaxKernels() {
  return logSoftmaxEntries;
}
std::span<const KernelEntry> logSoftmaxGradKernels() {
  return logSoftmaxGradEntries;
}

} // namespace kernels
