// All replicas get the parts of all, one after another.
#pragma once

#include <popart/op/collectives/collectives.hpp>

namespace popart {

class ReplicatedAllGatherOp : public CollectivesBaseOp {
public:
  ReplicatedAllGatherOp(const OperatorIdentifier &opid,
                        const ReplicaGrouping &grouping,
                        const Op::Settings &settings)
      : CollectivesBaseOp(opid,
                          OperatorIdentifier("aspen", "ReplicatedAllGather"),
                          settings) {
    setReplicaGrouping(grouping);
  }
  // The parts may be longer than the whole, by what fills them up.
  ReplicatedAllGatherOp(const OperatorIdentifier &opid,
                        const ReplicaGrouping &grouping,
                        const Op::Settings &settings, const TensorInfo &outInfo)
      : ReplicatedAllGatherOp(opid, grouping, settings) {
    attributes.set("shape", outInfo.shape());
  }
  ReplicatedAllGatherOp(const OperatorIdentifier &opid, CommGroup group,
                        const Op::Settings &settings)
      : CollectivesBaseOp(opid,
                          OperatorIdentifier("aspen", "ReplicatedAllGather"),
                          settings) {
    setGCLCommGroup(group);
  }
  POPART_OP_CLASS(ReplicatedAllGatherOp, CollectivesBaseOp)
};

} // namespace popart
