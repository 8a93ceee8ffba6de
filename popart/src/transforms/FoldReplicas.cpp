// The value program has one replica that runs the micro-batches of all, one
// after another: what replicas combine is then a sum over more micro-batches.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <popart/tensornames.hpp>

#include <algorithm>
#include <set>
#include <string>

namespace popart {
namespace {

bool isVariableUpdate(const Op &op) {
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (op.modifiedInput(static_cast<OutIndex>(i)) >= 0) {
      return true;
    }
  }
  return false;
}

bool startsWith(const TensorId &id, const std::string &prefix) {
  return id.rfind(prefix, 0) == 0;
}

class ReplicaFolder {
public:
  explicit ReplicaFolder(PassContext &context)
      : options_(context.ir.sessionOptions), graph_(context.graph),
        editor_(context.graph) {}

  void run() {
    std::vector<Op *> reductions;
    for (const auto &op : graph_.getOps()) {
      if (op->opid.type == "ReplicaReduce") {
        reductions.push_back(op.get());
      }
    }
    for (Op *op : reductions) {
      options_.enableGradientAccumulation ? keepAccumulating(*op)
                                          : accumulate(*op);
    }
    if (!options_.enableGradientAccumulation) {
      delayUpdates();
    }
  }

private:
  // The accumulator has the micro-batches of all replicas already. One that is
  // not cleared for each batch was in the sum once for each replica.
  void keepAccumulating(Op &reduction) {
    TensorId sum = reduction.outputs[0];
    const auto &readers = graph_.getTensor(sum).consumers;
    bool isCleared =
        std::any_of(readers.begin(), readers.end(), [](const Op *op) {
          return op->opid.type == "AccumulatorReset";
        });
    if (!isCleared) {
      TensorId variable = variableOf(graph_, sum);
      Op::Settings settings = reduction.settings;
      settings.executionContext = ExecutionContext::Normal;
      TensorId copies = editor_.uniqueName(variable);
      Op &op = editor_.insertBefore(
          graph_.getOps().front().get(), {"aspen", "SumOfCopies"}, {variable},
          {copies},
          Attributes().set("replicas", options_.getReplicationFactor()),
          settings);
      editor_.replaceReads(variable, copies);
      editor_.replaceInput(op, 0, variable);
    }
    editor_.replaceReads(sum, reduction.inputs[0]);
    editor_.erase(reduction);
  }

  TensorId addZeros(const std::string &stem, const TensorInfo &info) {
    TensorId id = editor_.uniqueName(stem);
    std::vector<char> zeros(static_cast<std::size_t>(info.nbytes()), 0);
    graph_.addVariable(id, info, zeros.data());
    graph_.getTensor(id).variableUpdateType = VariableUpdateType::None;
    return id;
  }

  // Without accumulation: there is some now, over replicas.
  void accumulate(Op &reduction) {
    TensorId gradient = reduction.inputs[0];
    std::vector<TensorId> inputs = {addZeros(reservedAccumPrefix() + gradient,
                                             graph_.getTensor(gradient).info),
                                    gradient};
    std::vector<TensorId> outputs = {""};
    if (reduction.attributes.getInt("mean", 0) != 0) {
      inputs.push_back(addZeros(reservedCounterPrefix() + gradient,
                                TensorInfo(DataType::FLOAT, {})));
      outputs.emplace_back();
    }
    Op &sum = editor_.insertBefore(&reduction, {"aspen", "Accumulate"}, inputs,
                                   outputs, {}, reduction.settings);
    accumulations_.push_back(&sum);
    late_.insert(sum.outputs[0]);
    editor_.replaceReads(reduction.outputs[0], sum.outputs[0]);
    editor_.erase(reduction);
  }

  // Steps are counted without looking at a gradient.
  bool countsUpdates(const Op &op) const {
    return std::any_of(op.inputs.begin(), op.inputs.end(),
                       [](const TensorId &id) {
                         return startsWith(id, reservedStepPrefix());
                       });
  }

  // What reads the sums moves behind the replicas' micro-batches.
  void delayUpdates() {
    std::vector<Op *> order;
    for (const auto &op : graph_.getOps()) {
      bool isLate =
          std::any_of(op->inputs.begin(), op->inputs.end(),
                      [&](const TensorId &id) { return late_.count(id) > 0; });
      if (isLate || countsUpdates(*op)) {
        op->settings.executionContext =
            ExecutionContext::AccumulateOuterFragment;
        late_.insert(op->outputs.begin(), op->outputs.end());
      }
      order.push_back(op.get());
    }
    std::stable_partition(order.begin(), order.end(), [](const Op *op) {
      return op->settings.executionContext == ExecutionContext::Normal;
    });
    editor_.reorder(order);
    for (const Op *sum : accumulations_) {
      Op::Settings settings = sum->settings;
      settings.executionContext = ExecutionContext::AccumulateOuterFragment;
      for (const TensorId &id : std::vector<TensorId>(sum->outputs)) {
        editor_.insertBefore(nullptr, {"aspen", "AccumulatorReset"}, {id}, {},
                             {}, settings);
      }
    }
  }

  const SessionOptions &options_;
  Graph &graph_;
  GraphEditor editor_;
  std::vector<Op *> accumulations_;
  std::set<TensorId> late_; // what the sums decide
};

} // namespace

TensorId variableOf(const Graph &graph, TensorId id) {
  while (const Op *producer = graph.getTensor(id).producer) {
    auto output =
        std::find(producer->outputs.begin(), producer->outputs.end(), id) -
        producer->outputs.begin();
    InIndex input = producer->modifiedInput(static_cast<OutIndex>(output));
    id = producer->inputs.at(static_cast<std::size_t>(input));
  }
  return id;
}

bool canFoldReplicas(const Graph &graph, unsigned replicas) {
  for (const TensorId &id : graph.getTensorIds()) {
    if (graph.getTensor(id).variableSettings.getGroupCount(replicas) > 1) {
      return false;
    }
  }
  // Whatever changes outside of updates differs between replicas, and those
  // that talk to each other in the middle of a micro-batch run side by side.
  return std::all_of(
      graph.getOps().begin(), graph.getOps().end(), [](const auto &op) {
        return (op->opid.domain == "aspen" || !isVariableUpdate(*op)) &&
               !startsWith(op->opid.type, "Replicated");
      });
}

void foldReplicas(PassContext &context) {
  ReplicaFolder(context).run();
}

} // namespace popart
