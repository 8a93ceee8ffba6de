// The negative logarithm of the probability of a label.
#pragma once

#include <popart/op/loss.hpp>
#include <popart/optional.hpp>

namespace popart {

class NllOp : public LossOp {
public:
  NllOp(const OperatorIdentifier &opid, const optional<int> ignoreIndex,
        const ReductionType reduction, bool inputIsLogProbability,
        const Op::Settings &settings);
  POPART_OP_CLASS(NllOp, LossOp)

  static InIndex getProbsInIndex() { return 0; }
  static InIndex getLabelInIndex() { return 1; }
  static OutIndex getOutIndex() { return 0; }

  Tensor *probsTensor() { return inTensor(getProbsInIndex()); }
  Tensor *labelTensor() { return inTensor(getLabelInIndex()); }
  bool hasIgnoreIndex() const { return attributes.hasAttribute("ignoreIndex"); }
  optional<int> getOptionalIgnoreIndex() const;
  // Throws popart::error when there is none.
  int getIgnoreIndex() const;
  bool inputIsLogProbability() const {
    return attributes.getInt("inputIsLogProbability", 0) != 0;
  }
};

} // namespace popart
