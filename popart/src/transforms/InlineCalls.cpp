// Calls give way to copies of what they call: the value program is the same,
// and gradients and placement need not look into other graphs.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <popart/ir.hpp>

#include <set>

namespace popart {
namespace {

class Inliner {
public:
  explicit Inliner(Graph &graph) : graph_(graph), editor_(graph) {}

  // What is called may call again.
  void run() {
    for (auto calls = findCalls(); !calls.empty(); calls = findCalls()) {
      for (Op *call : calls) {
        inlineCall(*call);
      }
    }
  }

private:
  std::vector<Op *> findCalls() const {
    std::vector<Op *> calls;
    for (const auto &op : graph_.getOps()) {
      if (op->opid.domain == "ai.graphcore" && op->opid.type == "Call") {
        calls.push_back(op.get());
      }
    }
    return calls;
  }

  void inlineCall(Op &call) {
    const Graph &callee = *call.getCalledGraphs().front();
    std::map<TensorId, TensorId> names;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      names[callee.getInputIds().at(i)] = call.inputs[i];
    }
    for (const TensorId &id : callee.getTensorIds()) {
      const Tensor &tensor = callee.getTensor(id);
      if (tensor.type == TensorType::Const) {
        names[id] = graph_.addConstant(nameOf(callee, id), tensor.info,
                                       tensor.data.data());
      }
    }
    for (const auto &op : callee.getOps()) {
      copy(*op, call, callee, names);
    }
    finish(call, callee, names);
  }

  void copy(const Op &op, const Op &call, const Graph &callee,
            std::map<TensorId, TensorId> &names) {
    std::unique_ptr<Op> copied = op.clone();
    Op::Settings &settings = copied->settings;
    settings.name = call.settings.name + "/" + settings.name;
    if (settings.vgraphId == unusedVGraphId) {
      settings.vgraphId = call.settings.vgraphId;
    }
    if (settings.pipelineStage == unusedPipelineStage) {
      settings.pipelineStage = call.settings.pipelineStage;
    }
    if (settings.executionPhase == unusedExecutionPhase) {
      settings.executionPhase = call.settings.executionPhase;
    }
    std::vector<TensorId> inputs;
    for (const TensorId &id : op.inputs) {
      inputs.push_back(id.empty() ? id : names.at(id));
    }
    std::vector<TensorId> outputs;
    for (const TensorId &id : op.outputs) {
      outputs.push_back(names[id] = nameOf(callee, id));
    }
    editor_.insertBefore(&call, std::move(copied), inputs, outputs);
  }

  // Results take the names of the call's outputs.
  void finish(Op &call, const Graph &callee,
              const std::map<TensorId, TensorId> &names) {
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      TensorId output = call.outputs[i];
      TensorId old = editor_.uniqueName("called");
      editor_.renameTensor(output, old);
      editor_.insertBefore(&call, {"ai.onnx", "Identity"},
                           {names.at(callee.getOutputIds().at(i))}, {output},
                           {}, call.settings);
      editor_.replaceReads(old, output);
    }
    editor_.erase(call);
  }

  TensorId nameOf(const Graph &callee, const TensorId &id) {
    return editor_.uniqueName(callee.id + "/" + id);
  }

  Graph &graph_;
  GraphEditor editor_;
};

} // namespace

void inlineCalls(PassContext &context) {
  for (Graph *graph : context.ir.getAllGraphs()) {
    Inliner(*graph).run();
  }
}

} // namespace popart
