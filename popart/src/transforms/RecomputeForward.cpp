// Forward operations repeated for the backward pass. A repeated operation reads
// repeated inputs, down to the tensors that are kept: the checkpoints.
#include <transforms/Passes.hpp>

#include <autodiff/Autodiff.hpp>
#include <ir/GraphEditor.hpp>
#include <transforms/ChooseCheckpoints.hpp>

#include <set>
#include <utility>

namespace popart {
namespace {

class Recomputer {
public:
  Recomputer(PassContext &context, std::set<const Op *> recomputed)
      : graph_(context.graph), editor_(context.graph),
        recomputed_(std::move(recomputed)),
        lastStage_(lastForwardStage(context.graph)) {}

  void run() {
    std::vector<Op *> ops;
    for (const auto &op : graph_.getOps()) {
      ops.push_back(op.get());
    }
    for (Op *op : ops) {
      if (!op->settings.isBackward) {
        continue;
      }
      for (std::size_t i = 0; i < op->inputs.size(); ++i) {
        TensorId repeated = repeat(op->inputs[i], *op);
        if (repeated != op->inputs[i]) {
          editor_.replaceInput(*op, static_cast<InIndex>(i), repeated);
        }
      }
    }
  }

private:
  // The tensor to read instead of `id` in the backward pass, made just before
  // its first reader there.
  TensorId repeat(const TensorId &id, Op &reader) {
    const Op *producer = id.empty() ? nullptr : graph_.getTensor(id).producer;
    if (!producer || recomputed_.count(producer) == 0 ||
        !isOwn(*producer, reader)) {
      return id;
    }
    auto found = repeated_.find(id);
    if (found != repeated_.end()) {
      return found->second;
    }
    std::vector<TensorId> inputs;
    for (const TensorId &input : producer->inputs) {
      inputs.push_back(repeat(input, reader));
    }
    std::unique_ptr<Op> repeated = producer->clone();
    repeated->settings.isBackward = true;
    repeated->settings.pipelineStage = reader.settings.pipelineStage;
    repeated->settings.executionPhase = reader.settings.executionPhase;
    repeated->settings.name += "/recomputed";
    std::vector<TensorId> outputs;
    for (const TensorId &output : producer->outputs) {
      outputs.push_back(output + "/recomputed");
    }
    Op &copy =
        editor_.insertBefore(&reader, std::move(repeated), inputs, outputs);
    for (std::size_t i = 0; i < producer->outputs.size(); ++i) {
      repeated_[producer->outputs[i]] = copy.outputs[i];
    }
    return repeated_.at(id);
  }

  // A stage repeats its own forward operations only; what it got from other
  // stages or IPUs it keeps.
  bool isOwn(const Op &producer, const Op &reader) const {
    return producer.settings.vgraphId == reader.settings.vgraphId &&
           (lastStage_ == unusedPipelineStage ||
            producer.settings.pipelineStage ==
                2 * lastStage_ - reader.settings.pipelineStage);
  }

  Graph &graph_;
  GraphEditor editor_;
  std::set<const Op *> recomputed_;
  PipelineStage lastStage_;
  std::map<TensorId, TensorId> repeated_;
};

} // namespace

void recomputeForward(PassContext &context) {
  std::set<const Op *> recomputed = chooseRecomputed(context);
  if (!recomputed.empty()) {
    Recomputer(context, std::move(recomputed)).run();
  }
}

} // namespace popart
