// The legality rules of a graph.
#include <ir/Verify.hpp>

#include <ops/OpRule.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <set>

namespace popart {
namespace {

class Verifier {
public:
  // `done`: graphs that are called and verified, some more than once.
  Verifier(const Graph &graph, std::set<const Graph *> &done)
      : graph_(graph), done_(done) {}

  void run() {
    for (const TensorId &id : graph_.getTensorIds()) {
      const Tensor &tensor = graph_.getTensor(id);
      require(tensor.id == id, "tensor '{}' is filed under '{}'", tensor.id,
              id);
      if (!tensor.producer) {
        const auto &inputs = graph_.getInputIds();
        require(tensor.type != TensorType::ActGrad ||
                    std::count(inputs.begin(), inputs.end(), id) > 0,
                "nothing produces tensor '{}'", id);
        known_.insert(id);
      }
    }
    for (const auto &op : graph_.getOps()) {
      checkInputs(*op);
      checkOutputs(*op);
      for (const Graph *called : op->getCalledGraphs()) {
        if (done_.insert(called).second) {
          Verifier(*called, done_).run();
        }
      }
    }
    for (const TensorId &id : graph_.getOutputIds()) {
      require(known_.count(id) > 0,
              "graph {} returns '{}', which nothing makes", graph_.id, id);
    }
  }

private:
  template <typename... Args>
  void require(bool condition, fmt::format_string<Args...> message,
               Args &&...args) {
    support::requireInternal(condition, message, std::forward<Args>(args)...);
  }

  void checkInputs(const Op &op) {
    for (const TensorId &id : op.inputs) {
      if (id.empty()) {
        continue;
      }
      require(known_.count(id) > 0, "{} reads '{}' before it is made", op.str(),
              id);
      require(stale_.count(id) == 0,
              "{} reads '{}', which has been updated since", op.str(), id);
      const Tensor &tensor = graph_.getTensor(id);
      auto uses = [&](auto &list, auto *value) {
        return std::count(list.begin(), list.end(), value);
      };
      require(uses(tensor.consumers, &op) ==
                  std::count(op.inputs.begin(), op.inputs.end(), id),
              "{} is not filed as a consumer of '{}'", op.str(), id);
      PipelineStage stage = op.settings.pipelineStage;
      PipelineStage made = tensor.producer
                               ? tensor.producer->settings.pipelineStage
                               : unusedPipelineStage;
      // Updates run when the pipeline has drained, and may meet in any stage.
      bool isInStage = stage != unusedPipelineStage &&
                       op.settings.executionContext == ExecutionContext::Normal;
      require(made <= stage || !isInStage,
              "{} in stage {} reads '{}' of stage {}", op.str(), stage, id,
              made);
    }
  }

  void checkOutputs(const Op &op) {
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      const TensorId &id = op.outputs[i];
      require(graph_.getTensor(id).producer == &op,
              "'{}' is not filed as made by {}", id, op.str());
      require(known_.insert(id).second, "'{}' is made twice", id);
      InIndex modified = op.modifiedInput(static_cast<OutIndex>(i));
      if (modified >= 0) {
        stale_.insert(op.inputs.at(static_cast<std::size_t>(modified)));
      }
    }
  }

  const Graph &graph_;
  std::set<const Graph *> &done_;
  std::set<TensorId> known_;
  std::set<TensorId> stale_;
};

} // namespace

void verifyGraph(const Graph &graph) {
  std::set<const Graph *> done;
  Verifier(graph, done).run();
}

} // namespace popart
