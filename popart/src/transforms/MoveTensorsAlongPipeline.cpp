// How a tensor made in one pipeline stage reaches a later one. In cycle c stage
// s works on micro-batch c - s: on the same IPU the value waits in a stash, to
// another it is copied at the end of each cycle, one stage further each time.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <popart/error.hpp>
#include <popart/tensornames.hpp>
#include <support/Error.hpp>
#include <transforms/PipelineSchedule.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace popart {
namespace {

class TensorMover {
public:
  explicit TensorMover(PassContext &context)
      : graph_(context.graph), editor_(context.graph),
        schedule_(pipelineSchedule(context.ir, context.graph)) {}

  void run() {
    for (const TensorId &id : graph_.getTensorIds()) {
      const Tensor &tensor = graph_.getTensor(id);
      if (tensor.producer || tensor.type == TensorType::Stream) {
        move(id);
      } else {
        requireOneIpu(tensor);
      }
    }
    sortByStage();
  }

private:
  // The tensor as one stage has it: made there, or copied there.
  struct Instance {
    PipelineStage stage;
    TensorId id;
    // Later stages on the same IPU that read it from a stash, and the names
    // of what they restore.
    std::map<PipelineStage, TensorId> restored;
  };

  VGraphId ipuOf(PipelineStage stage) const {
    return schedule_.ipus.at(static_cast<std::size_t>(stage));
  }

  bool isSameCycle(PipelineStage a, PipelineStage b) const {
    return schedule_.independentOf(a) == schedule_.independentOf(b);
  }

  // Between updates a variable may be read from anywhere, and overwritten at
  // any time.
  void requireOneIpu(const Tensor &tensor) const {
    VGraphId home = homeOf(tensor);
    for (const Op *consumer : tensor.consumers) {
      support::requireUser<error>(
          consumer->settings.executionContext != ExecutionContext::Normal ||
              consumer->settings.vgraphId == home ||
              consumer->opid.type == "CopyVarUpdate",
          "Can not copy variable tensor {} between virtual graphs when "
          "pipelining. All operations that read it must be on one IPU; they "
          "are on {} and {}",
          tensor.id, home, consumer->settings.vgraphId);
    }
  }

  void move(const TensorId &id) {
    const Tensor &tensor = graph_.getTensor(id);
    std::vector<Op *> consumers = tensor.consumers;
    if (consumers.empty()) {
      return;
    }
    std::stable_sort(
        consumers.begin(), consumers.end(), [](const Op *a, const Op *b) {
          return a->settings.pipelineStage < b->settings.pipelineStage;
        });
    std::vector<Instance> instances = {
        {tensor.producer ? tensor.producer->settings.pipelineStage
                         : consumers.front()->settings.pipelineStage,
         id,
         {}}};
    std::vector<std::pair<Op *, TensorId>> replacements;
    for (Op *consumer : consumers) {
      // What runs after the pipeline reads the accumulator as it is.
      if (consumer->settings.executionContext == ExecutionContext::Normal) {
        replacements.emplace_back(
            consumer, reach(instances, consumer->settings.pipelineStage, id));
      }
    }
    for (const Instance &instance : instances) {
      addStash(instance, id);
    }
    for (auto &[consumer, reachable] : replacements) {
      if (reachable != id) {
        editor_.replaceReads(*consumer, id, reachable);
      }
    }
  }

  // The name of what `stage` reads, from the latest instance on its IPU; the
  // tensor is copied along until there is one.
  TensorId reach(std::vector<Instance> &instances, PipelineStage stage,
                 const TensorId &id) {
    VGraphId ipu = ipuOf(stage);
    auto isThere = [&](const Instance &instance) {
      return ipuOf(instance.stage) == ipu;
    };
    auto found = std::find_if(instances.rbegin(), instances.rend(), isThere);
    while (found == instances.rend()) {
      instances.push_back(copyToNextStage(instances.back(), id));
      found = std::find_if(instances.rbegin(), instances.rend(), isThere);
    }
    if (isSameCycle(found->stage, stage)) {
      return found->id;
    }
    TensorId &name = found->restored[stage];
    if (name.empty()) {
      name = editor_.uniqueName(reservedRestoredPrefix() + id);
    }
    return name;
  }

  Instance copyToNextStage(const Instance &from, const TensorId &id) {
    PipelineStage next = from.stage + 1;
    while (isSameCycle(from.stage, next)) {
      ++next;
    }
    Op::Settings settings;
    settings.name = id;
    settings.vgraphId = ipuOf(from.stage);
    settings.pipelineStage = from.stage;
    Op &copy = editor_.insertBefore(
        nullptr, {"aspen", "IpuCopy"}, {from.id}, {editor_.uniqueName(id)},
        Attributes().set("destination", ipuOf(next)), settings);
    return {next, copy.outputs[0], {}};
  }

  // A slot for each cycle from the stage to the last one that reads the stash.
  void addStash(const Instance &instance, const TensorId &id) {
    if (instance.restored.empty()) {
      return;
    }
    PipelineStage last = instance.restored.rbegin()->first;
    std::int64_t slots = schedule_.independentOf(last) -
                         schedule_.independentOf(instance.stage) + 1;
    Op::Settings settings;
    settings.vgraphId = ipuOf(instance.stage);
    settings.pipelineStage = instance.stage;
    settings.name = id;
    Op &stash =
        editor_.insertBefore(nullptr, {"aspen", "Stash"}, {instance.id},
                             {editor_.uniqueName(reservedStashedPrefix() + id)},
                             Attributes().set("slots", slots), settings);
    for (const auto &[stage, name] : instance.restored) {
      settings.pipelineStage = stage;
      editor_.insertBefore(nullptr, {"aspen", "Restore"}, {stash.outputs[0]},
                           {name}, {}, settings);
    }
  }

  void sortByStage() {
    // Restores before, stashes and copies after what a stage computes; updates
    // once the pipeline has drained, in the order they have, for a clipped
    // gradient waits for those of other stages.
    auto rank = [](const Op &op) {
      return op.settings.executionContext != ExecutionContext::Normal ? 3
             : op.opid.type == "Restore"                              ? 0
             : op.opid.type == "Stash" || op.opid.type == "IpuCopy"   ? 2
                                                                      : 1;
    };
    std::vector<Op *> order;
    for (const auto &op : graph_.getOps()) {
      order.push_back(op.get());
    }
    std::stable_sort(order.begin(), order.end(), [&](Op *a, Op *b) {
      auto key = [&](const Op &op) {
        bool isUpdate = rank(op) == 3;
        return std::tuple(isUpdate, isUpdate ? 0 : op.settings.pipelineStage,
                          rank(op));
      };
      return key(*a) < key(*b);
    });
    editor_.reorder(order);
  }

  Graph &graph_;
  GraphEditor editor_;
  PipelineSchedule schedule_;
};

} // namespace

void moveTensorsAlongPipeline(PassContext &context) {
  if (context.ir.sessionOptions.enablePipelining) {
    TensorMover(context).run();
  }
}

} // namespace popart
