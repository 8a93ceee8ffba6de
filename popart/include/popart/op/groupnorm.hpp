// Group normalisation and its gradient.
#pragma once

#include <popart/op/builtin.hpp>

namespace popart {

class GroupNormOp : public Op {
public:
  GroupNormOp(const OperatorIdentifier &opid, std::int64_t numGroups,
              float epsilon, const Op::Settings &settings)
      : Op(opid, OperatorIdentifier("ai.graphcore", "GroupNormalization"),
           settings,
           Attributes().set("num_groups", numGroups).set("epsilon", epsilon)) {}
  POPART_OP_CLASS(GroupNormOp, Op)

  static InIndex getXInIndex() { return 0; }
  static InIndex getScaleInIndex() { return 1; }
  static InIndex getBInIndex() { return 2; }
  static OutIndex getYOutIndex() { return 0; }
  static OutIndex getMeanOutIndex() { return 1; }
  static OutIndex getInvStdDevOutIndex() { return 2; }

  bool isNorm() const override { return true; }
  float getEpsilon() const { return attributes.getFloat("epsilon", 1e-5f); }
  std::int64_t getNumGroups() const {
    return attributes.getInt("num_groups", 1);
  }
};

class GroupNormGradOp : public Op {
public:
  POPART_OP_CLASS(GroupNormGradOp, Op)

  static InIndex getYGradInIndex() { return 0; }
  static InIndex getXInIndex() { return 1; }
  static InIndex getScaleInIndex() { return 2; }
  static InIndex getMeanInIndex() { return 3; }
  static InIndex getInvStdDevInIndex() { return 4; }
  static OutIndex getXGradOutIndex() { return 0; }
  static OutIndex getScaleOutIndex() { return 1; }
  static OutIndex getBOutIndex() { return 2; }

  bool isNorm() const override { return true; }
};

} // namespace popart
