// What replicas do together.
#pragma once

#include <popart/op/builtin.hpp>
#include <popart/operatorenums.hpp>
#include <popart/replicagrouping.hpp>

namespace popart {

class CollectivesBaseOp : public Op {
public:
  POPART_OP_CLASS(CollectivesBaseOp, Op)

  static InIndex getInIndex() { return 0; }
  static InIndex getCollectiveLinkedIndex() { return 1; }
  static OutIndex getOutIndex() { return 0; }

  // Of as many replicas as the session has.
  ReplicaGrouping getReplicaGrouping() const;
  void setReplicaGrouping(const ReplicaGrouping &grouping);
  CommGroup getGCLCommGroup() const;
  void setGCLCommGroup(const CommGroup &group);
  CollectiveOperator getCollectiveOp() const;
  // How many replicas are in a group.
  std::int64_t getCommSize() const;

protected:
  CollectivesBaseOp(const OperatorIdentifier &opid,
                    const OperatorIdentifier &meaning,
                    const Op::Settings &settings)
      : Op(opid, meaning, settings) {}
  void setCollectiveOp(CollectiveOperator how) {
    attributes.set("collectiveOperator", static_cast<Attributes::Int>(how));
  }
};

} // namespace popart
