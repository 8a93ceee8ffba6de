// Elements moved into a range.
#pragma once

#include <popart/op/elementwise.hpp>

namespace popart {

class ClipOp : public ElementWiseUnaryOp {
public:
  ClipOp(const OperatorIdentifier &opid, float min, float max,
         const Op::Settings &settings)
      : ElementWiseUnaryOp(opid, OperatorIdentifier("ai.onnx", "Clip"),
                           settings,
                           Attributes().set("min", min).set("max", max)) {}
  POPART_OP_CLASS(ClipOp, ElementWiseUnaryOp)

  // Infinite where there is no limit; of ONNX since 11 an input may have it.
  float getClipMin() const;
  float getClipMax() const;
  void setClipMin(float value) { attributes.set("min", value); }
  void setClipMax(float value) { attributes.set("max", value); }
};

class ClipInplaceOp : public ClipOp {
public:
  explicit ClipInplaceOp(const ClipOp &op)
      : ClipOp(OperatorIdentifier("ai.graphcore", "ClipInplace"),
               op.getClipMin(), op.getClipMax(), op.getSettings()) {}
  POPART_OP_CLASS(ClipInplaceOp, ClipOp)
};

} // namespace popart
