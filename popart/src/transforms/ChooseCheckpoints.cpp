// The documented recomputation modes.
#include <transforms/ChooseCheckpoints.hpp>

#include <autodiff/Autodiff.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <cmath>

namespace popart {
namespace {

std::vector<const Op *> forwardOps(const Graph &graph) {
  std::vector<const Op *> ops;
  for (const auto &op : graph.getOps()) {
    if (!op->settings.isBackward) {
      ops.push_back(op.get());
    }
  }
  return ops;
}

// Live bytes after each operation of the forward pass alone.
std::vector<std::int64_t> liveBytes(const Graph &graph,
                                    const std::vector<const Op *> &ops) {
  std::map<const Op *, std::size_t> position;
  for (const Op *op : ops) {
    position.emplace(op, position.size());
  }
  std::vector<std::int64_t> change(ops.size() + 1, 0);
  for (const Op *op : ops) {
    for (const TensorId &id : op->outputs) {
      const Tensor &tensor = graph.getTensor(id);
      std::size_t last = position.at(op);
      for (const Op *consumer : tensor.consumers) {
        auto found = position.find(consumer);
        last = found == position.end() ? last : std::max(last, found->second);
      }
      change[position.at(op)] += tensor.info.nbytes();
      change[last] -= tensor.info.nbytes();
    }
  }
  std::vector<std::int64_t> live;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    bytes += change[i];
    live.push_back(bytes);
  }
  return live;
}

// Operations whose results are still needed after position `index`.
void insertLiveOps(const Graph &graph, const std::vector<const Op *> &ops,
                   std::size_t index, std::set<const Op *> &kept) {
  std::set<const Op *> later(
      ops.begin() + static_cast<std::ptrdiff_t>(index) + 1, ops.end());
  for (std::size_t i = 0; i <= index; ++i) {
    for (const TensorId &id : ops[i]->outputs) {
      for (const Op *consumer : graph.getTensor(id).consumers) {
        if (later.count(consumer) > 0) {
          kept.insert(ops[i]);
        }
      }
    }
  }
}

// Intervals of decreasing length, then single operations; each keeps what is
// live where least is.
std::set<const Op *> standardCheckpoints(const Graph &graph,
                                         const std::vector<const Op *> &ops) {
  std::set<const Op *> kept;
  std::vector<std::int64_t> live = liveBytes(graph, ops);
  auto root = static_cast<std::int64_t>(
      std::sqrt(2.0 * static_cast<double>(ops.size())));
  auto length = static_cast<std::int64_t>(0.75 * static_cast<double>(root - 1));
  for (std::size_t begin = 0; begin < ops.size();) {
    auto size = static_cast<std::size_t>(std::max<std::int64_t>(1, length--));
    std::size_t end = std::min(ops.size(), begin + size);
    auto least =
        std::min_element(live.begin() + static_cast<std::ptrdiff_t>(begin),
                         live.begin() + static_cast<std::ptrdiff_t>(end));
    insertLiveOps(graph, ops, static_cast<std::size_t>(least - live.begin()),
                  kept);
    begin = end;
  }
  return kept;
}

// What changes a variable does so once.
bool changesVariables(const Op &op) {
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (op.modifiedInput(static_cast<OutIndex>(i)) >= 0) {
      return true;
    }
  }
  return false;
}

// What the model says of an operation's results.
RecomputeType annotationOf(const Op &op) {
  return op.settings.recomputeType;
}

void checkAnnotations(const SessionOptions &options,
                      const std::vector<const Op *> &ops) {
  bool isRecomputed = false;
  bool isKept = false;
  for (const Op *op : ops) {
    isRecomputed =
        isRecomputed || annotationOf(*op) == RecomputeType::Recompute;
    isKept = isKept || annotationOf(*op) == RecomputeType::Checkpoint;
  }
  if (options.explicitRecomputation) {
    return;
  }
  RecomputationType mode = options.autoRecomputation;
  support::requireUser<error>(!options.enablePipelining || !isRecomputed,
                              "When pipelining is enabled, user annotation for "
                              "recomputation is not allowed");
  bool takesCheckpoints = mode == RecomputationType::None ||
                          mode == RecomputationType::Pipeline ||
                          mode == RecomputationType::RecomputeAll;
  support::requireUser<error>(
      (mode == RecomputationType::None || !isRecomputed) &&
          (takesCheckpoints || !isKept),
      "A mixture of auto and manual recomputation is not supported");
}

// Without a pipeline, every operation.
bool isInLossStage(const Op &op, PipelineStage lossStage) {
  return op.settings.pipelineStage == lossStage;
}

// Checkpoints, and what the loss needs from the last of its stage on: it is
// needed again at once, while other stages wait for their backward pass.
void keepCheckpoints(const std::vector<const Op *> &ops,
                     PipelineStage lossStage, std::set<const Op *> &kept) {
  std::vector<const Op *> ofLoss;
  for (const Op *op : ops) {
    if (annotationOf(*op) == RecomputeType::Checkpoint) {
      kept.insert(op);
    }
    if (isInLossStage(*op, lossStage)) {
      ofLoss.push_back(op);
    }
  }
  auto last = std::find_if(ofLoss.rbegin(), ofLoss.rend(),
                           [&](const Op *op) { return kept.count(op) > 0; });
  if (last != ofLoss.rend()) {
    kept.insert(ofLoss.rbegin(), last);
  }
}

} // namespace

std::set<const Op *> chooseRecomputed(const PassContext &context) {
  const SessionOptions &options = context.ir.sessionOptions;
  if (!context.ir.isTraining()) {
    return {};
  }
  std::vector<const Op *> ops = forwardOps(context.graph);
  checkAnnotations(options, ops);
  PipelineStage lossStage = lastForwardStage(context.graph);
  std::set<const Op *> kept;
  if (options.autoRecomputation == RecomputationType::Standard) {
    kept = standardCheckpoints(context.graph, ops);
  } else {
    keepCheckpoints(ops, lossStage, kept);
  }
  bool hasCheckpointInLossStage =
      std::any_of(ops.begin(), ops.end(), [&](const Op *op) {
        return isInLossStage(*op, lossStage) &&
               annotationOf(*op) == RecomputeType::Checkpoint;
      });
  std::set<const Op *> recomputed;
  for (const Op *op : ops) {
    bool isChosen = kept.count(op) == 0;
    if (options.autoRecomputation == RecomputationType::None) {
      isChosen = annotationOf(*op) == RecomputeType::Recompute;
    } else if (options.autoRecomputation == RecomputationType::NormOnly) {
      isChosen = op->isNorm();
    }
    // The stage of the loss runs forward and backward in one go: what its own
    // input leads to need not be repeated there.
    bool waits = !options.enablePipelining || hasCheckpointInLossStage ||
                 !isInLossStage(*op, lossStage);
    if (isChosen && waits && !changesVariables(*op) && !op->hasSideEffect() &&
        op->canRecompute()) {
      recomputed.insert(op);
    }
  }
  return recomputed;
}

} // namespace popart
