#include "compiler/plans/ReferencePlan.hpp"

#include <algorithm>
#include <cstdlib>

namespace poplar::compiler {
namespace {

class ReferencePlan final : public kernels::Plan {
public:
  ReferencePlan(const kernels::Kind &kind, const kernels::Signature &signature)
      : kind_(kind), attributes_(signature.attributes),
        inputs_(signature.inputs.begin(), signature.inputs.end()),
        outputs_(signature.outputs.begin(), signature.outputs.end()) {
    constexpr double nanosecondsPerElement = 50;
    kernels::Task task;
    for (std::size_t i = 0; i < signature.operandCount(); ++i) {
      const kernels::OperandSpec &operand = signature.operand(i);
      task.accesses.push_back({static_cast<std::uint32_t>(i),
                               i >= inputs_.size(), 0, spanBytes(operand)});
      task.cost += nanosecondsPerElement *
                   static_cast<double>(support::elementCount(operand.shape));
    }
    tasks_.push_back(std::move(task));
  }

  void run(std::uint32_t, std::byte *const *operands,
           kernels::Memory) const override {
    kind_.reference({{attributes_, inputs_, outputs_},
                     {operands, inputs_.size() + outputs_.size()}});
  }

private:
  const kernels::Kind &kind_;
  kernels::Attributes attributes_;
  std::vector<kernels::OperandSpec> inputs_;
  std::vector<kernels::OperandSpec> outputs_;
};

} // namespace

std::int64_t spanBytes(const kernels::OperandSpec &operand) {
  const auto size = static_cast<std::int64_t>(support::sizeOf(operand.type));
  if (operand.layout != kernels::Layout::Plain) {
    return size * kernels::storageElements(operand.layout, operand.shape);
  }
  if (support::elementCount(operand.shape) == 0) {
    return 0;
  }
  std::int64_t last = 0;
  for (std::size_t d = 0; d < operand.shape.size(); ++d) {
    last += (operand.shape[d] - 1) * std::abs(operand.strides[d]);
  }
  return size * (last + 1);
}

std::unique_ptr<kernels::Plan>
makeReferencePlan(const kernels::Kind &kind,
                  const kernels::Signature &signature) {
  return std::make_unique<ReferencePlan>(kind, signature);
}

} // namespace poplar::compiler
