// Operators of any number of operands, which broadcast.
#pragma once

#include <popart/op/builtin.hpp>

namespace popart {

class VariadicOp : public Op {
public:
  VariadicOp(const OperatorIdentifier &opid, const Op::Settings &settings)
      : Op(opid, settings) {}
  POPART_OP_CLASS(VariadicOp, Op)

  static OutIndex getOutIndex() { return 0; }

protected:
  VariadicOp(const OperatorIdentifier &opid, const OperatorIdentifier &meaning,
             const Op::Settings &settings, Attributes attributes = {})
      : Op(opid, meaning, settings, std::move(attributes)) {}
};

} // namespace popart
