// Copies from one IPU to another travel together: each but the first joins an
// earlier one if what it copies is there by then.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>

#include <map>
#include <tuple>
#include <unordered_map>

namespace popart {
namespace {

class CopyMerger {
public:
  explicit CopyMerger(PassContext &context)
      : graph_(context.graph), editor_(context.graph) {}

  void run() {
    using Way =
        std::tuple<VGraphId, VGraphId, ExecutionPhase, ExecutionContext>;
    std::map<Way, std::vector<Op *>> together;
    std::vector<std::vector<Op *>> groups;
    for (const auto &op : graph_.getOps()) {
      places_.emplace(op.get(), places_.size());
      if (op->opid.type != "IpuCopy") {
        continue;
      }
      const Op::Settings &settings = op->settings;
      std::vector<Op *> &group =
          together[{settings.vgraphId, op->attributes.getInt("destination", 0),
                    settings.executionPhase, settings.executionContext}];
      if (!group.empty() && !isThereBefore(*group.front(), *op)) {
        groups.push_back(std::move(group));
        group.clear();
      }
      group.push_back(op.get());
    }
    for (auto &[way, group] : together) {
      groups.push_back(std::move(group));
    }
    for (const std::vector<Op *> &group : groups) {
      if (group.size() > 1) {
        merge(group);
      }
    }
  }

private:
  bool isThereBefore(const Op &first, const Op &copy) const {
    const Op *producer = graph_.getTensor(copy.inputs[0]).producer;
    return !producer || places_.at(producer) < places_.at(&first);
  }

  void merge(const std::vector<Op *> &group) {
    std::vector<TensorId> inputs;
    for (const Op *op : group) {
      inputs.push_back(op->inputs[0]);
    }
    const Op &first = *group.front();
    const Op &merged = editor_.insertBefore(&first, first.opid, inputs, {},
                                            first.attributes, first.settings);
    for (std::size_t i = 0; i < group.size(); ++i) {
      editor_.replaceReads(group[i]->outputs[0], merged.outputs[i]);
    }
    for (Op *op : group) {
      editor_.erase(*op);
    }
  }

  Graph &graph_;
  GraphEditor editor_;
  std::unordered_map<const Op *, std::size_t> places_;
};

} // namespace

void mergeIpuCopies(PassContext &context) {
  // A pipeline has its own order of copies.
  if (!context.ir.sessionOptions.enablePipelining) {
    CopyMerger(context).run();
  }
}

} // namespace popart
