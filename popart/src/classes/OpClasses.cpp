// The table of classes, by domain and type.
#include <classes/OpClasses.hpp>

#include <classes/Generated.hpp>
#include <ops/OpRule.hpp>
#include <popart/op/accumulate.hpp>
#include <popart/op/adamupdater.hpp>
#include <popart/op/adamvarupdate.hpp>
#include <popart/op/add.hpp>
#include <popart/op/clip.hpp>
#include <popart/op/collectives/replicatedallgather.hpp>
#include <popart/op/collectives/replicatedallreduce.hpp>
#include <popart/op/collectives/replicatedreducescatter.hpp>
#include <popart/op/ctc.hpp>
#include <popart/op/detach.hpp>
#include <popart/op/div.hpp>
#include <popart/op/dropout.hpp>
#include <popart/op/gather.hpp>
#include <popart/op/groupnorm.hpp>
#include <popart/op/histogram.hpp>
#include <popart/op/identity.hpp>
#include <popart/op/l1.hpp>
#include <popart/op/lamb.hpp>
#include <popart/op/matmul.hpp>
#include <popart/op/max.hpp>
#include <popart/op/mean.hpp>
#include <popart/op/min.hpp>
#include <popart/op/mul.hpp>
#include <popart/op/nll.hpp>
#include <popart/op/reshape.hpp>
#include <popart/op/sgd0varupdate.hpp>
#include <popart/op/sgd1varupdate.hpp>
#include <popart/op/slice.hpp>
#include <popart/op/softmax.hpp>
#include <popart/op/subtract.hpp>
#include <popart/op/sum.hpp>
#include <popart/op/transpose.hpp>

#include <map>
#include <string>
#include <utility>

