// Gradients and accumulators combined over replicas, and variables shared out
// among them. The machine program has a collective for each; the value program,
// where it runs replicas one after another, has none
// (transforms/FoldReplicas.cpp).
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>

#include <gcl/Collectives.hpp>

namespace popart {
namespace {

// Which replicas take part; all of them unless the operation says otherwise.
gcl::CommGroup groupOf(const Op &op) {
  auto size = static_cast<unsigned>(op.attributes.getInt("groupSize", 0));
  switch (static_cast<CommGroupType>(op.attributes.getInt("groupType", 0))) {
  case CommGroupType::Consecutive:
    return {gcl::CommGroupType::CONSECUTIVE, size,
            static_cast<unsigned>(op.attributes.getInt("groupStride", 0))};
  case CommGroupType::Orthogonal:
    return {gcl::CommGroupType::ORTHOGONAL, size};
  case CommGroupType::All:
  case CommGroupType::None:
    break;
  }
  return {};
}

std::vector<TensorInfo> inferSame(const Op &op) {
  requireInputCount(op, 1, 1);
  return {op.inInfo(0)};
}

// An accumulator is overwritten; a gradient stays what it is, because it may be
// an anchor.
InIndex reduceModifies(const Op &op, OutIndex) {
  return op.attributes.getInt("inPlace", 0) != 0 ? 0 : -1;
}

void lowerReduce(LoweringContext &context, const Op &op) {
  auto how = op.attributes.getInt("mean", 0) != 0
                 ? gcl::CollectiveOperator::MEAN
                 : gcl::CollectiveOperator::ADD;
  poplar::Tensor data = context.in(0);
  if (reduceModifies(op, 0) == 0) {
    gcl::allReduceInPlaceCrossReplica(context.graph(), data, how,
                                      context.program(), groupOf(op),
                                      context.debugPath());
  } else {
    data = gcl::allReduceCrossReplica(context.graph(), data, how,
                                      context.program(), groupOf(op),
                                      context.debugPath());
  }
  context.setOut(0, data);
}

std::vector<TensorInfo> inferScatter(const Op &op) {
  requireInputCount(op, 1, 1);
  return {TensorInfo(op.inInfo(0).dataType(),
                     {op.attributes.getInt("elements", 0)})};
}

void lowerScatter(LoweringContext &context, const Op &op) {
  const std::string name = op.attributes.getString("operator", "add");
  auto how = name == "mean"    ? gcl::CollectiveOperator::MEAN
             : name == "local" ? gcl::CollectiveOperator::LOCAL
                               : gcl::CollectiveOperator::ADD;
  context.setOut(0, gcl::reduceScatterCrossReplica(
                        context.graph(), context.in(0).flatten(), how,
                        context.program(), groupOf(op), context.debugPath()));
}

std::vector<TensorInfo> inferGather(const Op &op) {
  requireInputCount(op, 1, 1);
  return {
      TensorInfo(op.inInfo(0).dataType(), op.attributes.getInts("shape", {}))};
}

void lowerGather(LoweringContext &context, const Op &op) {
  poplar::Tensor all = gcl::allGatherCrossReplica(
                           context.graph(), context.in(0), context.program(),
                           groupOf(op), context.debugPath())
                           .flatten();
  // The last part may be longer than what is left for it.
  auto elements = static_cast<std::size_t>(op.outInfo(0).nelms());
  context.setOut(0,
                 all.slice(0, elements).reshape(poplarShape(op.outShape(0))));
}

InIndex modifiesFirst(const Op &, OutIndex) {
  return 0;
}

void lowerSumOfCopies(LoweringContext &context, const Op &op) {
  const std::string_view names[] = {"v", "n"};
  poplar::Tensor copies = context.addConstant(
      TensorInfo(DataType::FLOAT, {}),
      static_cast<double>(op.attributes.getInt("replicas", 1)));
  context.emitTo(kernels::Expression::parse("v*n", names),
                 {context.in(0), copies}, context.in(0));
  context.setOut(0, context.in(0));
}

} // namespace

std::vector<OpRule> replicaReduceRules() {
  return {{.domain = "aspen",
           .type = "ReplicaReduce",
           .infer = inferSame,
           .lower = lowerReduce,
           .modifiedInput = reduceModifies},
          // Whole tensors of all replicas into a part of their combination
          // (or, "local", of its own) for each, and parts into a whole.
          {.domain = "aspen",
           .type = "ReplicaScatter",
           .infer = inferScatter,
           .lower = lowerScatter},
          {.domain = "aspen",
           .type = "ReplicaGather",
           .infer = inferGather,
           .lower = lowerGather},
          // A variable that all replicas add to, as the sum of their copies
          // of it: value programs, before the first micro-batch of a batch.
          {.domain = "aspen",
           .type = "SumOfCopies",
           .infer = inferSame,
           .lower = lowerSumOfCopies,
           .modifiedInput = modifiesFirst}};
}

} // namespace popart
