// Which replicas share a variable's value, and what of it comes back.
#pragma once

#include <popart/commgroup.hpp>
#include <popart/names.hpp>
#include <popart/replicagrouping.hpp>

#include <string>
#include <vector>

namespace popart {

enum class VariableRetrievalMode {
  OnePerGroup = 0,
  AllReduceReplicas, // no session takes it
  AllReplicas
};

class VariableSettings {
public:
  // All replicas share one value.
  VariableSettings() = default;
  explicit VariableSettings(CommGroup sharedVariableDomain);
  explicit VariableSettings(VariableRetrievalMode mode);
  VariableSettings(CommGroup sharedVariableDomain, VariableRetrievalMode mode);
  VariableSettings(unsigned stride, unsigned groupSize,
                   VariableRetrievalMode mode);

  // Throws popart::error when it was not made from a CommGroup.
  CommGroup getSharedVariableDomain() const;
  ReplicaGrouping getReplicaGrouping(unsigned numReplicas) const;
  bool isUsingCommGroup() const { return stride_ == 0; }
  CommGroupType getCommGroupType() const;
  unsigned getStride() const { return isUsingCommGroup() ? 1 : stride_; }
  unsigned getGroupSize() const {
    return isUsingCommGroup() ? domain_.replicaGroupSize : groupSize_;
  }
  VariableRetrievalMode getRetrievalMode() const { return mode_; }

  unsigned getGroupCount(unsigned replicaCount) const;
  // Members of a group.
  unsigned getRealGroupSize(unsigned replicaCount) const;
  // The first replica of a group, without knowing how many replicas there are.
  unsigned getGroupRepresentative(unsigned group) const;
  unsigned numReplicasReturningVariable(unsigned replicaCount) const;
  // The host has a leading dimension for groups if there are several; throws
  // popart::error when `fullShape` has not. `name` is for the message.
  Shape shapeOnReplica(const Shape &fullShape, unsigned replicaCount,
                       const TensorId &name) const;
  Shape shapeOnHost(Shape replicaShape, unsigned replicaCount) const;
  // The replicas of each group.
  std::vector<std::vector<std::int64_t>> groups(unsigned replicaCount) const;
  // Throws popart::error for what no number of replicas makes sense of.
  void verify() const;

  // For a model's metadata.
  std::string str() const;
  static VariableSettings fromString(const std::string &text);

  friend bool operator==(const VariableSettings &a, const VariableSettings &b) {
    return a.domain_ == b.domain_ && a.stride_ == b.stride_ &&
           a.groupSize_ == b.groupSize_ && a.mode_ == b.mode_;
  }

private:
  CommGroup domain_;
  // Without a CommGroup.
  unsigned stride_ = 0;
  unsigned groupSize_ = 0;
  VariableRetrievalMode mode_ = VariableRetrievalMode::OnePerGroup;
};

} // namespace popart
