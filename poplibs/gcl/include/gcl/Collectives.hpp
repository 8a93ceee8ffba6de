// Collectives: replicas, or the IPUs of one replica, combine tensors and share
// the result.
//
// Options of all functions: "method", which way data goes round the ring of
// IPUs (auto, clockwise_ring, anticlockwise_ring, bidirectional_ring_pair,
// meet_in_middle_ring, quad_directional_ring); it decides about costs only.
// "useReplicatedImplementation", "useSynclessCollectives" and
// "maxBytesPerTile" are taken and change nothing.
#pragma once

#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <vector>

namespace gcl {

enum class CollectiveOperator {
  ADD,
  MEAN,
  MUL,
  MIN,
  MAX,
  LOGICAL_AND, // BOOL
  LOGICAL_OR,  // BOOL
  SQUARE_ADD,
  LOCAL // each replica keeps its own value
};

enum class CommGroupType {
  ALL,         // one group of all replicas
  CONSECUTIVE, // 0 .. k - 1, k .. 2 k - 1, ...
  ORTHOGONAL   // r, r + N / k, r + 2 N / k, ... of N replicas
};

// How replicas are grouped. Members of a group are `stride` apart; 0 stands for
// 1, or what ORTHOGONAL asks for.
class CommGroup {
public:
  CommGroup() = default;
  CommGroup(CommGroupType type, unsigned groupSize, unsigned stride = 0)
      : type_(type), size_(groupSize), stride_(stride) {}

  CommGroupType type() const { return type_; }
  unsigned size() const { return size_; }
  unsigned stride() const { return stride_; }

private:
  CommGroupType type_ = CommGroupType::ALL;
  unsigned size_ = 0;
  unsigned stride_ = 0;
};

// ---- Between replicas. Every function has forms for all replicas and for
// groups, for a tensor and for several (which travel together).

// The combination of the group's tensors, on each member.
poplar::Tensor
allReduceCrossReplica(poplar::Graph &graph, const poplar::Tensor &data,
                      CollectiveOperator op, poplar::program::Sequence &prog,
                      const CommGroup &group,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {});
poplar::Tensor
allReduceCrossReplica(poplar::Graph &graph, const poplar::Tensor &data,
                      CollectiveOperator op, poplar::program::Sequence &prog,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {});
std::vector<poplar::Tensor> allReduceCrossReplica(
    poplar::Graph &graph, const std::vector<poplar::Tensor> &datas,
    CollectiveOperator op, poplar::program::Sequence &prog,
    const CommGroup &group, const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});
std::vector<poplar::Tensor>
allReduceCrossReplica(poplar::Graph &graph,
                      const std::vector<poplar::Tensor> &datas,
                      CollectiveOperator op, poplar::program::Sequence &prog,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {});

// The same into tensors that are there already.
void allReduceToDestinationCrossReplica(
    poplar::Graph &graph, const poplar::Tensor &data,
    const poplar::Tensor &destination, CollectiveOperator op,
    poplar::program::Sequence &prog, const CommGroup &group,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});
void allReduceToDestinationCrossReplica(
    poplar::Graph &graph, const poplar::Tensor &data,
    const poplar::Tensor &destination, CollectiveOperator op,
    poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});
void allReduceToDestinationCrossReplica(
    poplar::Graph &graph, const std::vector<poplar::Tensor> &datas,
    const std::vector<poplar::Tensor> &destinations, CollectiveOperator op,
    poplar::program::Sequence &prog, const CommGroup &group,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});
void allReduceToDestinationCrossReplica(
    poplar::Graph &graph, const std::vector<poplar::Tensor> &datas,
    const std::vector<poplar::Tensor> &destinations, CollectiveOperator op,
    poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});

void allReduceInPlaceCrossReplica(poplar::Graph &graph,
                                  const poplar::Tensor &data,
                                  CollectiveOperator op,
                                  poplar::program::Sequence &prog,
                                  const CommGroup &group,
                                  const poplar::DebugContext &debugContext = {},
                                  const poplar::OptionFlags &options = {});
void allReduceInPlaceCrossReplica(poplar::Graph &graph,
                                  const poplar::Tensor &data,
                                  CollectiveOperator op,
                                  poplar::program::Sequence &prog,
                                  const poplar::DebugContext &debugContext = {},
                                  const poplar::OptionFlags &options = {});
