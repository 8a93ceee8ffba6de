#include "PlanHelpers.hpp"

#include <algorithm>
#include <cstdlib>

namespace kernels {

namespace {

template <typename Predicate>
bool allOperands(const Signature &signature, const Predicate &predicate) {
  for (std::size_t i = 0; i < signature.operandCount(); ++i) {
    if (!predicate(signature.operand(i))) {
      return false;
    }
  }
  return true;
}

} // namespace

std::optional<std::vector<Layout>> allPlain(const Signature &signature) {
  return std::vector<Layout>(signature.operandCount(), Layout::Plain);
}

bool isAllRowMajor(const Signature &signature) {
  return allOperands(signature, [](const OperandSpec &operand) {
    return operand.isRowMajor();
  });
}

bool isAllFloat(const Signature &signature) {
  return allOperands(signature, [](const OperandSpec &operand) {
    return operand.type == DataType::Float;
  });
}

Access elementAccess(const Signature &signature, std::size_t operand,
                     std::int64_t begin, std::int64_t end) {
  const auto size =
      static_cast<std::int64_t>(sizeOf(signature.operand(operand).type));
  return {static_cast<std::uint32_t>(operand),
          operand >= signature.inputs.size(), begin * size, end * size};
}

Access wholeAccess(const Signature &signature, std::size_t operand) {
  const auto &spec = signature.operand(operand);
  std::int64_t elements = 1;
  if (spec.layout != Layout::Plain) {
    elements = storageElements(spec.layout, spec.shape);
  } else {
    for (std::size_t d = 0; d < spec.shape.size(); ++d) {
      if (spec.shape[d] == 0) {
        return elementAccess(signature, operand, 0, 0);
      }
      elements += (spec.shape[d] - 1) * std::abs(spec.strides[d]);
    }
  }
  return elementAccess(signature, operand, 0, elements);
}

Access rowAccess(const Signature &signature, std::size_t operand,
                 std::int64_t begin, std::int64_t end) {
  const auto &shape = signature.operand(operand).shape;
  const std::int64_t row = support::elementCount(std::span(shape).subspan(1));
  return elementAccess(signature, operand, begin * row, end * row);
}

} // namespace kernels
