// Dimensions in another order.
#pragma once

#include <popart/op/builtin.hpp>

namespace popart {

class TransposeBaseOp : public Op {
public:
  POPART_OP_CLASS(TransposeBaseOp, Op)

  static InIndex getInIndex() { return 0; }
  static OutIndex getOutIndex() { return 0; }

  Shape getPerm() const;
  void setPerm(const Shape &perm) { attributes.set("perm", perm); }
  // What takes it back.
  Shape generateReversePermutation() const;
  bool canBeReplacedByIdentity() const override;

protected:
  TransposeBaseOp(const OperatorIdentifier &opid, const Shape &perm,
                  const Op::Settings &settings)
      : Op(opid, OperatorIdentifier("ai.onnx", "Transpose"), settings) {
    if (!perm.empty()) { // otherwise in reverse
      setPerm(perm);
    }
  }
};

class TransposeOp : public TransposeBaseOp {
public:
  TransposeOp(const OperatorIdentifier &opid, const Shape &perm,
              const Op::Settings &settings)
      : TransposeBaseOp(opid, perm, settings) {}
  POPART_OP_CLASS(TransposeOp, TransposeBaseOp)

  std::vector<std::tuple<OperatorIdentifier, float>>
  inplacePriorityDefault() const override;
  std::unique_ptr<Op>
  getInplaceVariant(const OperatorIdentifier &opid) const override;
};

class TransposeInplaceOp : public TransposeBaseOp {
public:
  TransposeInplaceOp(const OperatorIdentifier &opid, const Shape &perm,
                     const Op::Settings &settings)
      : TransposeBaseOp(opid, perm, settings) {}
  explicit TransposeInplaceOp(const TransposeOp &op)
      : TransposeBaseOp(OperatorIdentifier("ai.graphcore", "TransposeInplace"),
                        op.attributes.getInts("perm", {}), op.getSettings()) {}
  POPART_OP_CLASS(TransposeInplaceOp, TransposeBaseOp)

  view::Regions aliases(InIndex in, OutIndex) const override {
    return uses(in);
  }
};

} // namespace popart
