// The same elements in another shape: ONNX's Reshape, Flatten, Squeeze and
// Unsqueeze.
#pragma once

#include <popart/op/builtin.hpp>

namespace popart {

class ReshapeBaseOp : public Op {
public:
  POPART_OP_CLASS(ReshapeBaseOp, Op)

  static InIndex getInIndex() { return 0; }
  static OutIndex getOutIndex() { return 0; }

  // Before there is an output: what the operation was made with.
  Shape getOutShape() const;
  void setOutShape(const Shape &shape) { attributes.set("shape", shape); }
  bool canBeReplacedByIdentity() const override;

protected:
  ReshapeBaseOp(const OperatorIdentifier &opid, const Shape &shape,
                const Op::Settings &settings, bool handleZero)
      : Op(opid, OperatorIdentifier("ai.graphcore", "Reshape"), settings,
           Attributes()
               .set("shape", shape)
               .set("allowzero", Attributes::Int{!handleZero})) {}
};

class ReshapeOp : public ReshapeBaseOp {
public:
  // `handleZero`: 0 keeps a dimension.
  ReshapeOp(const OperatorIdentifier &opid, const Shape &shape,
            const Op::Settings &settings, bool handleZero = true)
      : ReshapeBaseOp(opid, shape, settings, handleZero) {}
  ReshapeOp(const OperatorIdentifier &opid, const Op::Settings &settings,
            bool handleZero = true)
      : ReshapeBaseOp(opid, {}, settings, handleZero) {}
  POPART_OP_CLASS(ReshapeOp, ReshapeBaseOp)

  std::vector<std::tuple<OperatorIdentifier, float>>
  inplacePriorityDefault() const override;
  std::unique_ptr<Op>
  getInplaceVariant(const OperatorIdentifier &opid) const override;
};

class ReshapeInplaceOp : public ReshapeBaseOp {
public:
  ReshapeInplaceOp(const OperatorIdentifier &opid, const Shape &shape,
                   const Op::Settings &settings, bool handleZero = true)
      : ReshapeBaseOp(opid, shape, settings, handleZero) {}
  explicit ReshapeInplaceOp(const ReshapeOp &op)
      : ReshapeBaseOp(OperatorIdentifier("ai.graphcore", "ReshapeInplace"),
                      op.getOutShape(), op.getSettings(), true) {}
  POPART_OP_CLASS(ReshapeInplaceOp, ReshapeBaseOp)

  view::Regions aliases(InIndex in, OutIndex) const override {
    return uses(in);
  }
};

} // namespace popart
