// The step of plain SGD: w becomes wdsf0 w - slr0 g.
#pragma once

#include <popart/op/varupdate.hpp>

namespace popart {

// The steps that sessions insert without momentum, and their like made by
// patterns.
class SGD0VarUpdateOpBase : public VarUpdateWithUpdaterOp {
public:
  explicit SGD0VarUpdateOpBase(const IrOperation &operation)
      : VarUpdateWithUpdaterOp(operation) {}

  // Of the learning rate, and of what the weight is multiplied by; in the steps
  // that sessions insert, of the rate and the weight decay themselves.
  static InIndex getSlr0InIndex() { return 2; }
  static InIndex getWdsf0InIndex() { return 3; }

  std::map<InIndex, TensorId> optimizerInputs() const override {
    return inputsAt({getSlr0InIndex(), getWdsf0InIndex()});
  }
  std::set<InIndex> optionalInputs() const override {
    return {getSlr0InIndex(), getWdsf0InIndex()};
  }

protected:
  SGD0VarUpdateOpBase(const OperatorIdentifier &opid, OptimizerValue slr0,
                      OptimizerValue wdsf0, const Op::Settings &settings)
      : VarUpdateWithUpdaterOp(
            opid, OperatorIdentifier("aspen", "SGD0VarUpdate"), settings,
            Attributes().set("slr0", slr0.val()).set("wdsf0", wdsf0.val())) {}
};

class SGD0VarUpdateOp : public SGD0VarUpdateOpBase {
public:
  SGD0VarUpdateOp(OptimizerValue slr0, OptimizerValue wdsf0,
                  const Op::Settings &settings)
      : SGD0VarUpdateOpBase(OperatorIdentifier("aspen", "SGD0VarUpdate"), slr0,
                            wdsf0, settings) {}
  POPART_OP_CLASS(SGD0VarUpdateOp, SGD0VarUpdateOpBase)
};

} // namespace popart
