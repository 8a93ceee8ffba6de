// Collectives for the conformance tests.
#include "Libraries.hpp"

#include <gcl/Collectives.hpp>

#include <popops/codelets.hpp>

#include <map>

namespace conformance {
namespace {

gcl::CollectiveOperator operatorOf(const Call &call) {
  using Operator = gcl::CollectiveOperator;
  static const std::map<std::string, Operator> operators = {
      {"ADD", Operator::ADD},
      {"MEAN", Operator::MEAN},
      {"MUL", Operator::MUL},
      {"MIN", Operator::MIN},
      {"MAX", Operator::MAX},
      {"LOGICAL_AND", Operator::LOGICAL_AND},
      {"LOGICAL_OR", Operator::LOGICAL_OR},
      {"SQUARE_ADD", Operator::SQUARE_ADD},
      {"LOCAL", Operator::LOCAL}};
  return operators.at(call.get<std::string>("op"));
}

gcl::CommGroup groupOf(const Call &call) {
  const auto type = call.get<std::string>("group", std::string("ALL"));
  const auto size = call.get<unsigned>("size", 0U);
  const auto stride = call.get<unsigned>("stride", 0U);
  return type == "ALL" ? gcl::CommGroup()
         : type == "CONSECUTIVE"
             ? gcl::CommGroup(gcl::CommGroupType::CONSECUTIVE, size, stride)
             : gcl::CommGroup(gcl::CommGroupType::ORTHOGONAL, size, stride);
}

void allReduce(Call &call) {
  call.output("out", gcl::allReduceCrossReplica(
                         call.graph(), call.tensor("in"), operatorOf(call),
                         call.program(), groupOf(call), {}, call.options()));
}

using Tensors = std::vector<poplar::Tensor>;

Tensors three(const Call &call) {
  return {call.tensor("a"), call.tensor("b"), call.tensor("c")};
}

void outputThree(Call &call, const Tensors &results) {
  call.output("a", results.at(0));
  call.output("b", results.at(1));
  call.output("c", results.at(2));
}

// Tensors of those types and shapes for results, all on one tile.
poplar::Tensor addResult(Call &call, const poplar::Tensor &like,
                         const std::vector<std::size_t> &shape) {
  const auto result = call.graph().addVariable(like.elementType(), shape, "to");
  call.graph().setTileMapping(result, 0);
  return result;
}

void allReduceMany(Call &call) {
  outputThree(call, gcl::allReduceCrossReplica(
                        call.graph(), three(call), operatorOf(call),
                        call.program(), groupOf(call), {}, call.options()));
}

void allReduceToDestination(Call &call) {
  const auto result = call.graph().clone(call.tensor("in"));
  gcl::allReduceToDestinationCrossReplica(
      call.graph(), call.tensor("in"), result, operatorOf(call), call.program(),
      groupOf(call), {}, call.options());
  call.output("out", result);
}

void allReduceInPlace(Call &call) {
  gcl::allReduceInPlaceCrossReplica(call.graph(), call.tensor("in"),
                                    operatorOf(call), call.program(),
                                    groupOf(call), {}, call.options());
  call.output("out", call.tensor("in"));
}

void reduceScatter(Call &call) {
  call.output("out", gcl::reduceScatterCrossReplica(
                         call.graph(), call.tensor("in"), operatorOf(call),
                         call.program(), groupOf(call), {}, call.options()));
}

void reduceScatterMany(Call &call) {
  outputThree(call, gcl::reduceScatterCrossReplica(
                        call.graph(), three(call), operatorOf(call),
                        call.program(), groupOf(call), {}, call.options()));
}

void reduceScatterToDestination(Call &call) {
  const auto in = call.tensor("in");
  const auto result = addResult(call, in, {call.get<std::size_t>("part")});
  gcl::reduceScatterToDestinationCrossReplica(
      call.graph(), in, result, operatorOf(call), call.program(), groupOf(call),
      {}, call.options());
  call.output("out", result);
}

void allGather(Call &call) {
  call.output("out", gcl::allGatherCrossReplica(call.graph(), call.tensor("in"),
                                                call.program(), groupOf(call),
                                                {}, call.options()));
}

void allGatherMany(Call &call) {
  outputThree(call, gcl::allGatherCrossReplica(call.graph(), three(call),
                                               call.program(), groupOf(call),
                                               {}, call.options()));
}

void allGatherToDestination(Call &call) {
  const auto in = call.tensor("in");
  const auto result =
      addResult(call, in, {call.get<std::size_t>("members"), in.numElements()});
  gcl::allGatherToDestinationCrossReplica(call.graph(), in, result,
                                          call.program(), groupOf(call), {},
                                          call.options());
  call.output("out", result);
}

void allToAll(Call &call) {
  call.output("out", gcl::allToAllCrossReplica(call.graph(), call.tensor("in"),
                                               call.program(), groupOf(call),
                                               {}, call.options()));
}

void allToAllMany(Call &call) {
  outputThree(call, gcl::allToAllCrossReplica(call.graph(), three(call),
                                              call.program(), groupOf(call), {},
                                              call.options()));
}

void broadcast(Call &call) {
  call.output("out", gcl::broadcastCrossReplica(call.graph(), call.tensor("in"),
                                                call.program(), groupOf(call),
                                                call.get<unsigned>("root", 0U),
                                                {}, call.options()));
}

void broadcastMany(Call &call) {
  outputThree(call, gcl::broadcastCrossReplica(call.graph(), three(call),
                                               call.program(), groupOf(call),
                                               call.get<unsigned>("root", 0U),
                                               {}, call.options()));
}

void allReduceWithin(Call &call) {
  popops::addCodelets(call.graph());
  call.output("out", gcl::allReduceWithinReplica(
                         call.graph(), call.tensor("in"), operatorOf(call),
                         call.program(), {}, call.options()));
}

// The chunks one after another.
void reduceScatterWithin(Call &call) {
  popops::addCodelets(call.graph());
  const auto chunks = gcl::reduceScatterWithinReplica(
      call.graph(), call.tensor("in"), operatorOf(call), call.program(), {},
      call.options());
  std::vector<poplar::Tensor> parts;
  for (const gcl::Chunk &chunk : chunks.getChunks()) {
    parts.push_back(chunk.tensor);
  }
  call.output("out", poplar::concat(parts));
}

} // namespace

void addGcl(Operations &operations) {
  operations["gcl.allReduceCrossReplica"] = allReduce;
  operations["gcl.allReduceCrossReplica, several"] = allReduceMany;
  operations["gcl.allReduceToDestinationCrossReplica"] = allReduceToDestination;
  operations["gcl.allReduceInPlaceCrossReplica"] = allReduceInPlace;
  operations["gcl.reduceScatterCrossReplica"] = reduceScatter;
  operations["gcl.reduceScatterCrossReplica, several"] = reduceScatterMany;
  operations["gcl.reduceScatterToDestinationCrossReplica"] =
      reduceScatterToDestination;
  operations["gcl.allGatherCrossReplica"] = allGather;
  operations["gcl.allGatherCrossReplica, several"] = allGatherMany;
  operations["gcl.allGatherToDestinationCrossReplica"] = allGatherToDestination;
  operations["gcl.allToAllCrossReplica"] = allToAll;
  operations["gcl.allToAllCrossReplica, several"] = allToAllMany;
  operations["gcl.broadcastCrossReplica"] = broadcast;
  operations["gcl.broadcastCrossReplica, several"] = broadcastMany;
  operations["gcl.allReduceWithinReplica"] = allReduceWithin;
  operations["gcl.reduceScatterWithinReplica"] = reduceScatterWithin;
}

} // namespace conformance
