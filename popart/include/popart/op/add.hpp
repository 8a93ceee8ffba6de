// Sums of two operands.
#pragma once

#include <popart/op/elementwise.hpp>

namespace popart {

class AddOp : public ElementWiseBinaryOp {
public:
  AddOp(const OperatorIdentifier &opid, const Op::Settings &settings)
      : ElementWiseBinaryOp(opid, OperatorIdentifier("ai.onnx", "Add"),
                            settings) {}
  POPART_OP_CLASS(AddOp, ElementWiseBinaryOp)

  std::unique_ptr<Op>
  getInplaceVariant(const OperatorIdentifier &opid) const override;

private:
  OperatorIdentifier getLhsVariantOpId() const override;
  OperatorIdentifier getRhsVariantOpId() const override;
};

class AddLhsInplaceOp : public ElementWiseBinaryInplaceLhsOp {
public:
  AddLhsInplaceOp(const OperatorIdentifier &opid, const Op::Settings &settings)
      : ElementWiseBinaryInplaceLhsOp(
            opid, OperatorIdentifier("ai.onnx", "Add"), settings) {}
  explicit AddLhsInplaceOp(const Op::Settings &settings)
      : AddLhsInplaceOp(OperatorIdentifier("ai.graphcore", "AddLhsInplace"),
                        settings) {}
  POPART_OP_CLASS(AddLhsInplaceOp, ElementWiseBinaryInplaceLhsOp)
};

class AddRhsInplaceOp : public ElementWiseBinaryInplaceRhsOp {
public:
  explicit AddRhsInplaceOp(const Op::Settings &settings)
      : ElementWiseBinaryInplaceRhsOp(
            OperatorIdentifier("ai.graphcore", "AddRhsInplace"),
            OperatorIdentifier("ai.onnx", "Add"), settings) {}
  POPART_OP_CLASS(AddRhsInplaceOp, ElementWiseBinaryInplaceRhsOp)
};

} // namespace popart