namespace popart {
namespace {

using Key = std::pair<std::string, std::string>;
using Factory = std::unique_ptr<Op> (*)(const IrOperation &operation);

template <typename OP> std::unique_ptr<Op> make(const IrOperation &operation) {
  return std::make_unique<OP>(operation);
}

std::unique_ptr<Op> makeSgdUpdate(const IrOperation &operation) {
  return operation.attributes.getInt("velocity", 0) != 0
             ? make<SGD1VarUpdateOp>(operation)
             : make<SGD0VarUpdateOp>(operation);
}

const std::map<Key, Factory> &generalClasses() {
#define POPART_OPERATOR(CLASS, BASE, DOMAIN, TYPE, HEADER)                     \
  {{DOMAIN, TYPE}, make<CLASS>},
  static const std::map<Key, Factory> classes = {
#include <popart/op/operators.def>
  };
#undef POPART_OPERATOR
  return classes;
}

const std::map<Key, Factory> &ownClasses() {
  static const std::map<Key, Factory> classes = {
      {{"ai.graphcore", "AddLhsInplace"}, make<AddLhsInplaceOp>},
      {{"ai.graphcore", "AddRhsInplace"}, make<AddRhsInplaceOp>},
      {{"ai.graphcore", "ClipInplace"}, make<ClipInplaceOp>},
      {{"ai.graphcore", "Ctcloss"}, make<CtcOp>},
      {{"ai.graphcore", "Detach"}, make<DetachOp>},
      {{"ai.graphcore", "DetachInplace"}, make<DetachInplaceOp>},
      {{"ai.graphcore", "GroupNormalization"}, make<GroupNormOp>},
      {{"ai.graphcore", "GroupedGather"}, make<GatherOp>},
      {{"ai.graphcore", "IdentityGrad"}, make<IdentityGradOp>},
      {{"ai.graphcore", "IdentityInplace"}, make<IdentityInplaceOp>},
      {{"ai.graphcore", "IdentityLoss"}, make<IdentityLossOp>},
      {{"ai.graphcore", "L1loss"}, make<L1Op>},
      {{"ai.graphcore", "MulLhsInplace"}, make<MulLhsInplaceOp>},
      {{"ai.graphcore", "MulRhsInplace"}, make<MulRhsInplaceOp>},
      {{"ai.graphcore", "Nllloss"}, make<NllOp>},
      {{"ai.graphcore", "ReplicatedAllReduce"}, make<ReplicatedAllReduceOp>},
      {{"ai.graphcore", "ReplicatedReduceScatter"},
       make<ReplicatedReduceScatterOp>},
      {{"ai.graphcore", "Reshape"}, make<ReshapeOp>},
      {{"ai.graphcore", "ReshapeInplace"}, make<ReshapeInplaceOp>},
      {{"ai.graphcore", "ShapedDropout"}, make<ShapedDropoutOp>},
      {{"ai.graphcore", "SliceInplace"}, make<SliceInplaceOp>},
      {{"ai.graphcore", "SoftmaxInplace"}, make<SoftmaxInplaceOp>},
      {{"ai.graphcore", "TransposeInplace"}, make<TransposeInplaceOp>},
      {{"ai.onnx", "Add"}, make<AddOp>},
      {{"ai.onnx", "Clip"}, make<ClipOp>},
      {{"ai.onnx", "Div"}, make<DivOp>},
      {{"ai.onnx", "Dropout"}, make<DropoutOp>},
      {{"ai.onnx", "Flatten"}, make<ReshapeOp>},
      {{"ai.onnx", "Gather"}, make<GatherOp>},
      {{"ai.onnx", "Identity"}, make<IdentityOp>},
      {{"ai.onnx", "MatMul"}, make<MatMulOp>},
      {{"ai.onnx", "Max"}, make<MaxOp>},
      {{"ai.onnx", "Mean"}, make<MeanOp>},
      {{"ai.onnx", "Min"}, make<MinOp>},
      {{"ai.onnx", "Mul"}, make<MulOp>},
      {{"ai.onnx", "Reshape"}, make<ReshapeOp>},
      {{"ai.onnx", "Round"}, make<RoundOp>},
      {{"ai.onnx", "Slice"}, make<SliceOp>},
      {{"ai.onnx", "Softmax"}, make<SoftmaxOp>},
      {{"ai.onnx", "Squeeze"}, make<ReshapeOp>},
      {{"ai.onnx", "Sub"}, make<SubtractOp>},
      {{"ai.onnx", "Sum"}, make<SumOp>},
      {{"ai.onnx", "Transpose"}, make<TransposeOp>},
      {{"ai.onnx", "Unsqueeze"}, make<ReshapeOp>},
      {{"aspen", "Accumulate"}, make<AccumulateOp>},
      {{"aspen", "AdamUpdater"}, make<AdamUpdaterOp>},
      {{"aspen", "AdamVarUpdate"}, make<AdamVarUpdateOp>},
      {{"aspen", "Dropout"}, make<DropoutGradOp>},
      {{"aspen", "GatherGrad"}, make<GatherGradOp>},
      {{"aspen", "GroupNormGrad"}, make<GroupNormGradOp>},
      {{"aspen", "Histogram"}, make<HistogramOp>},
      {{"aspen", "ReplicaReduce"}, make<ReplicatedAllReduceInplaceOp>},
      {{"aspen", "ReplicatedAllGather"}, make<ReplicatedAllGatherOp>},
      {{"aspen", "RescaleAccumulate"}, make<RescaleAccumulateOp>},
      {{"aspen", "Reshape"}, make<ReshapeOp>},
      {{"aspen", "SGD0VarUpdate"}, make<SGD0VarUpdateOp>},
      {{"aspen", "SGD1VarUpdate"}, make<SGD1VarUpdateOp>},
      {{"aspen", "SgdUpdate"}, makeSgdUpdate},
      {{"aspen", "SoftmaxGrad"}, make<SoftmaxGradOp>},
      {{"aspen", "SparseAccumulate"}, make<SparseAccumulateOp>},
      {{"aspen", "SquareSum"}, make<LambSquareOp>},
  };
  return classes;
}

} // namespace

std::unique_ptr<Op> makeOpOfClass(const IrOperation &operation) {
  Key key{operation.opid.domain, operation.opid.type};
  for (const auto *classes : {&ownClasses(), &generalClasses()}) {
    auto found = classes->find(key);
    if (found != classes->end()) {
      return found->second(operation);
    }
  }
  return std::make_unique<Op>(operation);
}

} // namespace popart
