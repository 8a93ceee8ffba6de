// "fill" of a contiguous array of any type.
#include "FastKernels.hpp"
#include "PlanHelpers.hpp"

#include "elementwise/Interpreter.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace kernels {

namespace {

class FillPlan final : public Plan {
public:
  explicit FillPlan(const Signature &signature)
      : size_(sizeOf(signature.outputs[0].type)) {
    const auto &output = signature.outputs[0];
    const auto constant = Expression::cast(
        output.type,
        Expression::constant(signature.attributes.getFloat("value")));
    elementwise::Interpreter interpreter(constant, {});
    for (std::size_t at = 0; at < pattern_.size(); at += size_) {
      interpreter.evaluate({}, pattern_.data() + at);
    }
    const auto bytes =
        support::elementCount(output.shape) * static_cast<std::int64_t>(size_);
    constexpr double nanosecondsPerByte = 0.03;
    const auto lines = (bytes + 63) / 64;
    const auto count =
        shardCount(lines, nanosecondsPerByte * static_cast<double>(bytes));
    for (std::int64_t i = 0; i < count && bytes > 0; ++i) {
      const auto range = shardRange(lines, count, i);
      const auto end = std::min(range.end * 64, bytes);
      tasks_.push_back(
          {0,
           nanosecondsPerByte * static_cast<double>(end - range.begin * 64),
           {{0, true, range.begin * 64, end}}});
    }
  }

  void run(std::uint32_t task, std::byte *const *operands,
           Memory) const override {
    const Access &range = tasks_[task].accesses[0];
    for (std::int64_t at = range.begin; at < range.end;) {
      const auto count = std::min<std::int64_t>(64, range.end - at);
      std::memcpy(operands[0] + at, pattern_.data(),
                  static_cast<std::size_t>(count));
      at += count;
    }
  }

private:
  std::size_t size_;
  std::array<std::byte, 64> pattern_;
};

std::unique_ptr<Plan> plan(const Signature &signature) {
  if (!isAllRowMajor(signature)) {
    return nullptr;
  }
  return std::make_unique<FillPlan>(signature);
}

constexpr KernelEntry entries[] = {{"contiguous", allPlain, plan}};

} // namespace

std::span<const KernelEntry> fillKernels() {
  return entries;
}

} // namespace kernels
