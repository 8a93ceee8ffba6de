// Operators whose output has the shape of an input, or a given one.
#pragma once

#include <popart/op/builtin.hpp>

namespace popart {

class ShapeOrLikeOp : public Op {
public:
  ShapeOrLikeOp(const OperatorIdentifier &opid, const Op::Settings &settings)
      : Op(opid, settings) {}
  POPART_OP_CLASS(ShapeOrLikeOp, Op)

  static OutIndex getOutIndex() { return 0; }

protected:
  ShapeOrLikeOp(const OperatorIdentifier &opid,
                const OperatorIdentifier &meaning, const Op::Settings &settings,
                Attributes attributes = {})
      : Op(opid, meaning, settings, std::move(attributes)) {}
};

} // namespace popart
