// Connectionist temporal classification.
#pragma once

#include <popart/op/loss.hpp>

namespace popart {

class CtcOp : public LossOp {
public:
  CtcOp(const OperatorIdentifier &opid, const ReductionType reduction,
        const unsigned blank, const Op::Settings &settings)
      : LossOp(opid, OperatorIdentifier("ai.graphcore", "Ctcloss"), settings,
               reduction, Attributes().set("blank", Attributes::Int{blank})) {}
  POPART_OP_CLASS(CtcOp, LossOp)

  static InIndex getLogProbsInIndex() { return 0; }
  static InIndex getTargetsInIndex() { return 1; }
  static InIndex getInputLengthsInIndex() { return 2; }
  static InIndex getTargetLengthsInIndex() { return 3; }
  static OutIndex getCtcLossOutIndex() { return 0; }

  unsigned getBlank() const {
    return static_cast<unsigned>(attributes.getInt("blank", 0));
  }
};

} // namespace popart
