// VirtualGraphMode::ExecutionPhases: the phase of each operation, its IPU from
// that, and a schedule of one phase after another.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>
#include <transforms/SplitAutomatically.hpp>

#include <algorithm>

namespace popart {
namespace {

bool hasPhase(const Op &op) {
  return op.settings.executionPhase != unusedExecutionPhase;
}

// The latest phase that an operation reads something from.
ExecutionPhase latestInput(const Graph &graph, const Op &op) {
  ExecutionPhase latest = 0;
  for (const TensorId &id : op.inputs) {
    const Op *producer = id.empty() ? nullptr : graph.getTensor(id).producer;
    latest =
        producer ? std::max(latest, producer->settings.executionPhase) : latest;
  }
  return latest;
}

// An operation that the model gives no phase runs with the latest of those that
// it reads from.
void followInputs(Graph &graph) {
  for (const auto &op : graph.getOps()) {
    ExecutionPhase latest = latestInput(graph, *op);
    if (!hasPhase(*op)) {
      op->settings.executionPhase = latest;
    }
    support::requireUser<error>(
        latest <= op->settings.executionPhase,
        "[{}] in execution phase {} reads what phase {} makes; data can only "
        "flow to the same or a later phase",
        op->str(), op->settings.executionPhase, latest);
  }
}

// A variable is overwritten when all phases have read what it was.
void followReaders(Graph &graph) {
  for (const auto &op : graph.getOps()) {
    if (op->opid.type != "CopyVarUpdate") {
      continue;
    }
    ExecutionPhase &phase = op->settings.executionPhase;
    for (const Op *reader : graph.getTensor(op->inputs[0]).consumers) {
      phase = std::max(phase, reader->settings.executionPhase);
    }
  }
}

void splitIntoPhases(PassContext &context, int phases) {
  std::vector<double> shares;
  for (int phase = 1; phase <= phases; ++phase) {
    shares.push_back(static_cast<double>(phase) / phases);
  }
  std::vector<int> pieces = splitSchedule(context, shares, "phases");
  auto piece = pieces.begin();
  for (const auto &op : context.graph.getOps()) {
    op->settings.executionPhase = *piece++;
  }
}

void sortByPhase(Graph &graph) {
  std::vector<Op *> order;
  for (const auto &op : graph.getOps()) {
    order.push_back(op.get());
  }
  std::stable_sort(order.begin(), order.end(), [](const Op *a, const Op *b) {
    return a->settings.executionPhase < b->settings.executionPhase;
  });
  GraphEditor(graph).reorder(order);
}

} // namespace

void assignExecutionPhases(PassContext &context) {
  const SessionOptions &options = context.ir.sessionOptions;
  Graph &graph = context.graph;
  if (options.virtualGraphMode != VirtualGraphMode::ExecutionPhases) {
    for (const auto &op : graph.getOps()) {
      op->settings.executionPhase = unusedExecutionPhase;
    }
    return;
  }
  const ExecutionPhaseSettings &settings = options.executionPhaseSettings;
  int phases = std::max(1, settings.phases);
  for (const auto &op : graph.getOps()) {
    support::requireUser<error>(
        op->settings.executionPhase < phases,
        "[{}] is in execution phase {}; executionPhaseSettings.phases is {}",
        op->str(), op->settings.executionPhase, settings.phases);
  }
  bool isAnnotated = std::any_of(graph.getOps().begin(), graph.getOps().end(),
                                 [](const auto &op) { return hasPhase(*op); });
  if (!isAnnotated && phases > 1) {
    splitIntoPhases(context, phases);
  }
  followInputs(graph);
  followReaders(graph);
  sortByPhase(graph);
  for (const auto &op : graph.getOps()) {
    VGraphId ipu = op->settings.vgraphId;
    VGraphId first = op->settings.executionPhase % settings.stages;
    // A phase may have several IPUs, each `stages` after the last.
    bool isIpuOfPhase =
        0 <= ipu && ipu < context.ipus && ipu % settings.stages == first;
    op->settings.vgraphId = isIpuOfPhase ? ipu : first;
  }
}

} // namespace popart
