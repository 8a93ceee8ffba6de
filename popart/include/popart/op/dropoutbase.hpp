// Operators that leave elements out at random.
#pragma once

#include <popart/op/randombase.hpp>

namespace popart {

class DropoutBaseOp : public RandomBaseOp {
public:
  DropoutBaseOp(const OperatorIdentifier &opid, float ratio,
                const Op::Settings &settings);
  POPART_OP_CLASS(DropoutBaseOp, RandomBaseOp)

  static InIndex getInIndex() { return 0; }
  static OutIndex getOutIndex() { return 0; }
  // ONNX's other inputs, the ratio and the mode, come before it.
  InIndex getSeedInIndex() const override { return 3; }

  float getRatio() const { return attributes.getFloat("ratio", 0.5f); }
  void setRatio(float ratio) { attributes.set("ratio", ratio); }
  bool canBeReplacedByIdentity() const override { return getRatio() == 0.0f; }

protected:
  DropoutBaseOp(const OperatorIdentifier &opid,
                const OperatorIdentifier &meaning, float ratio,
                const Op::Settings &settings);
};

} // namespace popart
