// The sum of squares, for Lamb's norms.
#pragma once

#include <popart/op/builtin.hpp>

namespace popart {

class LambSquareOp : public Op {
public:
  explicit LambSquareOp(const Op::Settings &settings)
      : Op(OperatorIdentifier("aspen", "SquareSum"),
           OperatorIdentifier("aspen", "SquareSum"), settings) {}
  POPART_OP_CLASS(LambSquareOp, Op)

  static InIndex getInIndex() { return 0; }
  static OutIndex getOutIndex() { return 0; }
};

} // namespace popart
