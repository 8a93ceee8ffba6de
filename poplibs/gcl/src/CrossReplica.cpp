// Collectives between replicas: one program for all tensors of a call that have
// the same type.
#include <gcl/Collectives.hpp>

#include "Request.hpp"

namespace gcl {

using internal::Request;
using internal::Tensors;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::internal::CollectiveKind;
using poplar::program::Sequence;

namespace {

const CommGroup allReplicas;
// What collectives that combine nothing are given.
constexpr auto noOperator = CollectiveOperator::LOCAL;

} // namespace

Tensors allReduceCrossReplica(Graph &graph, const Tensors &datas,
                              CollectiveOperator op, Sequence &prog,
                              const CommGroup &group,
                              const DebugContext &debugContext,
                              const OptionFlags &options) {
  return internal::runToNew({graph, "allReduceCrossReplica",
                             CollectiveKind::AllReduce, op, prog, group,
                             debugContext, options},
                            datas);
}

Tensors allReduceCrossReplica(Graph &graph, const Tensors &datas,
                              CollectiveOperator op, Sequence &prog,
                              const DebugContext &debugContext,
                              const OptionFlags &options) {
  return allReduceCrossReplica(graph, datas, op, prog, allReplicas,
                               debugContext, options);
}

Tensor allReduceCrossReplica(Graph &graph, const Tensor &data,
                             CollectiveOperator op, Sequence &prog,
                             const CommGroup &group,
                             const DebugContext &debugContext,
                             const OptionFlags &options) {
  return allReduceCrossReplica(graph, Tensors{data}, op, prog, group,
                               debugContext, options)
      .front();
}

Tensor allReduceCrossReplica(Graph &graph, const Tensor &data,
                             CollectiveOperator op, Sequence &prog,
                             const DebugContext &debugContext,
                             const OptionFlags &options) {
  return allReduceCrossReplica(graph, data, op, prog, allReplicas, debugContext,
                               options);
}

void allReduceToDestinationCrossReplica(Graph &graph, const Tensors &datas,
                                        const Tensors &destinations,
                                        CollectiveOperator op, Sequence &prog,
                                        const CommGroup &group,
                                        const DebugContext &debugContext,
                                        const OptionFlags &options) {
  internal::runTo({graph, "allReduceToDestinationCrossReplica",
                   CollectiveKind::AllReduce, op, prog, group, debugContext,
                   options},
                  datas, destinations);
}

void allReduceToDestinationCrossReplica(Graph &graph, const Tensors &datas,
                                        const Tensors &destinations,
                                        CollectiveOperator op, Sequence &prog,
                                        const DebugContext &debugContext,
                                        const OptionFlags &options) {
  allReduceToDestinationCrossReplica(graph, datas, destinations, op, prog,
                                     allReplicas, debugContext, options);
}

void allReduceToDestinationCrossReplica(Graph &graph, const Tensor &data,
                                        const Tensor &destination,
                                        CollectiveOperator op, Sequence &prog,
                                        const CommGroup &group,
                                        const DebugContext &debugContext,
                                        const OptionFlags &options) {
  allReduceToDestinationCrossReplica(graph, Tensors{data}, Tensors{destination},
                                     op, prog, group, debugContext, options);
}

void allReduceToDestinationCrossReplica(Graph &graph, const Tensor &data,
                                        const Tensor &destination,
                                        CollectiveOperator op, Sequence &prog,
                                        const DebugContext &debugContext,
                                        const OptionFlags &options) {
  allReduceToDestinationCrossReplica(graph, data, destination, op, prog,
                                     allReplicas, debugContext, options);
}

void allReduceInPlaceCrossReplica(Graph &graph, const Tensors &datas,
                                  CollectiveOperator op, Sequence &prog,
                                  const CommGroup &group,
                                  const DebugContext &debugContext,
                                  const OptionFlags &options) {
  internal::runTo({graph, "allReduceInPlaceCrossReplica",
                   CollectiveKind::AllReduce, op, prog, group, debugContext,
                   options},
                  datas, datas);
}

void allReduceInPlaceCrossReplica(Graph &graph, const Tensors &datas,
                                  CollectiveOperator op, Sequence &prog,
                                  const DebugContext &debugContext,
                                  const OptionFlags &options) {
  allReduceInPlaceCrossReplica(graph, datas, op, prog, allReplicas,
                               debugContext, options);
}

void allReduceInPlaceCrossReplica(Graph &graph, const Tensor &data,
                                  CollectiveOperator op, Sequence &prog,
                                  const CommGroup &group,
                                  const DebugContext &debugContext,
                                  const OptionFlags &options) {
  allReduceInPlaceCrossReplica(graph, Tensors{data}, op, prog, group,
                               debugContext, options);
}

void allReduceInPlaceCrossReplica(Graph &graph, const Tensor &data,
                                  CollectiveOperator op, Sequence &prog,
                                  const DebugContext &debugContext,
                                  const OptionFlags &options) {
  allReduceInPlaceCrossReplica(graph, data, op, prog, allReplicas, debugContext,
                               options);
}

Tensors reduceScatterCrossReplica(Graph &graph, const Tensors &datas,
                                  CollectiveOperator op, Sequence &prog,
                                  const CommGroup &group,
                                  const DebugContext &debugContext,
                                  const OptionFlags &options) {
  return internal::runToNew({graph, "reduceScatterCrossReplica",
                             CollectiveKind::ReduceScatter, op, prog, group,
                             debugContext, options},
                            datas);
}

Tensors reduceScatterCrossReplica(Graph &graph, const Tensors &datas,
                                  CollectiveOperator op, Sequence &prog,
                                  const DebugContext &debugContext,
                                  const OptionFlags &options) {
  return reduceScatterCrossReplica(graph, datas, op, prog, allReplicas,
                                   debugContext, options);
}

Tensor reduceScatterCrossReplica(Graph &graph, const Tensor &data,
                                 CollectiveOperator op, Sequence &prog,
                                 const CommGroup &group,
                                 const DebugContext &debugContext,
                                 const OptionFlags &options) {
  return reduceScatterCrossReplica(graph, Tensors{data}, op, prog, group,
                                   debugContext, options)
      .front();
}

Tensor reduceScatterCrossReplica(Graph &graph, const Tensor &data,
                                 CollectiveOperator op, Sequence &prog,
                                 const DebugContext &debugContext,
                                 const OptionFlags &options) {
  return reduceScatterCrossReplica(graph, data, op, prog, allReplicas,
                                   debugContext, options);
}

void reduceScatterToDestinationCrossReplica(
    Graph &graph, const Tensors &datas, const Tensors &destinations,
    CollectiveOperator op, Sequence &prog, const CommGroup &group,
    const DebugContext &debugContext, const OptionFlags &options) {
  internal::runTo({graph, "reduceScatterToDestinationCrossReplica",
                   CollectiveKind::ReduceScatter, op, prog, group, debugContext,
                   options},
                  datas, destinations);
}

void reduceScatterToDestinationCrossReplica(Graph &graph, const Tensors &datas,
                                            const Tensors &destinations,
                                            CollectiveOperator op,
                                            Sequence &prog,
                                            const DebugContext &debugContext,
                                            const OptionFlags &options) {
  reduceScatterToDestinationCrossReplica(graph, datas, destinations, op, prog,
                                         allReplicas, debugContext, options);
}

void reduceScatterToDestinationCrossReplica(
    Graph &graph, const Tensor &data, const Tensor &destination,
    CollectiveOperator op, Sequence &prog, const CommGroup &group,
    const DebugContext &debugContext, const OptionFlags &options) {
  reduceScatterToDestinationCrossReplica(graph, Tensors{data},
                                         Tensors{destination}, op, prog, group,
                                         debugContext, options);
}

void reduceScatterToDestinationCrossReplica(Graph &graph, const Tensor &data,
                                            const Tensor &destination,
                                            CollectiveOperator op,
                                            Sequence &prog,
                                            const DebugContext &debugContext,
                                            const OptionFlags &options) {
  reduceScatterToDestinationCrossReplica(graph, data, destination, op, prog,
                                         allReplicas, debugContext, options);
}

Tensors allGatherCrossReplica(Graph &graph, const Tensors &datas,
                              Sequence &prog, const CommGroup &group,
                              const DebugContext &debugContext,
                              const OptionFlags &options) {
  return internal::runToNew({graph, "allGatherCrossReplica",
                             CollectiveKind::AllGather, noOperator, prog, group,
                             debugContext, options},
                            datas);
}

Tensors allGatherCrossReplica(Graph &graph, const Tensors &datas,
                              Sequence &prog, const DebugContext &debugContext,
                              const OptionFlags &options) {
  return allGatherCrossReplica(graph, datas, prog, allReplicas, debugContext,
                               options);
}

Tensor allGatherCrossReplica(Graph &graph, const Tensor &data, Sequence &prog,
                             const CommGroup &group,
                             const DebugContext &debugContext,
                             const OptionFlags &options) {
  return allGatherCrossReplica(graph, Tensors{data}, prog, group, debugContext,
                               options)
      .front();
}

Tensor allGatherCrossReplica(Graph &graph, const Tensor &data, Sequence &prog,
                             const DebugContext &debugContext,
                             const OptionFlags &options) {
  return allGatherCrossReplica(graph, data, prog, allReplicas, debugContext,
                               options);
}

void allGatherToDestinationCrossReplica(Graph &graph, const Tensors &datas,
                                        const Tensors &destinations,
                                        Sequence &prog, const CommGroup &group,
                                        const DebugContext &debugContext,
                                        const OptionFlags &options) {
  internal::runTo({graph, "allGatherToDestinationCrossReplica",
                   CollectiveKind::AllGather, noOperator, prog, group,
                   debugContext, options},
                  datas, destinations);
}

void allGatherToDestinationCrossReplica(Graph &graph, const Tensors &datas,
                                        const Tensors &destinations,
                                        Sequence &prog,
                                        const DebugContext &debugContext,
                                        const OptionFlags &options) {
  allGatherToDestinationCrossReplica(graph, datas, destinations, prog,
                                     allReplicas, debugContext, options);
}

void allGatherToDestinationCrossReplica(Graph &graph, const Tensor &data,
                                        const Tensor &destination,
                                        Sequence &prog, const CommGroup &group,
                                        const DebugContext &debugContext,
                                        const OptionFlags &options) {
  allGatherToDestinationCrossReplica(graph, Tensors{data}, Tensors{destination},
                                     prog, group, debugContext, options);
}

void allGatherToDestinationCrossReplica(Graph &graph, const Tensor &data,
                                        const Tensor &destination,
                                        Sequence &prog,
                                        const DebugContext &debugContext,
                                        const OptionFlags &options) {
  allGatherToDestinationCrossReplica(graph, data, destination, prog,
                                     allReplicas, debugContext, options);
}

Tensors allToAllCrossReplica(Graph &graph, const Tensors &datas, Sequence &prog,
                             const CommGroup &group,
                             const DebugContext &debugContext,
                             const OptionFlags &options) {
  return internal::runToNew({graph, "allToAllCrossReplica",
                             CollectiveKind::AllToAll, noOperator, prog, group,
                             debugContext, options},
                            datas);
}

Tensors allToAllCrossReplica(Graph &graph, const Tensors &datas, Sequence &prog,
                             const DebugContext &debugContext,
                             const OptionFlags &options) {
  return allToAllCrossReplica(graph, datas, prog, allReplicas, debugContext,
                              options);
}

Tensor allToAllCrossReplica(Graph &graph, const Tensor &data, Sequence &prog,
                            const CommGroup &group,
                            const DebugContext &debugContext,
                            const OptionFlags &options) {
  return allToAllCrossReplica(graph, Tensors{data}, prog, group, debugContext,
                              options)
      .front();
}

Tensor allToAllCrossReplica(Graph &graph, const Tensor &data, Sequence &prog,
                            const DebugContext &debugContext,
                            const OptionFlags &options) {
  return allToAllCrossReplica(graph, data, prog, allReplicas, debugContext,
                              options);
}

Tensors broadcastCrossReplica(Graph &graph, const Tensors &datas,
                              Sequence &prog, const CommGroup &group,
                              unsigned rootReplica,
                              const DebugContext &debugContext,
                              const OptionFlags &options) {
  return internal::runToNew({graph, "broadcastCrossReplica",
                             CollectiveKind::Broadcast, noOperator, prog, group,
                             debugContext, options, rootReplica},
                            datas);
}

Tensors broadcastCrossReplica(Graph &graph, const Tensors &datas,
                              Sequence &prog, unsigned rootReplica,
                              const DebugContext &debugContext,
                              const OptionFlags &options) {
  return broadcastCrossReplica(graph, datas, prog, allReplicas, rootReplica,
                               debugContext, options);
}

Tensor broadcastCrossReplica(Graph &graph, const Tensor &data, Sequence &prog,
                             const CommGroup &group, unsigned rootReplica,
                             const DebugContext &debugContext,
                             const OptionFlags &options) {
  return broadcastCrossReplica(graph, Tensors{data}, prog, group, rootReplica,
                               debugContext, options)
      .front();
}

Tensor broadcastCrossReplica(Graph &graph, const Tensor &data, Sequence &prog,
                             unsigned rootReplica,
                             const DebugContext &debugContext,
                             const OptionFlags &options) {
  return broadcastCrossReplica(graph, data, prog, allReplicas, rootReplica,
                               debugContext, options);
}

} // namespace gcl
