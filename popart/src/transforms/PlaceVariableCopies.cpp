// Variables that the model itself overwrites in every micro-batch, such as
// running statistics: each is where its readers are, and in a pipeline those
// that come to read the old value too late get a copy of it.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <popart/tensornames.hpp>
#include <transforms/PipelineSchedule.hpp>

#include <algorithm>
#include <optional>

namespace popart {
namespace {

class CopyPlacer {
public:
  explicit CopyPlacer(PassContext &context)
      : graph_(context.graph), editor_(context.graph) {
    if (context.ir.sessionOptions.enablePipelining) {
      schedule_ = pipelineSchedule(context.ir, context.graph);
    }
    for (const auto &op : graph_.getOps()) {
      places_.emplace(op.get(), places_.size());
    }
  }

  void run() {
    std::vector<Op *> copies;
    for (const auto &op : graph_.getOps()) {
      if (op->opid.type == "CopyVarUpdate") {
        copies.push_back(op.get());
      }
    }
    for (Op *copy : copies) {
      std::vector<Op *> readers = readersBefore(*copy);
      if (readers.empty()) {
        continue;
      }
      if (schedule_) {
        keepOldValue(*copy, readers);
      } else {
        copy->settings.vgraphId = readers.front()->settings.vgraphId;
      }
    }
  }

private:
  // Those of the variable as it was, in the order of the schedule.
  std::vector<Op *> readersBefore(const Op &copy) const {
    std::vector<Op *> readers;
    for (Op *op : graph_.getTensor(copy.inputs[0]).consumers) {
      if (op != &copy &&
          op->settings.executionContext == ExecutionContext::Normal) {
        readers.push_back(op);
      }
    }
    std::sort(readers.begin(), readers.end(), [&](const Op *a, const Op *b) {
      return places_.at(a) < places_.at(b);
    });
    return readers;
  }

  // The stages of a cycle run one after another, and while one works on a
  // micro-batch those before it have gone on to the next ones. Who reads in the
  // cycle of the first reader and no later than the copy finds the old value;
  // for all others it is put aside in the first of these stages.
  void keepOldValue(const Op &copy, const std::vector<Op *> &readers) {
    auto stageOf = [](const Op *op) { return op->settings.pipelineStage; };
    const Op *first = &copy;
    for (const Op *reader : readers) {
      first = stageOf(reader) <= stageOf(first) ? reader : first;
    }
    TensorId kept;
    for (Op *reader : readers) {
      bool isInTime = schedule_->independentOf(stageOf(reader)) ==
                          schedule_->independentOf(stageOf(first)) &&
                      stageOf(reader) <= stageOf(&copy);
      if (isInTime) {
        continue;
      }
      if (kept.empty()) {
        kept = keep(copy.inputs[0], *readers.front(), first->settings);
      }
      editor_.replaceReads(*reader, copy.inputs[0], kept);
    }
  }

  TensorId keep(const TensorId &variable, const Op &position,
                Op::Settings settings) {
    settings.name = variable;
    return editor_
        .insertBefore(&position, {"ai.onnx", "Identity"}, {variable},
                      {editor_.uniqueName(variable)}, {}, settings)
        .outputs[0];
  }

  Graph &graph_;
  GraphEditor editor_;
  std::optional<PipelineSchedule> schedule_;
  std::map<const Op *, std::size_t> places_;
};

} // namespace

void placeVariableCopies(PassContext &context) {
  CopyPlacer(context).run();
}

} // namespace popart
