// Common sub-expressions of the forward graph. Their gradients then meet in the
// one that stays.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <ops/Custom.hpp>
#include <ops/OpRule.hpp>

#include <algorithm>
#include <tuple>

namespace popart {
namespace {

using Key =
    std::tuple<OperatorIdentifier, std::vector<TensorId>, VGraphId,
               PipelineStage, ExecutionPhase, ExecutionContext, std::size_t>;

Key keyOf(const Op &op) {
  return {op.opid,
          op.inputs,
          op.settings.vgraphId,
          op.settings.pipelineStage,
          op.settings.executionPhase,
          op.settings.executionContext,
          op.outputs.size()};
}

// Two of them give two results, whatever they are given.
bool isRandom(const Op &op) {
  return op.requiresRandomSeed() || op.rule().seedInput != nullptr;
}

class Merger {
public:
  explicit Merger(PassContext &context)
      : context_(context), editor_(context.graph) {}

  void run() {
    std::vector<Op *> ops;
    for (const auto &op : context_.graph.getOps()) {
      ops.push_back(op.get());
    }
    for (Op *op : ops) {
      if (mayMerge(*op) && !mergeInto(seen_[keyOf(*op)], *op)) {
        seen_[keyOf(*op)].push_back(op);
      }
    }
  }

private:
  // Classes of users may hold more than attributes.
  static bool mayMerge(const Op &op) {
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      if (op.modifiedInput(static_cast<OutIndex>(i)) >= 0) {
        return false;
      }
    }
    return &op.rule() != &customOpRule() && !op.hasSideEffect() &&
           op.getCalledGraphs().empty() && !isRandom(op);
  }

  bool mergeInto(const std::vector<Op *> &candidates, Op &op) {
    bool isSeen =
        std::any_of(op.outputs.begin(), op.outputs.end(),
                    [&](auto &id) { return isAskedFor(context_.ir, id); });
    for (Op *first : candidates) {
      if (!isSeen && first->attributes == op.attributes) {
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
          editor_.replaceReads(op.outputs[i], first->outputs[i]);
        }
        editor_.erase(op);
        return true;
      }
    }
    return false;
  }

  PassContext &context_;
  GraphEditor editor_;
  std::map<Key, std::vector<Op *>> seen_;
};

} // namespace

void mergeDuplicates(PassContext &context) {
  Merger(context).run();
}

} // namespace popart
