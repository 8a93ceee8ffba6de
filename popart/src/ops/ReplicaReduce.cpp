// Gradients and accumulators combined over replicas. The machine program has a
// collective for each; the value program, where it runs replicas one after
// another, has none (transforms/FoldReplicas.cpp).
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <lowering/LoweringContext.hpp>

#include <gcl/Collectives.hpp>

namespace popart {
namespace {

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
                                      context.program(), context.debugPath());
  } else {
    data = gcl::allReduceCrossReplica(context.graph(), data, how,
                                      context.program(), context.debugPath());
  }
  context.setOut(0, data);
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
          // A variable that all replicas add to, as the sum of their copies
          // of it: value programs, before the first micro-batch of a batch.
          {.domain = "aspen",
           .type = "SumOfCopies",
           .infer = inferSame,
           .lower = lowerSumOfCopies,
           .modifiedInput = modifiesFirst}};
}

} // namespace popart
