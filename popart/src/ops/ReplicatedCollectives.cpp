// Collectives between replicas that a model asks for by name.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>
#include <popart/commgroup.hpp>
#include <popart/ir.hpp>
#include <popart/operatorenums.hpp>

#include <gcl/Collectives.hpp>

namespace popart {
namespace {

// As GCL numbers them.
CollectiveOperator operatorOf(const Op &op) {
  std::int64_t number = op.attributes.getInt("collectiveOperator", 0);
  requireOp(op,
            0 <= number &&
                number <= static_cast<std::int64_t>(CollectiveOperator::Local),
            "collectiveOperator {} is none of Add to Local, 0 to 8", number);
  return static_cast<CollectiveOperator>(number);
}

// "commGroup" is the type and the size of a group.
CommGroup groupOf(const Op &op) {
  Attributes::Ints given = op.attributes.getInts("commGroup", {0, 0});
  requireOp(op,
            given.size() == 2 && 0 <= given[0] &&
                given[0] <= static_cast<std::int64_t>(CommGroupType::None) &&
                given[1] >= 0,
            "commGroup {} is not a type and a size", support::toString(given));
  return {static_cast<CommGroupType>(given[0]),
          static_cast<unsigned>(given[1])};
}

// A model that is being built does not know them.
std::int64_t replicasOf(const Op &op) {
  return op.getGraph().hasIr()
             ? op.getIr().sessionOptions.getGlobalReplicationFactor()
             : 1;
}

std::int64_t groupSize(const Op &op) {
  std::int64_t replicas = replicasOf(op);
  CommGroup group = groupOf(op);
  if (group.type == CommGroupType::None) {
    return 1;
  }
  if (group.type == CommGroupType::All || group.replicaGroupSize == 0) {
    return replicas;
  }
  return group.replicaGroupSize;
}

// Checked here, where the replicas are known.
gcl::CommGroup gclGroup(const Op &op) {
  CommGroup group = groupOf(op);
  std::int64_t replicas = replicasOf(op);
  requireOp(op, replicas % groupSize(op) == 0,
            "{} replicas do not split into groups of {}", replicas,
            groupSize(op));
  if (group.type == CommGroupType::None) {
    return {gcl::CommGroupType::CONSECUTIVE, 1};
  }
  return {static_cast<gcl::CommGroupType>(group.type), group.replicaGroupSize};
}

gcl::CollectiveOperator gclOperator(const Op &op) {
  return static_cast<gcl::CollectiveOperator>(operatorOf(op));
}

std::vector<TensorInfo> inferAllReduce(const Op &op) {
  requireInputCount(op, 1, 1);
  operatorOf(op);
  groupSize(op);
  return {op.inInfo(0)};
}

// A replica has its part of the elements, the last ones filled up with zeros.
std::vector<TensorInfo> inferReduceScatter(const Op &op) {
  requireInputCount(op, 1, 1);
  operatorOf(op);
  std::int64_t size = groupSize(op);
  return {TensorInfo(op.inInfo(0).dataType(),
                     {(op.inInfo(0).nelms() + size - 1) / size})};
}

void requireLinear(const Op &op) {
  CollectiveOperator how = operatorOf(op);
  requireOp(op,
            how == CollectiveOperator::Add || how == CollectiveOperator::Mean ||
                how == CollectiveOperator::Local,
            "has a gradient for Add, Mean and Local only");
}

// Every replica's loss depends on every replica's input.
void differentiateAllReduce(GradientBuilder &builder, const Op &op) {
  requireLinear(op);
  builder.setGradient(0,
                      builder.add("ai.graphcore", "ReplicatedAllReduce",
                                  {builder.outputGradient(0)}, op.attributes));
}

void differentiateReduceScatter(GradientBuilder &builder, const Op &op) {
  requireLinear(op);
  requireOp(op, operatorOf(op) != CollectiveOperator::Local,
            "has a gradient for Add and Mean only");
  Attributes attributes = op.attributes;
  attributes.set("shape", op.inShape(0));
  TensorId gathered = builder.add("aspen", "ReplicatedAllGather",
                                  {builder.outputGradient(0)}, attributes);
  if (operatorOf(op) == CollectiveOperator::Mean) {
    gathered = builder.addElementwise(fmt::format("g/{}", groupSize(op)), "g",
                                      {gathered}, op.inShape(0));
  }
  builder.setGradient(0, gathered);
}

void lowerAllReduce(LoweringContext &context, const Op &op) {
  context.setOut(0, gcl::allReduceCrossReplica(
                        context.graph(), context.in(0), gclOperator(op),
                        context.program(), gclGroup(op), context.debugPath()));
}

void lowerReduceScatter(LoweringContext &context, const Op &op) {
  context.setOut(0,
                 gcl::reduceScatterCrossReplica(
                     context.graph(), context.in(0).flatten(), gclOperator(op),
                     context.program(), gclGroup(op), context.debugPath()));
}

// All parts, or as many elements as there were before they were filled up.
std::vector<TensorInfo> inferAllGather(const Op &op) {
  return {TensorInfo(
      op.inInfo(0).dataType(),
      op.attributes.getInts("shape", {op.inInfo(0).nelms() * groupSize(op)}))};
}

void lowerAllGather(LoweringContext &context, const Op &op) {
  poplar::Tensor parts = gcl::allGatherCrossReplica(
      context.graph(), context.in(0), context.program(), gclGroup(op),
      context.debugPath());
  auto count = static_cast<std::size_t>(op.outInfo(0).nelms());
  context.setOut(
      0, parts.flatten().slice(0, count).reshape(poplarShape(op.outShape(0))));
}

OpSchema schema() {
  return {.attributes = {{"collectiveOperator", std::monostate{}},
                         {"commGroup", Attributes::Ints{}}}};
}

} // namespace

std::vector<OpRule> replicatedCollectiveRules() {
  return {{.domain = "ai.graphcore",
           .type = "ReplicatedAllReduce",
           .schema = schema(),
           .infer = inferAllReduce,
           .differentiate = differentiateAllReduce,
           .lower = lowerAllReduce},
          {.domain = "ai.graphcore",
           .type = "ReplicatedReduceScatter",
           .schema = schema(),
           .infer = inferReduceScatter,
           .differentiate = differentiateReduceScatter,
           .lower = lowerReduceScatter},
          {.domain = "aspen",
           .type = "ReplicatedAllGather",
           .infer = inferAllGather,
           .lower = lowerAllGather}};
}

} // namespace popart
