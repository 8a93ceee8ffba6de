// The program of a collective between replicas.
#include <poplar/internal/Collective.hpp>

#include <kernels/Expression.hpp>
#include <poplar/Program.hpp>
#include <support/Error.hpp>

#include "MakeNode.hpp"

namespace poplar::internal {

using kernels::ElementwiseOp;

ElementwiseOp joiningOp(CollectiveOperator op) {
  switch (op) {
  case CollectiveOperator::Mul:
    return ElementwiseOp::MULTIPLY;
  case CollectiveOperator::Min:
    return ElementwiseOp::MINIMUM;
  case CollectiveOperator::Max:
    return ElementwiseOp::MAXIMUM;
  case CollectiveOperator::LogicalAnd:
    return ElementwiseOp::LOGICAL_AND;
  case CollectiveOperator::LogicalOr:
    return ElementwiseOp::LOGICAL_OR;
  case CollectiveOperator::Add:
  case CollectiveOperator::Mean:
  case CollectiveOperator::SquareAdd:
    return ElementwiseOp::ADD;
  case CollectiveOperator::Local:
    break;
  }
  support::requireInternal(false, "a local collective joins nothing");
  return ElementwiseOp::ADD;
}

void addCollective(program::Sequence &program, const CollectivePlan &plan,
                   const Tensor &source, const Tensor &destination,
                   const DebugContext &debugContext) {
  CollectiveNode node{plan, program::viewOf(source, "collective"),
                      program::viewOf(destination, "collective")};
  program.add(Access::makeProgram(
      program::makeNode(std::move(node), debugContext, source, destination)));
}

} // namespace poplar::internal
