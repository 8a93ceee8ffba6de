// What replicas do together, as classes.
#include <popart/op/collectives/collectives.hpp>

#include <ops/Common.hpp>
#include <popart/ir.hpp>

#include <algorithm>

namespace popart {

CommGroup CollectivesBaseOp::getGCLCommGroup() const {
  Attributes::Ints group = attributes.getInts("commGroup", {});
  return group.size() == 2 ? CommGroup(static_cast<CommGroupType>(group[0]),
                                       static_cast<unsigned>(group[1]))
                           : CommGroup();
}

void CollectivesBaseOp::setGCLCommGroup(const CommGroup &group) {
  attributes.set("commGroup",
                 Attributes::Ints{static_cast<std::int64_t>(group.type),
                                  group.replicaGroupSize});
}

ReplicaGrouping CollectivesBaseOp::getReplicaGrouping() const {
  std::int64_t replicas = getIr().sessionOptions.getGlobalReplicationFactor();
  return toReplicaGrouping(
      getGCLCommGroup(),
      static_cast<unsigned>(std::max<std::int64_t>(1, replicas)));
}

void CollectivesBaseOp::setReplicaGrouping(const ReplicaGrouping &grouping) {
  unsigned size = grouping.getGroupSize();
  if (size == grouping.getNumReplicas()) {
    setGCLCommGroup(CommGroup());
  } else if (size == 1) {
    setGCLCommGroup(CommGroup(CommGroupType::None, 0));
  } else if (grouping.getStride() == 1) {
    setGCLCommGroup(CommGroup(CommGroupType::Consecutive, size));
  } else {
    requireOp(*this, grouping.getStride() == grouping.getNumGroups(),
              "works in groups of neighbours or of every n-th replica, not {}",
              grouping.str());
    setGCLCommGroup(CommGroup(CommGroupType::Orthogonal, size));
  }
}

CollectiveOperator CollectivesBaseOp::getCollectiveOp() const {
  return static_cast<CollectiveOperator>(
      attributes.getInt("collectiveOperator", 0));
}

std::int64_t CollectivesBaseOp::getCommSize() const {
  return getReplicaGrouping().getGroupSize();
}

} // namespace popart
