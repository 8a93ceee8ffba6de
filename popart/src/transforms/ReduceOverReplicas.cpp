// Replicas have the same weights because they make the same update: gradients,
// or accumulators once per update, are combined over replicas before it.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <popart/tensornames.hpp>

#include <algorithm>

namespace popart {
namespace {

bool isOuter(const Op &op) {
  return op.settings.executionContext != ExecutionContext::Normal;
}

class ReduceInserter {
public:
  explicit ReduceInserter(PassContext &context)
      : options_(context.ir.sessionOptions), graph_(context.graph),
        editor_(context.graph) {}

  void run() {
    for (const TensorId &id : graph_.getTensorIds()) {
      const Tensor &tensor = graph_.getTensor(id);
      bool isSummed =
          options_.enableGradientAccumulation
              ? isAccumulated(tensor)
              : isGradientOfWeight(tensor) || isGradientCount(tensor);
      // A replica that shares its weight with none has its gradient.
      if (isSummed && groupingOf(tensor).getGroupSize() > 1) {
        reduce(tensor);
      }
    }
  }

private:
  // What micro-batches leave in a variable for the update to read. Clearing is
  // not reading: counters of micro-batches are the same in all replicas.
  bool isAccumulated(const Tensor &tensor) const {
    if (!tensor.producer || isOuter(*tensor.producer)) {
      return false;
    }
    const auto &outputs = tensor.producer->outputs;
    auto index =
        std::find(outputs.begin(), outputs.end(), tensor.id) - outputs.begin();
    return tensor.producer->modifiedInput(static_cast<OutIndex>(index)) >= 0 &&
           std::any_of(tensor.consumers.begin(), tensor.consumers.end(),
                       [](const Op *op) {
                         return isOuter(*op) &&
                                op->opid.type != "AccumulatorReset";
                       });
  }

  bool isGradientOfWeight(const Tensor &tensor) const {
    const std::string prefix = reservedGradientPrefix();
    if (tensor.id.rfind(prefix, 0) != 0 || !tensor.producer) {
      return false;
    }
    TensorId weight = tensor.id.substr(prefix.size());
    return graph_.hasTensor(weight) &&
           graph_.getTensor(weight).type == TensorType::Variable &&
           !tensor.consumers.empty();
  }

  static bool isGradientCount(const Tensor &tensor) {
    return tensor.producer &&
           tensor.id.rfind(reservedGradientCountPrefix(), 0) == 0;
  }

  // The replicas that share the weight.
  ReplicaGrouping groupingOf(const Tensor &tensor) const {
    auto replicas =
        static_cast<unsigned>(options_.getGlobalReplicationFactor());
    if (!options_.enableGradientAccumulation && isGradientCount(tensor)) {
      return ReplicaGrouping(replicas);
    }
    const Tensor &owner = graph_.getTensor(
        options_.enableGradientAccumulation
            ? variableOf(graph_, tensor.id)
            : tensor.id.substr(std::string(reservedGradientPrefix()).size()));
    return owner.variableSettings.getReplicaGrouping(replicas);
  }

  // Otherwise the update divides. A velocity is always a sum: it has been part
  // of itself in every replica.
  bool isRunningMean(const Tensor &tensor) const {
    const Op &producer = *tensor.producer;
    if (isGradientCount(tensor)) {
      return false;
    }
    bool hasCounter =
        producer.opid.type == "Accumulate" && producer.hasInput(2);
    return options_.accumulationAndReplicationReductionType ==
               ReductionType::Mean &&
           options_.meanAccumulationAndReplicationReductionStrategy ==
               MeanReductionStrategy::Running &&
           (hasCounter || !options_.enableGradientAccumulation);
  }

  // An accumulator after the last micro-batch, a gradient as soon as it is
  // there, while the machine goes on with the backward pass.
  void reduce(const Tensor &tensor) {
    std::vector<Op *> readers = tensor.consumers;
    bool accumulates = options_.enableGradientAccumulation;
    if (accumulates) {
      std::erase_if(readers, [](const Op *op) { return !isOuter(*op); });
    }
    Op::Settings settings = tensor.producer->settings;
    settings.name = tensor.id;
    const Op *position = editor_.next(*tensor.producer);
    if (accumulates) {
      settings.executionContext = ExecutionContext::AccumulateOuterFragment;
      while (!isOuter(*position)) {
        position = editor_.next(*position);
      }
    }
    bool isMean = isRunningMean(tensor);
    Attributes attributes;
    attributes.set("inPlace", Attributes::Int{accumulates})
        .set("mean", Attributes::Int{isMean});
    ReplicaGrouping grouping = groupingOf(tensor);
    if (grouping.getNumGroups() > 1) {
      attributes
          .set("groupType",
               static_cast<Attributes::Int>(CommGroupType::Consecutive))
          .set("groupSize", Attributes::Int{grouping.getGroupSize()})
          .set("groupStride", Attributes::Int{grouping.getStride()});
    }
    TensorId from = tensor.id;
    Op &op = editor_.insertBefore(position, {"aspen", "ReplicaReduce"}, {from},
                                  {}, attributes, settings);
    for (Op *reader : readers) {
      editor_.replaceReads(*reader, from, op.outputs[0]);
    }
  }

  const SessionOptions &options_;
  Graph &graph_;
  GraphEditor editor_;
};

} // namespace

void reduceOverReplicas(PassContext &context) {
  if (context.ir.isTraining() &&
      context.ir.sessionOptions.getGlobalReplicationFactor() > 1) {
    ReduceInserter(context).run();
  }
}

} // namespace popart
