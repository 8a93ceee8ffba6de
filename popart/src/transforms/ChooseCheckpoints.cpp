// The documented recomputation modes.
#include <transforms/ChooseCheckpoints.hpp>

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

bool isNorm(const Op &op) {
  return op.opid.type.find("Normalization") != std::string::npos;
}

} // namespace

PipelineStage lossStageOf(const Graph &graph) {
  PipelineStage stage = unusedPipelineStage;
  for (const Op *op : forwardOps(graph)) {
    stage = std::max(stage, op->settings.pipelineStage);
  }
  return stage;
}

std::set<const Op *> chooseRecomputed(const PassContext &context) {
  RecomputationType mode = context.ir.sessionOptions.autoRecomputation;
  if (mode == RecomputationType::None || !context.ir.isTraining()) {
    return {};
  }
  std::vector<const Op *> ops = forwardOps(context.graph);
  std::set<const Op *> kept;
  if (mode == RecomputationType::Standard) {
    kept = standardCheckpoints(context.graph, ops);
  }
  // The stage of the loss runs forward and backward in one go: nothing there
  // has to wait, so nothing is repeated.
  bool isPipelined = context.ir.sessionOptions.enablePipelining;
  PipelineStage lossStage = lossStageOf(context.graph);
  std::set<const Op *> recomputed;
  for (const Op *op : ops) {
    bool isChosen =
        mode == RecomputationType::NormOnly ? isNorm(*op) : kept.count(op) == 0;
    bool waits = !isPipelined || op->settings.pipelineStage != lossStage;
    if (isChosen && waits) {
      recomputed.insert(op);
    }
  }
  return recomputed;
}

} // namespace popart
