// Tensors in the host's memory, one buffer for each by its name, read and
// written where they are used. Only the machine program has these.
#include <ops/Common.hpp>
#include <ops/List.hpp>

#include <lowering/LoweringContext.hpp>

namespace popart {
namespace {

std::vector<TensorInfo> inferLoad(const Op &op) {
  requireInputCount(op, 0, 0);
  return {TensorInfo(static_cast<DataType>(op.attributes.getInt("type", 0)),
                     op.attributes.getInts("shape", {}))};
}

// Tiles for transfers stand between the buffer and those that compute.
bool usesIoTiles(const LoweringContext &context, const Op &op) {
  return context.options().numIOTiles > 0 &&
         op.attributes.getInt("tileSet", 0) ==
             static_cast<Attributes::Int>(TileSet::IO);
}

void lowerLoad(LoweringContext &context, const Op &op) {
  using poplar::program::Copy;
  const TensorInfo &info = op.outInfo(0);
  VGraphId ipu = op.settings.vgraphId;
  bool usesIo = usesIoTiles(context, op);
  poplar::Tensor tensor = context.addVariable(
      info, ipu, op.outputs[0], usesIo ? TileSet::IO : TileSet::Compute);
  context.program().add(
      Copy(context.remoteBuffer(op.attributes.getString("buffer", ""), info),
           tensor.flatten(), context.debugPath()));
  if (usesIo) {
    poplar::Tensor loaded = tensor;
    tensor = context.addVariable(info, ipu, op.outputs[0]);
    context.program().add(Copy(loaded, tensor, false, context.debugPath()));
  }
  context.setOut(0, tensor);
}

std::vector<TensorInfo> inferStore(const Op &op) {
  requireInputCount(op, 1, 1);
  return {};
}

void lowerStore(LoweringContext &context, const Op &op) {
  using poplar::program::Copy;
  const TensorInfo &info = op.inInfo(0);
  poplar::Tensor tensor = context.in(0);
  if (usesIoTiles(context, op)) {
    poplar::Tensor copy = context.addVariable(
        info, op.settings.vgraphId, op.inputs[0] + "/io", TileSet::IO);
    context.program().add(Copy(tensor, copy, false, context.debugPath()));
    tensor = copy;
  }
  context.program().add(
      Copy(tensor.flatten(),
           context.remoteBuffer(op.attributes.getString("buffer", ""), info),
           context.debugPath()));
}

} // namespace

std::vector<OpRule> remoteRules() {
  return {{.domain = "aspen",
           .type = "RemoteLoad",
           .infer = inferLoad,
           .lower = lowerLoad},
          {.domain = "aspen",
           .type = "RemoteStore",
           .infer = inferStore,
           .lower = lowerStore}};
}

} // namespace popart
