// The step of SGD with momentum: w becomes w - slr1 v.
#pragma once

#include <popart/op/varupdate.hpp>

namespace popart {

class SGD1VarUpdateOp : public VarUpdateWithUpdaterOp {
public:
  SGD1VarUpdateOp(OptimizerValue slr1, const Op::Settings &settings)
      : VarUpdateWithUpdaterOp(OperatorIdentifier("aspen", "SGD1VarUpdate"),
                               OperatorIdentifier("aspen", "SGD1VarUpdate"),
                               settings, Attributes().set("slr1", slr1.val())) {
  }
  POPART_OP_CLASS(SGD1VarUpdateOp, VarUpdateWithUpdaterOp)

  static InIndex getSlr1InIndex() { return 2; }

  std::map<InIndex, TensorId> optimizerInputs() const override {
    return inputsAt({getSlr1InIndex()});
  }
  std::set<InIndex> optionalInputs() const override {
    return {getSlr1InIndex()};
  }
};

} // namespace popart
