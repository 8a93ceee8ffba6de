// The last part of Adam's step: w becomes w - lr u, with Lamb's ratio of norms
// where their squares are given.
#pragma once

#include <popart/op/varupdate.hpp>

namespace popart {

class AdamVarUpdateOp : public VarUpdateWithUpdaterOp {
public:
  AdamVarUpdateOp(OptimizerValue learningRate, OptimizerValue maxWeightNorm,
                  const Op::Settings &settings)
      : VarUpdateWithUpdaterOp(OperatorIdentifier("aspen", "AdamVarUpdate"),
                               OperatorIdentifier("aspen", "AdamVarUpdate"),
                               settings,
                               Attributes()
                                   .set("lr", learningRate.val())
                                   .set("mwn", maxWeightNorm.val())) {}
  POPART_OP_CLASS(AdamVarUpdateOp, VarUpdateWithUpdaterOp)

  static InIndex getLambR1SqInIndex() { return 2; }
  static InIndex getLambR2SqInIndex() { return 3; }
  static InIndex getLrInIndex() { return 4; }
  static InIndex getMwnInIndex() { return 5; }

  std::map<InIndex, TensorId> optimizerInputs() const override {
    return inputsAt({getLrInIndex(), getMwnInIndex()});
  }
  std::set<InIndex> optionalInputs() const override {
    return {getLambR1SqInIndex(), getLambR2SqInIndex(), getLrInIndex(),
            getMwnInIndex()};
  }
};

} // namespace popart
