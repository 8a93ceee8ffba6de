// The sum of absolute values, times a number.
#pragma once

#include <popart/op/loss.hpp>

namespace popart {

class L1Op : public LossOp {
public:
  L1Op(const OperatorIdentifier &opid, const float lambda,
       const ReductionType reduction, const Op::Settings &settings)
      : LossOp(opid, OperatorIdentifier("ai.graphcore", "L1loss"), settings,
               reduction, Attributes().set("lambda", lambda)) {}
  POPART_OP_CLASS(L1Op, LossOp)

  static InIndex getInIndex() { return 0; }
  static OutIndex getOutIndex() { return 0; }
  float getLambda() const { return attributes.getFloat("lambda", 1.0f); }
};

} // namespace popart
