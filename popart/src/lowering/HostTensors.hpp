// The tensors that come from the host or go to it: weights, constants, inputs
// and anchors, and the streams that carry them.
#pragma once

#include <lowering/LoweringContext.hpp>
#include <popart/ir.hpp>

#include <poplar/DataStream.hpp>
#include <poplar/Program.hpp>

#include <vector>

namespace popart {

// How a program moves inputs and anchors whose tile set is IO: as all others;
// through the I/O tiles, just in time; or through them and as their strategies
// say. Value programs do the first, pipelines never the last.
enum class HostExchange { Direct, ThroughIoTiles, Overlapped };

// An input and where it enters.
struct InputStream {
  TensorId id;
  PipelineStage stage = unusedPipelineStage;
  bool isBroadcast = false; // the same for all replicas
  // OverlapInnerLoop, OverlapLoops: the I/O tiles load a micro-batch while the
  // one before it is computed.
  ExchangeStrategy strategy = ExchangeStrategy::JustInTime;
  poplar::program::Program load; // to the I/O tiles, where it overlaps
  poplar::program::Program copy; // to its tensor, once per micro-batch
};

// An anchor and when it leaves.
struct AnchorStream {
  TensorId id;
  PipelineStage stage = unusedPipelineStage;
  AnchorReturnType type;
  // Sum, and Final where replicas take turns: collected in every micro-batch,
  // from nothing at the start of the step.
  bool isCollected = false;
  poplar::program::Program reset;
  poplar::program::Program add;
  // As for inputs: the I/O tiles store a micro-batch's while the next one is
  // computed.
  ExchangeStrategy strategy = ExchangeStrategy::JustInTime;
  poplar::program::Program copy;  // to the stream, or to the I/O tiles
  poplar::program::Program store; // from there, where it overlaps
};

// Stream handles and host access handles are the tensors' ids; an anchor's
// stream is "anchor:" and its id, because an input may be an anchor too.
std::string anchorHandle(const TensorId &id);

// A constant by the tensor's own name.
void addConstant(LoweringContext &context, const Tensor &tensor, VGraphId ipu);
// The constants of a subgraph.
void addConstants(LoweringContext &context, const Graph &graph, VGraphId ipu);

// Creates constants, variables with their initial values and host access, and
// input tensors. Weights that cannot change are constants.
std::vector<InputStream> addHostTensors(LoweringContext &context, const Ir &ir,
                                        const Graph &graph,
                                        HostExchange exchange);

// Once all operations are lowered. Anchors are named by the model's graph.
// `replicas` are those that run their micro-batches in turn.
std::vector<AnchorStream> addAnchors(LoweringContext &context, const Ir &ir,
                                     const Graph &graph, std::int64_t replicas,
                                     HostExchange exchange);

// Whether an anchor leaves with a micro-batch, which is counted from the start
// of the step, over batches and accumulation.
bool isReturned(const AnchorStream &anchor, std::int64_t microBatch);
// What a micro-batch returns from one stage.
void addReturns(poplar::program::Sequence &program,
                const std::vector<AnchorStream> &anchors, PipelineStage stage,
                std::int64_t microBatch);

} // namespace popart
