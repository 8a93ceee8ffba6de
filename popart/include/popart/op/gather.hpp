// Entries of a tensor by their indices, and the gradient, which adds them up.
#pragma once

#include <popart/op/builtin.hpp>
#include <popart/optional.hpp>

namespace popart {

class GatherOp : public Op {
public:
  GatherOp(const OperatorIdentifier &opid, std::int64_t axis,
           std::int64_t groupSize, const Op::Settings &settings,
           const optional<float> &availableMemoryProportion = optional<float>(),
           bool zeroOutOfRangeIndices = false);
  // As before there were groups.
  GatherOp(const OperatorIdentifier &opid, std::int64_t axis,
           const Op::Settings &settings,
           const optional<float> &availableMemoryProportion = optional<float>(),
           bool zeroOutOfRangeIndices = false)
      : GatherOp(opid, axis, 1, settings, availableMemoryProportion,
                 zeroOutOfRangeIndices) {}
  POPART_OP_CLASS(GatherOp, Op)

  static InIndex dataInIndex() { return 0; }
  static InIndex indicesInIndex() { return 1; }
  static OutIndex outIndex() { return 0; }

  void setup() final;
  // Counted from the front once there are inputs.
  std::int64_t getAxis() const;
  std::int64_t getGroupSize() const {
    return attributes.getInt("group_size", 1);
  }
  const optional<float> getAvailableMemoryProportion() const;
  void setAvailableMemoryProportion(const optional<float> proportion);
  bool zeroOutOfRangeIndices() const {
    return attributes.getInt("zeroOutOfRangeIndices", 0) != 0;
  }
};

class GatherGradOp : public Op {
public:
  GatherGradOp(const GatherOp &forward, std::int64_t axis,
               std::int64_t groupSize);
  GatherGradOp(const GatherOp &forward, std::int64_t axis)
      : GatherGradOp(forward, axis, 1) {}
  POPART_OP_CLASS(GatherGradOp, Op)

  static InIndex gradInIndex() { return 0; }
  static InIndex indicesInIndex() { return 1; }
  static OutIndex gradOutIndex() { return 0; }

  std::int64_t getAxis() const { return attributes.getInt("axis", 0); }
  std::int64_t getGroupSize() const {
    return attributes.getInt("group_size", 1);
  }
  const std::vector<GradInOutMapper> &gradInputInfo() const override;
  const std::map<int, int> &gradOutToNonGradIn() const override;
};

} // namespace popart
