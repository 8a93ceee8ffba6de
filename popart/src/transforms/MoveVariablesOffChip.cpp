// A variable in the host's memory is loaded by each part of the program that
// uses it, and stored by the one that changes it.
#include <transforms/Passes.hpp>

#include <transforms/PipelineSchedule.hpp>
#include <transforms/RemoteTransfers.hpp>
#include <transforms/TensorLocations.hpp>

#include <algorithm>
#include <tuple>

namespace popart {
namespace {

class VariableMover {
public:
  explicit VariableMover(PassContext &context)
      : ir_(context.ir), graph_(context.graph), transfers_(context.graph) {}

  void run() {
    for (const TensorId &id : graph_.getTensorIds()) {
      const Tensor &tensor = graph_.getTensor(id);
      if (!tensor.consumers.empty() && locationOf(ir_, tensor).isRemote()) {
        move(id);
      }
    }
  }

private:
  // What runs together: the micro-batch, or a pipeline stage or phase of it,
  // and what comes once per update.
  using Part = std::tuple<ExecutionContext, PipelineStage, ExecutionPhase>;

  static Part partOf(const Op &op) {
    bool isNormal = op.settings.executionContext == ExecutionContext::Normal;
    return {op.settings.executionContext, op.settings.pipelineStage,
            isNormal ? op.settings.executionPhase : unusedExecutionPhase};
  }

  void move(const TensorId &id) {
    // In a later part the variable is the version that an earlier one stored.
    TensorId version = id;
    while (!version.empty()) {
      version = moveVersion(id, version);
    }
    transfers_.editor().eraseTensor(id);
  }

  // Every part loads for itself what it reads of `version`. Returns the version
  // that another part has to load, if one of them makes a new one.
  TensorId moveVersion(const TensorId &id, const TensorId &version) {
    const TensorLocation location = locationOf(ir_, graph_.getTensor(id));
    TensorId latest;
    std::vector<Op *> readers = readersElsewhere(version);
    while (!readers.empty()) {
      Part part = partOf(*readers.front());
      TensorId loaded = load(id, version, location, *readers.front());
      for (Op *reader : readers) {
        if (partOf(*reader) == part) {
          transfers_.editor().replaceReads(*reader, version, loaded);
        }
      }
      TensorId last = lastVersion(loaded, part);
      if (last != loaded) {
        transfers_.store(id, last, location.storageTileSet);
        latest = last;
      }
      std::erase_if(readers, [&](const Op *op) { return partOf(*op) == part; });
    }
    return latest;
  }

  // A version that was stored a moment ago is not there to be loaded early.
  TensorId load(const TensorId &id, const TensorId &version,
                const TensorLocation &location, const Op &reader) {
    const Tensor &variable = graph_.getTensor(id);
    return transfers_.load(id, variable.info, location.loadTileSet, reader,
                           version == id ? ioScheduleOf(ir_, variable)
                                         : ExecutionPhaseIOSchedule::OnDemand);
  }

  // Of a version that was stored, only those outside of the part that did so.
  std::vector<Op *> readersElsewhere(const TensorId &version) const {
    const Op *producer = graph_.getTensor(version).producer;
    std::vector<Op *> readers = transfers_.readersOf(version);
    std::erase_if(readers, [&](const Op *op) {
      return producer && partOf(*producer) == partOf(*op);
    });
    return readers;
  }

  // What the part's operations, one after another, make of `version`.
  TensorId lastVersion(TensorId version, const Part &part) const {
    for (;;) {
      TensorId next = nextVersion(version, part);
      if (next.empty()) {
        return version;
      }
      version = next;
    }
  }

  TensorId nextVersion(const TensorId &version, const Part &part) const {
    for (const Op *op : graph_.getTensor(version).consumers) {
      for (std::size_t i = 0; i < op->outputs.size(); ++i) {
        InIndex input = op->modifiedInput(static_cast<OutIndex>(i));
        if (partOf(*op) == part && input >= 0 &&
            op->inputs[static_cast<std::size_t>(input)] == version) {
          return op->outputs[i];
        }
      }
    }
    return {};
  }

  const Ir &ir_;
  Graph &graph_;
  RemoteTransfers transfers_;
};

} // namespace

void moveVariablesOffChip(PassContext &context) {
  // Where the engine runs this program, the host has its variables whole.
  if (!runsMachineProgram(context.ir)) {
    VariableMover(context).run();
  }
}

} // namespace popart
