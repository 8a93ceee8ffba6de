// Operators of two operands that have variants of their own, as classes.
#include <popart/op/add.hpp>
#include <popart/op/mul.hpp>

#include <ops/Common.hpp>

namespace popart {
namespace {

OperatorIdentifier variantOf(const char *type) {
  return {"ai.graphcore", type};
}

template <typename Lhs, typename Rhs>
std::unique_ptr<Op> makeVariant(const Op &op, const char *lhs, const char *rhs,
                                const OperatorIdentifier &asked) {
  if (asked == variantOf(lhs)) {
    return std::make_unique<Lhs>(op.getSettings());
  }
  requireOp(op, asked == variantOf(rhs),
            "has no in-place variant {}; it has {} and {}", asked.type, lhs,
            rhs);
  return std::make_unique<Rhs>(op.getSettings());
}

} // namespace

OperatorIdentifier AddOp::getLhsVariantOpId() const {
  return variantOf("AddLhsInplace");
}

OperatorIdentifier AddOp::getRhsVariantOpId() const {
  return variantOf("AddRhsInplace");
}

std::unique_ptr<Op>
AddOp::getInplaceVariant(const OperatorIdentifier &asked) const {
  return makeVariant<AddLhsInplaceOp, AddRhsInplaceOp>(*this, "AddLhsInplace",
                                                       "AddRhsInplace", asked);
}

OperatorIdentifier MulOp::getLhsVariantOpId() const {
  return variantOf("MulLhsInplace");
}

OperatorIdentifier MulOp::getRhsVariantOpId() const {
  return variantOf("MulRhsInplace");
}

std::unique_ptr<Op>
MulOp::getInplaceVariant(const OperatorIdentifier &asked) const {
  return makeVariant<MulLhsInplaceOp, MulRhsInplaceOp>(*this, "MulLhsInplace",
                                                       "MulRhsInplace", asked);
}

} // namespace popart