void allReduceInPlaceCrossReplica(poplar::Graph &graph,
                                  const std::vector<poplar::Tensor> &datas,
                                  CollectiveOperator op,
                                  poplar::program::Sequence &prog,
                                  const CommGroup &group,
                                  const poplar::DebugContext &debugContext = {},
                                  const poplar::OptionFlags &options = {});
void allReduceInPlaceCrossReplica(poplar::Graph &graph,
                                  const std::vector<poplar::Tensor> &datas,
                                  CollectiveOperator op,
                                  poplar::program::Sequence &prog,
                                  const poplar::DebugContext &debugContext = {},
                                  const poplar::OptionFlags &options = {});

// Part i of the combination on member i: of n elements (rank 1) in a group of
// k, n / k rounded up; what is missing at the end is zero.
poplar::Tensor reduceScatterCrossReplica(
    poplar::Graph &graph, const poplar::Tensor &data, CollectiveOperator op,
    poplar::program::Sequence &prog, const CommGroup &group,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});
poplar::Tensor
reduceScatterCrossReplica(poplar::Graph &graph, const poplar::Tensor &data,
                          CollectiveOperator op,
                          poplar::program::Sequence &prog,
                          const poplar::DebugContext &debugContext = {},
                          const poplar::OptionFlags &options = {});
std::vector<poplar::Tensor> reduceScatterCrossReplica(
    poplar::Graph &graph, const std::vector<poplar::Tensor> &datas,
    CollectiveOperator op, poplar::program::Sequence &prog,
    const CommGroup &group, const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});
std::vector<poplar::Tensor> reduceScatterCrossReplica(
    poplar::Graph &graph, const std::vector<poplar::Tensor> &datas,
    CollectiveOperator op, poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});

void reduceScatterToDestinationCrossReplica(
    poplar::Graph &graph, const poplar::Tensor &data,
    const poplar::Tensor &destination, CollectiveOperator op,
    poplar::program::Sequence &prog, const CommGroup &group,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});
void reduceScatterToDestinationCrossReplica(
    poplar::Graph &graph, const poplar::Tensor &data,
    const poplar::Tensor &destination, CollectiveOperator op,
    poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});
void reduceScatterToDestinationCrossReplica(
    poplar::Graph &graph, const std::vector<poplar::Tensor> &datas,
    const std::vector<poplar::Tensor> &destinations, CollectiveOperator op,
    poplar::program::Sequence &prog, const CommGroup &group,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});

void reduceScatterToDestinationCrossReplica(
    poplar::Graph &graph, const std::vector<poplar::Tensor> &datas,
    const std::vector<poplar::Tensor> &destinations, CollectiveOperator op,
    poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});

// All tensors of the group, in a new first dimension, on each member.
poplar::Tensor
allGatherCrossReplica(poplar::Graph &graph, const poplar::Tensor &data,
                      poplar::program::Sequence &prog, const CommGroup &group,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {});
poplar::Tensor
allGatherCrossReplica(poplar::Graph &graph, const poplar::Tensor &data,
                      poplar::program::Sequence &prog,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {});
std::vector<poplar::Tensor>
allGatherCrossReplica(poplar::Graph &graph,
                      const std::vector<poplar::Tensor> &datas,
                      poplar::program::Sequence &prog, const CommGroup &group,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {});
std::vector<poplar::Tensor>
allGatherCrossReplica(poplar::Graph &graph,
                      const std::vector<poplar::Tensor> &datas,
                      poplar::program::Sequence &prog,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {});

void allGatherToDestinationCrossReplica(
    poplar::Graph &graph, const poplar::Tensor &data,
    const poplar::Tensor &destination, poplar::program::Sequence &prog,
    const CommGroup &group, const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});
void allGatherToDestinationCrossReplica(
    poplar::Graph &graph, const poplar::Tensor &data,
    const poplar::Tensor &destination, poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});

void allGatherToDestinationCrossReplica(
    poplar::Graph &graph, const std::vector<poplar::Tensor> &datas,
    const std::vector<poplar::Tensor> &destinations,
    poplar::program::Sequence &prog, const CommGroup &group,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});
void allGatherToDestinationCrossReplica(
    poplar::Graph &graph, const std::vector<poplar::Tensor> &datas,
    const std::vector<poplar::Tensor> &destinations,
    poplar::program::Sequence &prog,
    const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});

