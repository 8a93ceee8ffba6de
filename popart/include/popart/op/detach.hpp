// Where gradients stop.
#pragma once

#include <popart/op/elementwise.hpp>

namespace popart {

class DetachOp : public ElementWiseUnaryOp {
public:
  DetachOp(const OperatorIdentifier &opid, const Op::Settings &settings)
      : ElementWiseUnaryOp(opid, OperatorIdentifier("ai.graphcore", "Detach"),
                           settings) {}
  POPART_OP_CLASS(DetachOp, ElementWiseUnaryOp)

  std::vector<std::tuple<OperatorIdentifier, float>>
  inplacePriorityDefault() const override;
  std::unique_ptr<Op>
  getInplaceVariant(const OperatorIdentifier &opid) const override;
};

class DetachInplaceOp : public DetachOp {
public:
  explicit DetachInplaceOp(const DetachOp &op)
      : DetachInplaceOp(op.getSettings()) {}
  explicit DetachInplaceOp(const Op::Settings &settings)
      : DetachOp(OperatorIdentifier("ai.graphcore", "DetachInplace"),
                 settings) {}
  POPART_OP_CLASS(DetachInplaceOp, DetachOp)

  view::Regions aliases(InIndex in, OutIndex) const override {
    return uses(in);
  }
};

} // namespace popart
