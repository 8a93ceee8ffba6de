// Which replicas work together: all, runs of neighbours, or every n-th.
#pragma once

#include <cstdint>

namespace popart {

enum class CommGroupType { All = 0, Consecutive, Orthogonal, None };

struct CommGroup {
  CommGroup() = default;
  CommGroup(CommGroupType groupType, unsigned groupSize)
      : type(groupType), replicaGroupSize(groupSize) {}

  friend bool operator==(const CommGroup &a, const CommGroup &b) {
    return a.type == b.type && a.replicaGroupSize == b.replicaGroupSize;
  }
  friend bool operator!=(const CommGroup &a, const CommGroup &b) {
    return !(a == b);
  }

  CommGroupType type = CommGroupType::All;
  unsigned replicaGroupSize = 0; // of Consecutive and Orthogonal
};

} // namespace popart
