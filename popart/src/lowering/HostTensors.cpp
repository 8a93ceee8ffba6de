// Weights, constants, inputs and anchors in the Poplar graph.
#include <lowering/HostTensors.hpp>

#include <lowering/Types.hpp>
#include <popart/tensornames.hpp>
#include <support/Error.hpp>
#include <transforms/Passes.hpp>

#include <popops/internal/Kinds.hpp>
#include <poputil/internal/Tiles.hpp>

#include <poplar/internal/Access.hpp>

#include <algorithm>

namespace popart {
namespace {

using poplar::program::Copy;
using poplar::program::Sequence;

void setContents(LoweringContext &context, const poplar::Tensor &variable,
                 const Tensor &tensor, bool isConstant) {
  const auto &view = poplar::internal::tensorView(variable);
  if (view.pieces.empty()) {
    return; // no elements
  }
  auto &data = poplar::internal::graphData(context.graph());
  auto &target = data.variables[view.pieces.front().variable.index()];
  std::vector<char> bytes = toDeviceBytes(tensor.info, tensor.data);
  const auto *begin = reinterpret_cast<const std::byte *>(bytes.data());
  target.initialData.assign(begin, begin + bytes.size());
  target.isConstant = isConstant;
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

void addSum(LoweringContext &context, const Tensor &tensor,
            AnchorStream &anchor, poplar::Tensor &source) {
  const std::string_view names[] = {"sum", "x"};
  poplar::Tensor sum = context.addVariable(
      tensor.info, homeOf(tensor), reservedAnchorSumPrefix() + tensor.id);
  Sequence reset;
  popops::internal::fill(context.graph(), sum, 0.0, reset,
                         anchor.id + "/anchorSum");
  Sequence add;
  popops::internal::elementwiseWithOutput(
      context.graph(), kernels::Expression::parse("sum+x", names),
      {sum, source}, sum, add, anchor.id + "/anchorSum");
  anchor.reset = reset;
  anchor.add = add;
  source = sum;
}

bool isReturned(const AnchorStream &anchor, std::int64_t batch) {
  switch (anchor.type.id()) {
  case AnchorReturnTypeId::All:
    return true;
  case AnchorReturnTypeId::EveryN:
    return (batch + 1) % anchor.type.rp() == 0;
  case AnchorReturnTypeId::Sum:
  case AnchorReturnTypeId::Final:
    return false;
  }
  return false;
}

} // namespace

std::string anchorHandle(const TensorId &id) {
  return "anchor:" + id;
}

std::vector<InputStream> addHostTensors(LoweringContext &context, const Ir &ir,
                                        const Graph &graph) {
  std::vector<InputStream> inputs;
  bool isFrozen = !ir.isTraining() && ir.sessionOptions.constantWeights;
  for (const TensorId &id : graph.getTensorIds()) {
    const Tensor &tensor = graph.getTensor(id);
    bool isUnused = tensor.consumers.empty() && !ir.dataFlow.isAnchored(id);
    if (tensor.producer || (isUnused && tensor.type != TensorType::Variable)) {
      continue;
    }
    poplar::Tensor variable =
        context.addVariable(tensor.info, homeOf(tensor), id);
    context.setTensor(id, variable);
    if (tensor.type == TensorType::Stream) {
      auto stream = context.graph().addHostToDeviceFIFO(
          id, variable.elementType(), variable.numElements());
      inputs.push_back({id, stageOf(tensor), Copy(stream, variable)});
      continue;
    }
    bool isConstant = isFrozen || tensor.type == TensorType::Const;
    setContents(context, variable, tensor, isConstant);
    if (!isConstant) {
      context.graph().createHostWrite(id, variable);
      context.graph().createHostRead(id, variable);
    }
  }
  return inputs;
}

std::vector<AnchorStream> addAnchors(LoweringContext &context, const Ir &ir,
                                     const Graph &graph) {
  std::vector<AnchorStream> anchors;
  for (const auto &[id, type] : ir.dataFlow.getAnchorReturnTypeMap()) {
    const Tensor &tensor = graph.getTensor(id);
    AnchorStream anchor;
    anchor.id = id;
    anchor.stage = stageOf(tensor);
    anchor.type = type;
    poplar::Tensor source = context.tensor(id);
    if (type.id() == AnchorReturnTypeId::Sum) {
      addSum(context, tensor, anchor, source);
    }
    auto stream = context.graph().addDeviceToHostFIFO(
        anchorHandle(id), source.elementType(), source.numElements());
    anchor.copy = Copy(source, stream);
    anchors.push_back(anchor);
  }
  return anchors;
}

void addReturns(Sequence &program, const std::vector<AnchorStream> &anchors,
                PipelineStage stage, std::int64_t batch) {
  for (const AnchorStream &anchor : anchors) {
    if (anchor.stage != stage) {
      continue;
    }
    if (anchor.type.id() == AnchorReturnTypeId::Sum) {
      program.add(anchor.add);
    } else if (isReturned(anchor, batch)) {
      program.add(anchor.copy);
    }
  }
}

} // namespace popart
