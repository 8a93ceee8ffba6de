// Products of two operands.
#pragma once

#include <popart/op/elementwise.hpp>

namespace popart {

class Ir;

class MulOp : public ElementWiseBinaryOp {
public:
  MulOp(const OperatorIdentifier &opid, const Op::Settings &settings)
      : ElementWiseBinaryOp(opid, OperatorIdentifier("ai.onnx", "Mul"),
                            settings) {}
  POPART_OP_CLASS(MulOp, ElementWiseBinaryOp)

  std::unique_ptr<Op>
  getInplaceVariant(const OperatorIdentifier &opid) const override;
  // The version that models of the IR have.
  static OperatorIdentifier getOpId(const Ir &) {
    return {"ai.onnx", "Mul", 7};
  }

private:
  OperatorIdentifier getLhsVariantOpId() const override;
  OperatorIdentifier getRhsVariantOpId() const override;
};

class MulLhsInplaceOp : public ElementWiseBinaryInplaceLhsOp {
public:
  explicit MulLhsInplaceOp(const Op::Settings &settings)
      : ElementWiseBinaryInplaceLhsOp(
            OperatorIdentifier("ai.graphcore", "MulLhsInplace"),
            OperatorIdentifier("ai.onnx", "Mul"), settings) {}
  POPART_OP_CLASS(MulLhsInplaceOp, ElementWiseBinaryInplaceLhsOp)
};

class MulRhsInplaceOp : public ElementWiseBinaryInplaceRhsOp {
public:
  explicit MulRhsInplaceOp(const Op::Settings &settings)
      : ElementWiseBinaryInplaceRhsOp(
            OperatorIdentifier("ai.graphcore", "MulRhsInplace"),
            OperatorIdentifier("ai.onnx", "Mul"), settings) {}
  POPART_OP_CLASS(MulRhsInplaceOp, ElementWiseBinaryInplaceRhsOp)
};

} // namespace popart
