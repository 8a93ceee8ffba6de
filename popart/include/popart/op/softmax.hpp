// Exponentials that sum to one along an axis.
#pragma once

#include <popart/op/elementwise.hpp>

namespace popart {

class SoftmaxOp : public ElementWiseUnaryOp {
public:
  SoftmaxOp(const OperatorIdentifier &opid, std::int64_t axis,
            const Op::Settings &settings)
      : ElementWiseUnaryOp(
            opid, OperatorIdentifier("ai.onnx", "Softmax", opid.version),
            settings, Attributes().set("axis", axis)) {}
  POPART_OP_CLASS(SoftmaxOp, ElementWiseUnaryOp)

  // Counted from the front.
  std::int64_t getAxis() const;
  void setAxis(std::int64_t axis) { attributes.set("axis", axis); }
};

class SoftmaxInplaceOp : public SoftmaxOp {
public:
  explicit SoftmaxInplaceOp(const SoftmaxOp &op)
      : SoftmaxOp(OperatorIdentifier("ai.graphcore", "SoftmaxInplace",
                                     op.opid.version),
                  op.getAxis(), op.getSettings()) {}
  POPART_OP_CLASS(SoftmaxInplaceOp, SoftmaxOp)
};

class SoftmaxGradOp : public Op {
public:
  explicit SoftmaxGradOp(const SoftmaxOp &forward);
  POPART_OP_CLASS(SoftmaxGradOp, Op)

  static InIndex getGradProbsInIndex() { return 0; }
  static InIndex getProbsInIndex() { return 1; }
  static OutIndex getOutIndex() { return 0; }

  std::int64_t getAxis() const { return attributes.getInt("axis", 1); }
  const std::vector<GradInOutMapper> &gradInputInfo() const override;
  const std::map<int, int> &gradOutToNonGradIn() const override;
};

} // namespace popart
