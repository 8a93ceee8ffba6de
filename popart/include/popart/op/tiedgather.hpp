// Lookups of tables that are also the weights of projections.
#pragma once

#include <popart/op/gather.hpp>

namespace popart {

// Nothing is different from a plain lookup: the two gradients of the table are
// added up like any.
class TiedGatherOp : public GatherOp {
public:
  TiedGatherOp(std::int64_t axis, const Op::Settings &settings)
      : GatherOp(OperatorIdentifier("ai.onnx", "Gather"), axis, settings) {}
  POPART_OP_CLASS(TiedGatherOp, GatherOp)
};

} // namespace popart
