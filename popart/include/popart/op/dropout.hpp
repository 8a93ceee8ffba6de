// Dropout with a decision for each element, and its gradient.
#pragma once

#include <popart/op/dropoutbase.hpp>

namespace popart {

class DropoutOp : public DropoutBaseOp {
public:
  DropoutOp(const OperatorIdentifier &opid, float ratio,
            const Op::Settings &settings)
      : DropoutBaseOp(opid, OperatorIdentifier("ai.onnx", "Dropout"), ratio,
                      settings) {}
  POPART_OP_CLASS(DropoutOp, DropoutBaseOp)

  static OutIndex getMaskOutIndex() { return 1; }
  bool getOutputMask() const { return hasOutput(getMaskOutIndex()); }
  // Dropouts of one number leave out the same elements.
  int getReferenceId() const {
    return static_cast<int>(attributes.getInt("seedModifier", 0));
  }
  void setReferenceId(int id) {
    attributes.set("seedModifier", static_cast<Attributes::Int>(id));
  }

protected:
  DropoutOp(const OperatorIdentifier &opid, const OperatorIdentifier &meaning,
            float ratio, const Op::Settings &settings)
      : DropoutBaseOp(opid, meaning, ratio, settings) {}
};

// The same decisions for the gradient.
class DropoutGradOp : public DropoutOp {
public:
  explicit DropoutGradOp(const DropoutOp &forward);
  POPART_OP_CLASS(DropoutGradOp, DropoutOp)

  static InIndex getGradInIndex() { return 0; }
  static OutIndex getOutIndex() { return 0; }

  const std::vector<GradInOutMapper> &gradInputInfo() const override;
  const std::map<int, int> &gradOutToNonGradIn() const override;
};

// Decisions of a smaller shape, which is broadcast.
class ShapedDropoutOp : public DropoutBaseOp {
public:
  ShapedDropoutOp(const OperatorIdentifier &opid, float ratio, Shape shape,
                  const Op::Settings &settings)
      : DropoutBaseOp(opid, OperatorIdentifier("ai.graphcore", "ShapedDropout"),
                      ratio, settings) {
    attributes.set("shape", std::move(shape));
  }
  POPART_OP_CLASS(ShapedDropoutOp, DropoutBaseOp)

  Shape getShape() const { return attributes.getInts("shape", {}); }
};

} // namespace popart