// Row i of member j becomes row j of member i; the first dimension is the size
// of the group.
poplar::Tensor
allToAllCrossReplica(poplar::Graph &graph, const poplar::Tensor &data,
                     poplar::program::Sequence &prog, const CommGroup &group,
                     const poplar::DebugContext &debugContext = {},
                     const poplar::OptionFlags &options = {});
poplar::Tensor
allToAllCrossReplica(poplar::Graph &graph, const poplar::Tensor &data,
                     poplar::program::Sequence &prog,
                     const poplar::DebugContext &debugContext = {},
                     const poplar::OptionFlags &options = {});

std::vector<poplar::Tensor>
allToAllCrossReplica(poplar::Graph &graph,
                     const std::vector<poplar::Tensor> &datas,
                     poplar::program::Sequence &prog, const CommGroup &group,
                     const poplar::DebugContext &debugContext = {},
                     const poplar::OptionFlags &options = {});
std::vector<poplar::Tensor>
allToAllCrossReplica(poplar::Graph &graph,
                     const std::vector<poplar::Tensor> &datas,
                     poplar::program::Sequence &prog,
                     const poplar::DebugContext &debugContext = {},
                     const poplar::OptionFlags &options = {});

// The tensor of the group's member `rootReplica`, on each member.
poplar::Tensor
broadcastCrossReplica(poplar::Graph &graph, const poplar::Tensor &data,
                      poplar::program::Sequence &prog, const CommGroup &group,
                      unsigned rootReplica = 0,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {});
poplar::Tensor
broadcastCrossReplica(poplar::Graph &graph, const poplar::Tensor &data,
                      poplar::program::Sequence &prog, unsigned rootReplica = 0,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {});

std::vector<poplar::Tensor> broadcastCrossReplica(
    poplar::Graph &graph, const std::vector<poplar::Tensor> &datas,
    poplar::program::Sequence &prog, const CommGroup &group,
    unsigned rootReplica = 0, const poplar::DebugContext &debugContext = {},
    const poplar::OptionFlags &options = {});
std::vector<poplar::Tensor>
broadcastCrossReplica(poplar::Graph &graph,
                      const std::vector<poplar::Tensor> &datas,
                      poplar::program::Sequence &prog, unsigned rootReplica = 0,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {});

// ---- Between the IPUs of one replica. The first dimension of a tensor is the
// IPU, on which its row lies.

// A part of a combination, on one IPU.
struct Chunk {
  poplar::Tensor tensor;
  unsigned index = 0;  // the IPU
  unsigned offset = 0; // of its first element in the whole

  Chunk() = default;
  Chunk(const poplar::Tensor &tensor, unsigned index, unsigned offset)
      : tensor(tensor), index(index), offset(offset) {}
};

// All parts of a combination.
class Chunks {
public:
  Chunks() = default;
  Chunks(std::vector<Chunk> chunks, const poplar::Tensor &originalInput)
      : chunks_(std::move(chunks)), originalInput_(originalInput) {}

  const std::vector<Chunk> &getChunks() const { return chunks_; }
  // What the parts are made of; a gathered tensor lies as it does.
  const poplar::Tensor &getOriginalInput() const { return originalInput_; }

private:
  std::vector<Chunk> chunks_;
  poplar::Tensor originalInput_;
};

// The combination of the rows, in every row of the result.
poplar::Tensor
allReduceWithinReplica(poplar::Graph &graph, const poplar::Tensor &toReduce,
                       CollectiveOperator op, poplar::program::Sequence &prog,
                       const poplar::DebugContext &debugContext = {},
                       const poplar::OptionFlags &options = {});

// The same in parts, one on each IPU.
Chunks reduceScatterWithinReplica(poplar::Graph &graph,
                                  const poplar::Tensor &toReduce,
                                  CollectiveOperator op,
                                  poplar::program::Sequence &prog,
                                  const poplar::DebugContext &debugContext = {},
                                  const poplar::OptionFlags &options = {});

// The whole of the parts, in every row of the result.
poplar::Tensor
allGatherWithinReplica(poplar::Graph &graph, const Chunks &toGather,
                       poplar::program::Sequence &prog,
                       const poplar::DebugContext &debugContext = {},
                       const poplar::OptionFlags &options = {});

} // namespace gcl

namespace popops {

// Where older programs look for it.
using gcl::CollectiveOperator;

} // namespace popops
