// A replica gets its part of the combination of their tensors.
#pragma once

#include <popart/op/collectives/collectives.hpp>

namespace popart {

class ReplicatedReduceScatterOp : public CollectivesBaseOp {
public:
  ReplicatedReduceScatterOp(const OperatorIdentifier &opid,
                            CollectiveOperator how,
                            const ReplicaGrouping &grouping,
                            const Op::Settings &settings)
      : CollectivesBaseOp(
            opid, OperatorIdentifier("ai.graphcore", "ReplicatedReduceScatter"),
            settings) {
    setCollectiveOp(how);
    setReplicaGrouping(grouping);
  }
  ReplicatedReduceScatterOp(const OperatorIdentifier &opid,
                            CollectiveOperator how,
                            const ReplicaGrouping &grouping,
                            bool /*configureOutputForReplicatedTensorSharding*/,
                            const Op::Settings &settings)
      : ReplicatedReduceScatterOp(opid, how, grouping, settings) {}
  ReplicatedReduceScatterOp(const OperatorIdentifier &opid,
                            CollectiveOperator how, CommGroup group,
                            const Op::Settings &settings)
      : CollectivesBaseOp(
            opid, OperatorIdentifier("ai.graphcore", "ReplicatedReduceScatter"),
            settings) {
    setCollectiveOp(how);
    setGCLCommGroup(group);
  }
  ReplicatedReduceScatterOp(const OperatorIdentifier &opid,
                            const Op::Settings &settings)
      : CollectivesBaseOp(
            opid, OperatorIdentifier("ai.graphcore", "ReplicatedReduceScatter"),
            settings) {
    setCollectiveOp(CollectiveOperator::Add);
  }
  POPART_OP_CLASS(ReplicatedReduceScatterOp, CollectivesBaseOp)
};

} // namespace popart
