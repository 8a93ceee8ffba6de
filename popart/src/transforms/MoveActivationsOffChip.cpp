// Activations that wait long, for the backward pass or for a far phase, wait in
// the host's memory: stored when they are made, loaded where they are read.
#include <transforms/Passes.hpp>

#include <transforms/RemoteTransfers.hpp>
#include <transforms/TensorLocations.hpp>

#include <utility>

namespace popart {
namespace {

class ActivationMover {
public:
  explicit ActivationMover(PassContext &context)
      : ir_(context.ir), graph_(context.graph), transfers_(context.graph) {}

  void run() {
    for (const TensorId &id : graph_.getTensorIds()) {
      const Tensor &tensor = graph_.getTensor(id);
      if (tensor.producer && isNormal(*tensor.producer) &&
          !ir_.dataFlow.isAnchored(id)) {
        move(id);
      }
    }
  }

private:
  static bool isNormal(const Op &op) {
    return op.settings.executionContext == ExecutionContext::Normal;
  }

  bool hasPhases() const {
    return ir_.sessionOptions.executionPhaseSettings.phases > 1;
  }

  // A phase's results stay for the next phase on each IPU.
  bool isFar(const Op &producer, const Op &reader) const {
    if (!isNormal(reader)) {
      return false;
    }
    return hasPhases()
               ? reader.settings.executionPhase -
                         producer.settings.executionPhase >
                     ir_.sessionOptions.executionPhaseSettings.stages
               : reader.settings.isBackward && !producer.settings.isBackward;
  }

  void move(const TensorId &id) {
    const Tensor &tensor = graph_.getTensor(id);
    TensorLocation location = activationLocationOf(ir_, tensor);
    if (!location.isRemote()) {
      return;
    }
    std::vector<Op *> readers = transfers_.readersOf(id);
    std::erase_if(readers,
                  [&](const Op *op) { return !isFar(*tensor.producer, *op); });
    if (readers.empty()) {
      return;
    }
    TensorInfo info = tensor.info;
    transfers_.store(id, id, location.storageTileSet);
    std::map<std::pair<VGraphId, ExecutionPhase>, TensorId> loaded;
    for (Op *reader : readers) {
      TensorId &here =
          loaded[{reader->settings.vgraphId, reader->settings.executionPhase}];
      if (here.empty()) {
        here = transfers_.load(
            id, info, location.loadTileSet, *reader,
            ir_.sessionOptions.executionPhaseSettings.activationIOSchedule);
      }
      transfers_.editor().replaceReads(*reader, id, here);
    }
  }

  const Ir &ir_;
  Graph &graph_;
  RemoteTransfers transfers_;
};

} // namespace

void moveActivationsOffChip(PassContext &context) {
  // In a pipeline they wait in stashes, which are on chip.
  if (!context.ir.sessionOptions.enablePipelining) {
    ActivationMover(context).run();
  }
}

} // namespace popart
