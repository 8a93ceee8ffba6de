// Losses.
#pragma once

#include <popart/op/builtin.hpp>
#include <popart/reductiontype.hpp>

#include <string>

namespace popart {

// Of the user's, too: a class that is derived from it with an identifier and a
// lowering of its own.
class LossOp : public Op {
public:
  LossOp(const OperatorIdentifier &opid, const Op::Settings &settings,
         const ReductionType reduction);
  POPART_OP_CLASS(LossOp, Op)

  bool isLossOp() const override { return true; }
  ReductionType getReductionType() const;
  ReductionType getShardReductionType(OutIndex) const override {
    return getReductionType();
  }

  // "Sum", "Mean" and "NoReduction"; throws popart::error for others.
  static std::string reductionTypeToString(ReductionType reduction);
  static ReductionType reductionTypeFromString(std::string name);

protected:
  LossOp(const OperatorIdentifier &opid, const OperatorIdentifier &meaning,
         const Op::Settings &settings, ReductionType reduction,
         Attributes attributes = {});
};

} // namespace popart
