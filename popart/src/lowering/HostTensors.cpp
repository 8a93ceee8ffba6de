// Weights, constants, inputs and anchors in the Poplar graph.
#include <lowering/HostTensors.hpp>

#include <lowering/Types.hpp>
#include <lowering/WeightLayout.hpp>
#include <popart/tensornames.hpp>
#include <support/Error.hpp>
#include <transforms/Passes.hpp>

#include <popops/internal/Kinds.hpp>
#include <poputil/internal/Tiles.hpp>

#include <poplar/internal/Access.hpp>

#include <algorithm>
#include <cstring>

namespace popart {
namespace {

using poplar::program::Copy;
using poplar::program::Program;
using poplar::program::Sequence;
using poplar::program::Sync;

void setContents(LoweringContext &context, const poplar::Tensor &variable,
                 const Tensor &tensor, bool isConstant) {
  const auto &view = poplar::internal::tensorView(variable);
  if (view.pieces.empty()) {
    return; // no elements
  }
  auto &data = poplar::internal::graphData(context.graph());
  auto &target = data.variables[view.pieces.front().variable.index()];
  // Groups of replicas whose values differ are written before the first run.
  std::vector<char> first(
      tensor.data.begin(),
      tensor.data.begin() + std::min<std::ptrdiff_t>(tensor.info.nbytes(),
                                                     std::ssize(tensor.data)));
  std::vector<char> bytes = toDeviceBytes(tensor.info, first);
  target.isConstant = isConstant;
  if (bytes.empty()) {
    return; // zeros
  }
  target.initialData.resize(bytes.size());
  // The variable may have them in another order than the tensor.
  const char *from = bytes.data();
  std::size_t size = support::sizeOf(view.type);
  support::requireInternal(bytes.size() ==
                               static_cast<std::size_t>(view.elements()) * size,
                           "{} has {} B of data for {} elements", tensor.id,
                           bytes.size(), view.elements());
  poplar::internal::forEachRun(
      view, [&](auto, std::int64_t begin, std::int64_t count) {
        std::size_t length = static_cast<std::size_t>(count) * size;
        std::memcpy(target.initialData.data() +
                        static_cast<std::size_t>(begin) * size,
                    from, length);
        from += length;
      });
}

// Micro-batches of an input that the host may be ahead.
std::string bufferingDepth(const SessionOptions &options, const TensorId &id) {
  auto own = options.bufferingDepthMap.find(id);
  unsigned depth = own == options.bufferingDepthMap.end()
                       ? options.defaultBufferingDepth
                       : own->second;
  return std::to_string(std::max(1U, depth)); // none is one here
}

// The tiles put a tensor in order, so that the host need not.
Program copyInOrder(LoweringContext &context, const Tensor &tensor,
                    const poplar::Tensor &source,
                    const poplar::DataStream &stream) {
  poplar::Tensor inOrder =
      context.addVariable(tensor.info, homeOf(tensor), tensor.id + "/inOrder");
  return Sequence({Copy(source, inOrder), Copy(inOrder, stream)});
}

PipelineStage stageOf(const Tensor &tensor) {
  if (tensor.producer) {
    return tensor.producer->settings.pipelineStage;
  }
  PipelineStage stage = unusedPipelineStage;
  for (const Op *consumer : tensor.consumers) {
    PipelineStage other = consumer->settings.pipelineStage;
    stage = stage == unusedPipelineStage ? other : std::min(stage, other);
  }
  return stage;
}

bool usesIoTiles(const LoweringContext &context, TileSet tiles,
                 HostExchange exchange) {
  return exchange != HostExchange::Direct && tiles == TileSet::IO &&
         context.options().numIOTiles > 0;
}

// How one is moved that goes through the I/O tiles.
ExchangeStrategy strategyOf(ExchangeStrategy wanted, HostExchange exchange) {
  return exchange == HostExchange::Overlapped ? wanted
                                              : ExchangeStrategy::JustInTime;
}

// Synthetic data is the tiles' own: the machine has none to transfer. The
// engine makes up inputs where the others come from.
bool isSilent(const LoweringContext &context, HostExchange exchange) {
  return exchange != HostExchange::Direct &&
         context.options().syntheticDataMode != SyntheticDataMode::Off;
}

InputStream addInput(LoweringContext &context, const Tensor &tensor,
                     const poplar::Tensor &variable,
                     const InputSettings &settings, HostExchange exchange) {
  InputStream input;
  input.id = tensor.id;
  input.stage = stageOf(tensor);
  input.isBroadcast =
      tensor.replicatedStreamMode == ReplicatedStreamMode::Broadcast;
  if (isSilent(context, exchange)) {
    input.copy = Sequence();
    return input;
  }
  auto stream = context.graph().addHostToDeviceFIFO(
      tensor.id, variable.elementType(), variable.numElements(),
      input.isBroadcast ? poplar::ReplicatedStreamMode::BROADCAST
                        : poplar::ReplicatedStreamMode::REPLICATE,
      {{"bufferingDepth", bufferingDepth(context.options(), tensor.id)}});
  if (!usesIoTiles(context, settings.tileSet(), exchange)) {
    input.copy = Copy(stream, variable);
    return input;
  }
  poplar::Tensor loaded = context.addVariable(tensor.info, homeOf(tensor),
                                              tensor.id + "/io", TileSet::IO);
  input.strategy = strategyOf(settings.exchangeStrategy(), exchange);
  input.load = Copy(stream, loaded);
  input.copy = Copy(loaded, variable);
  if (input.strategy == ExchangeStrategy::JustInTime) {
    // Not before what comes before it.
    input.copy = Sequence(
        {Sync(poplar::SyncType::INTERNAL), input.load, Copy(loaded, variable)});
  }
  return input;
}

// `anchor` has its type. What leaves at the end of the step has nothing to
// overlap with, and what does not leave every time is just in time.
void addTransfer(LoweringContext &context, const Tensor &tensor,
                 const poplar::Tensor &source, const poplar::DataStream &stream,
                 HostExchange exchange, AnchorStream &anchor) {
  if (isSilent(context, exchange)) {
    anchor.copy = Sequence();
    return;
  }
  if (!usesIoTiles(context, anchor.type.tileSet(), exchange)) {
    anchor.copy = context.options().rearrangeAnchorsOnHost
                      ? Program(Copy(source, stream))
                      : copyInOrder(context, tensor, source, stream);
    return;
  }
  poplar::Tensor stored = context.addVariable(tensor.info, homeOf(tensor),
                                              tensor.id + "/io", TileSet::IO);
  anchor.copy = Copy(source, stored);
  anchor.store = Copy(stored, stream);
  if (anchor.type.id() == AnchorReturnTypeId::All) {
    anchor.strategy = strategyOf(anchor.type.exchangeStrategy(), exchange);
  }
  if (anchor.strategy == ExchangeStrategy::JustInTime) {
    anchor.copy = Sequence(
        {Copy(source, stored), anchor.store, Sync(poplar::SyncType::INTERNAL)});
  }
}

// What a step returns at its end: for each replica the last value or the sum of
// all. Replicas take turns, so their slots move on by one each time: the first
// is always that of the replica whose turn it is.
void addSlots(LoweringContext &context, const Tensor &tensor,
              std::int64_t replicas, AnchorStream &anchor,
              std::vector<poplar::Tensor> &slots) {
  const std::string path = anchor.id + "/anchorSum";
  bool isSum = anchor.type.id() == AnchorReturnTypeId::Sum;
  poplar::Tensor source = slots[0];
  slots.clear();
  Sequence reset;
  for (std::int64_t i = 0; i < replicas; ++i) {
    slots.push_back(context.addVariable(tensor.info, homeOf(tensor),
                                        reservedAnchorSumPrefix() + tensor.id));
    popops::internal::fill(context.graph(), slots.back(), 0.0, reset, path);
  }
  Sequence add;
  if (isSum) {
    const std::string_view names[] = {"sum", "x"};
    popops::internal::elementwiseWithOutput(
        context.graph(), kernels::Expression::parse("sum+x", names),
        {slots[0], source}, slots[0], add, path);
    source = slots[0];
  }
  if (replicas > 1) {
    poplar::Tensor latest = context.addVariable(
        tensor.info, homeOf(tensor), reservedAnchorSumPrefix() + tensor.id);
    add.add(Copy(source, latest, false, path));
    for (std::size_t i = 1; i < slots.size(); ++i) {
      add.add(Copy(slots[i], slots[i - 1], false, path));
    }
    add.add(Copy(latest, slots.back(), false, path));
  }
  anchor.reset = reset;
  anchor.add = add;
}

bool isAtEnd(const AnchorReturnType &type) {
  return type.id() == AnchorReturnTypeId::Sum ||
         type.id() == AnchorReturnTypeId::Final;
}

} // namespace

bool isReturned(const AnchorStream &anchor, std::int64_t microBatch) {
  switch (anchor.type.id()) {
  case AnchorReturnTypeId::All:
    return true;
  case AnchorReturnTypeId::EveryN:
    return (microBatch + 1) % anchor.type.rp() == 0;
  case AnchorReturnTypeId::Sum:
  case AnchorReturnTypeId::Final:
    return false;
  }
  return false;
}

std::string anchorHandle(const TensorId &id) {
  return "anchor:" + id;
}

void addConstant(LoweringContext &context, const Tensor &tensor, VGraphId ipu) {
  poplar::Tensor constant = context.addVariable(tensor.info, ipu, tensor.id);
  setContents(context, constant, tensor, true);
  context.setTensor(tensor.id, constant);
}

void addConstants(LoweringContext &context, const Graph &graph, VGraphId ipu) {
  for (const TensorId &id : graph.getTensorIds()) {
    const Tensor &tensor = graph.getTensor(id);
    if (tensor.type == TensorType::Const) {
      addConstant(context, tensor, ipu);
    }
  }
}

std::vector<InputStream> addHostTensors(LoweringContext &context, const Ir &ir,
                                        const Graph &graph,
                                        HostExchange exchange) {
  for (const auto &[id, type] : ir.dataFlow.getAnchorReturnTypeMap()) {
    context.addReturned(id);
  }
  std::vector<InputStream> inputs;
  bool isFrozen = !ir.isTraining() && ir.sessionOptions.constantWeights;
  for (const TensorId &id : graph.getTensorIds()) {
    const Tensor &tensor = graph.getTensor(id);
    bool isUnused = tensor.consumers.empty() && !ir.dataFlow.isAnchored(id);
    if (tensor.producer || (isUnused && tensor.type != TensorType::Variable)) {
      continue;
    }
    // The engine has layouts of its own and is asked for none.
    bool isLaidOut =
        exchange != HostExchange::Direct && tensor.type != TensorType::Stream;
    poplar::Tensor variable =
        isLaidOut ? addWeight(context, tensor)
                  : context.addVariable(tensor.info, homeOf(tensor), id);
    context.setTensor(id, variable);
    if (tensor.type == TensorType::Stream) {
      auto settings = ir.inputSettings.find(id);
      inputs.push_back(addInput(context, tensor, variable,
                                settings == ir.inputSettings.end()
                                    ? InputSettings()
                                    : settings->second,
                                exchange));
      continue;
    }
    bool isShared = tensor.variableSettings.getGroupCount(static_cast<unsigned>(
                        ir.sessionOptions.getGlobalReplicationFactor())) == 1;
    bool isWeight = tensor.variableUpdateType == VariableUpdateType::Gradient;
    bool isConstant =
        (isFrozen && isShared && isWeight) || tensor.type == TensorType::Const;
    // The model's graph has the contents of variables (GraphEditor::copyFrom),
    // and the session writes those that may change when the engine is loaded.
    bool isOfModel = ir.getMainGraph().hasTensor(id);
    if (isConstant || !isOfModel || (isFrozen && isShared)) {
      setContents(context, variable,
                  isOfModel ? ir.getMainGraph().getTensor(id) : tensor,
                  isConstant);
    }
    if (!isConstant) {
      context.addStored(variable);
      context.graph().createHostWrite(id, variable);
      context.graph().createHostRead(id, variable);
    }
  }
  return inputs;
}

std::vector<AnchorStream> addAnchors(LoweringContext &context, const Ir &ir,
                                     const Graph &graph, std::int64_t replicas,
                                     HostExchange exchange) {
  std::vector<AnchorStream> anchors;
  for (const auto &[id, type] : ir.dataFlow.getAnchorReturnTypeMap()) {
    const Tensor &tensor = graph.getTensor(id);
    AnchorStream anchor;
    anchor.id = id;
    anchor.stage = stageOf(tensor);
    anchor.type = type;
    std::vector<poplar::Tensor> sources = {context.tensor(id)};
    if (type.id() == AnchorReturnTypeId::Sum ||
        (isAtEnd(type) && replicas > 1)) {
      anchor.isCollected = true;
      addSlots(context, tensor, replicas, anchor, sources);
    }
    auto stream = context.graph().addDeviceToHostFIFO(
        anchorHandle(id), sources[0].elementType(), sources[0].numElements());
    Sequence copy;
    for (const poplar::Tensor &source : sources) {
      addTransfer(context, tensor, source, stream, exchange, anchor);
      copy.add(anchor.copy);
    }
    anchor.copy = copy;
    anchors.push_back(anchor);
  }
  return anchors;
}

void addReturns(Sequence &program, const std::vector<AnchorStream> &anchors,
                PipelineStage stage, std::int64_t microBatch) {
  for (const AnchorStream &anchor : anchors) {
    if (anchor.stage != stage) {
      continue;
    }
    if (anchor.isCollected) {
      program.add(anchor.add);
    } else if (isReturned(anchor, microBatch)) {
      program.add(anchor.copy);
    }
  }
}

} // namespace popart
