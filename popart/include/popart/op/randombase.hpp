// Operators that draw random numbers.
#pragma once

#include <popart/op/shapeorlike.hpp>

namespace popart {

class RandomBaseOp : public ShapeOrLikeOp {
public:
  RandomBaseOp(const OperatorIdentifier &opid, const Op::Settings &settings)
      : ShapeOrLikeOp(opid, settings) {}
  POPART_OP_CLASS(RandomBaseOp, ShapeOrLikeOp)

  // Of a built-in operator its rule says whether it draws any.
  bool requiresRandomSeed() const override { return builtInRule() != &rule(); }

protected:
  RandomBaseOp(const OperatorIdentifier &opid,
               const OperatorIdentifier &meaning, const Op::Settings &settings,
               Attributes attributes = {})
      : ShapeOrLikeOp(opid, meaning, settings, std::move(attributes)) {}
};

} // namespace popart
