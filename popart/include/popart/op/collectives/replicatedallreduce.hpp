// All replicas get the combination of their tensors.
#pragma once

#include <popart/op/collectives/collectives.hpp>

namespace popart {

class ReplicatedAllReduceOp : public CollectivesBaseOp {
public:
  ReplicatedAllReduceOp(const OperatorIdentifier &opid, CollectiveOperator how,
                        const ReplicaGrouping &grouping,
                        const Op::Settings &settings)
      : CollectivesBaseOp(
            opid, OperatorIdentifier("ai.graphcore", "ReplicatedAllReduce"),
            settings) {
    setCollectiveOp(how);
    setReplicaGrouping(grouping);
  }
  ReplicatedAllReduceOp(const OperatorIdentifier &opid, CollectiveOperator how,
                        CommGroup group, const Op::Settings &settings)
      : CollectivesBaseOp(
            opid, OperatorIdentifier("ai.graphcore", "ReplicatedAllReduce"),
            settings) {
    setCollectiveOp(how);
    setGCLCommGroup(group);
  }
  ReplicatedAllReduceOp(const OperatorIdentifier &opid,
                        const Op::Settings &settings)
      : CollectivesBaseOp(
            opid, OperatorIdentifier("ai.graphcore", "ReplicatedAllReduce"),
            settings) {
    setCollectiveOp(CollectiveOperator::Add);
  }
  POPART_OP_CLASS(ReplicatedAllReduceOp, CollectivesBaseOp)
};

// Written over the input: what sessions do with gradients.
class ReplicatedAllReduceInplaceOp : public ReplicatedAllReduceOp {
public:
  using ReplicatedAllReduceOp::ReplicatedAllReduceOp;
  POPART_OP_CLASS(ReplicatedAllReduceInplaceOp, ReplicatedAllReduceOp)
};

} // namespace popart
