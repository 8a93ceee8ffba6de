// Operators that return their input, and the loss that marks any tensor as one.
#pragma once

#include <popart/op/elementwise.hpp>
#include <popart/op/loss.hpp>

namespace popart {

class IdentityOp : public ElementWiseUnaryOp {
public:
  IdentityOp(const OperatorIdentifier &opid, const Op::Settings &settings)
      : IdentityOp(opid, OperatorIdentifier("ai.onnx", "Identity"), settings) {}
  POPART_OP_CLASS(IdentityOp, ElementWiseUnaryOp)

  std::vector<std::tuple<OperatorIdentifier, float>>
  inplacePriorityDefault() const override;
  std::unique_ptr<Op>
  getInplaceVariant(const OperatorIdentifier &opid) const override;

protected:
  IdentityOp(const OperatorIdentifier &opid, const OperatorIdentifier &meaning,
             const Op::Settings &settings, Attributes attributes = {})
      : ElementWiseUnaryOp(opid, meaning, settings, std::move(attributes)) {}
};

class IdentityInplaceOp : public IdentityOp {
public:
  IdentityInplaceOp(const OperatorIdentifier &opid,
                    const Op::Settings &settings)
      : IdentityOp(opid, settings) {}
  explicit IdentityInplaceOp(const IdentityOp &op)
      : IdentityOp(OperatorIdentifier("ai.graphcore", "IdentityInplace"),
                   op.getSettings()) {}
  POPART_OP_CLASS(IdentityInplaceOp, IdentityOp)

  view::Regions aliases(InIndex in, OutIndex) const override {
    return uses(in);
  }
};

// The gradient of the output as that of the input.
class IdentityGradOp : public IdentityOp {
public:
  explicit IdentityGradOp(const IdentityOp &forward)
      : IdentityGradOp(forward.getSettings()) {}
  explicit IdentityGradOp(const Op::Settings &settings)
      : IdentityOp(OperatorIdentifier("ai.graphcore", "IdentityGrad"),
                   settings) {}
  POPART_OP_CLASS(IdentityGradOp, IdentityOp)

  const std::vector<GradInOutMapper> &gradInputInfo() const override;
  const std::map<int, int> &gradOutToNonGradIn() const override;
};

class IdentityLossOp : public LossOp {
public:
  IdentityLossOp(const OperatorIdentifier &opid, const ReductionType &reduction,
                 const Op::Settings &settings)
      : LossOp(opid, OperatorIdentifier("ai.graphcore", "IdentityLoss"),
               settings, reduction) {}
  POPART_OP_CLASS(IdentityLossOp, LossOp)

  static InIndex getInIndex() { return 0; }
  static OutIndex getOutIndex() { return 0; }
  bool canBeReplacedByIdentity() const override {
    return getReductionType() == ReductionType::NoReduction;
  }
};

} // namespace popart
