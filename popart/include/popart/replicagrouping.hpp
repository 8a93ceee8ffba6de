// Replicas in groups of equal size: a group's members are `stride` apart.
#pragma once

#include <popart/commgroup.hpp>

#include <string>
#include <vector>

namespace popart {

class ReplicaGrouping {
public:
  // All replicas in one group.
  explicit ReplicaGrouping(unsigned numReplicas);
  // Throws popart::error unless groups of that size and stride use every
  // replica once.
  ReplicaGrouping(unsigned numReplicas, unsigned stride, unsigned groupSize);

  unsigned getNumReplicas() const { return numReplicas_; }
  // 1 where a group has one member.
  unsigned getStride() const { return stride_; }
  unsigned getGroupSize() const { return groupSize_; }
  unsigned getNumGroups() const { return numReplicas_ / groupSize_; }

  unsigned getGroupIndexOfReplica(unsigned replica) const;
  unsigned getIndexInGroupOfReplica(unsigned replica) const;
  unsigned getReplicaAt(unsigned group, unsigned indexInGroup = 0) const;
  std::vector<unsigned> getReplicasAt(unsigned group) const;
  // The groups of those that are n-th in their groups.
  ReplicaGrouping getTranspose() const;

  std::string str() const;
  friend bool operator==(const ReplicaGrouping &a, const ReplicaGrouping &b) {
    return a.numReplicas_ == b.numReplicas_ && a.stride_ == b.stride_ &&
           a.groupSize_ == b.groupSize_;
  }
  friend bool operator!=(const ReplicaGrouping &a, const ReplicaGrouping &b) {
    return !(a == b);
  }

private:
  unsigned numReplicas_;
  unsigned stride_;
  unsigned groupSize_;
};

// What a CommGroup means for that many replicas.
ReplicaGrouping toReplicaGrouping(const CommGroup &group, unsigned numReplicas);

} // namespace popart
