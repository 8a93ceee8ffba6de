// Patterns that shared objects bring, applied until none matches.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <ir/Order.hpp>
#include <popart/error.hpp>
#include <popart/opmanager.hpp>
#include <popart/patterns/patterncreator.hpp>
#include <support/Error.hpp>
#include <transforms/updates/UpdateBuilder.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace popart {
namespace {

// More than any pattern that ends applies: one that undoes another never does.
constexpr int mostRounds = 1000;

std::vector<RegisteredPattern> &patterns() {
  static std::vector<RegisteredPattern> all;
  return all;
}

// Which operations the loss depends on, and which depend on it.
void markPathsOfLoss(const Ir &ir, Graph &graph) {
  std::set<const Op *> before;
  std::vector<const Op *> waiting;
  bool hasLoss = !ir.loss.empty() && graph.hasTensor(ir.loss);
  if (hasLoss && graph.getTensor(ir.loss).hasProducer()) {
    waiting.push_back(graph.getTensor(ir.loss).producer);
  }
  while (!waiting.empty()) {
    const Op *op = waiting.back();
    waiting.pop_back();
    if (!before.insert(op).second) {
      continue;
    }
    for (const Tensor *tensor : op->input->tensors()) {
      if (tensor->hasProducer()) {
        waiting.push_back(tensor->producer);
      }
    }
  }
  for (const auto &op : graph.getOps()) {
    op->toLoss = before.count(op.get()) > 0 ? PathToLoss::Yes : PathToLoss::No;
    op->fromLoss =
        op->settings.isBackward ? PathFromLoss::Yes : PathFromLoss::No;
  }
}

std::map<OpId, Op *> opsOf(const Graph &graph) {
  std::map<OpId, Op *> ops;
  for (const auto &op : graph.getOps()) {
    ops[op->id] = op.get();
  }
  return ops;
}

// Results that a pattern has left behind: nobody makes or reads them.
void eraseLooseTensors(Graph &graph) {
  for (const Tensor *tensor :
       graph.getTensors().getOfType(TensorType::ActGrad)) {
    if (!tensor->hasProducer() && tensor->consumers.empty() &&
        !tensor->isGraphInput() && !tensor->isGraphOutput()) {
      graph.getTensors().remove(TensorId(tensor->id));
    }
  }
}

// Over the operations that are there now; those that go are left out.
bool applyOnce(const PreAliasPattern &pattern, Graph &graph) {
  bool isChanged = false;
  const std::map<OpId, Op *> ops = opsOf(graph);
  std::map<OpId, Op *> left = ops;
  for (const auto &[id, op] : ops) {
    bool isApplied = left.count(id) > 0 &&
                     !op->isExcludedFromPattern(pattern.getPatternName()) &&
                     pattern.matches(op) && !pattern.touchesAnchored(op) &&
                     pattern.apply(op);
    if (isApplied) {
      eraseLooseTensors(graph);
      GraphEditor(graph).reorder(scheduleOf(graph));
      left = opsOf(graph);
      isChanged = true;
    }
  }
  return isChanged;
}

// Without accumulation every micro-batch ends with its update: what a pattern
// does once per update comes in its place among the others. Value programs
// accumulate over replicas that they fold (FoldReplicas.cpp).
void joinUpdates(const Ir &ir, Graph &graph) {
  GradientReduction reduction(ir.sessionOptions);
  if (reduction.accumulates || reduction.replicas > 1) {
    return;
  }
  for (const auto &op : graph.getOps()) {
    if (op->settings.executionContext ==
        ExecutionContext::AccumulateOuterFragment) {
      op->settings.executionContext = ExecutionContext::Normal;
    }
  }
}

void applyAll(const Ir &ir, Graph &graph) {
  markPathsOfLoss(ir, graph);
  bool isChanged = true;
  for (int rounds = 0; isChanged; ++rounds) {
    isChanged = false;
    for (const RegisteredPattern &entry : patterns()) {
      if (!ir.patterns.isPatternEnabled(entry.name)) {
        continue;
      }
      std::unique_ptr<PreAliasPattern> pattern = entry.make();
      pattern->setPatternName(entry.name);
      isChanged = applyOnce(*pattern, graph) || isChanged;
      support::requireUser<error>(!isChanged || rounds < mostRounds,
                                  "Pattern '{}' still matches after {} rounds",
                                  entry.name, mostRounds);
    }
  }
}

} // namespace

void registerPattern(RegisteredPattern pattern) {
  auto place = std::lower_bound(
      patterns().begin(), patterns().end(), pattern,
      [](const auto &a, const auto &b) { return a.name < b.name; });
  if (place == patterns().end() || place->name != pattern.name) {
    patterns().insert(place, std::move(pattern));
  }
}

const std::vector<RegisteredPattern> &registeredPatterns() {
  return patterns();
}

void Pattern::transferBaseProperties(const Op *from, Op *to) {
  from->transferBaseProperties(to);
}

std::string Pattern::getReplacementOpName(Op *op,
                                          const std::string &name) const {
  if (op->name().empty()) {
    return "";
  }
  return op->name() + ":" + name_ + (name.empty() ? "" : "_" + name);
}

bool PreAliasPattern::touchesAnchored(Op *op) const {
  std::vector<const Tensor *> touched = touches(op);
  const Ir &ir = op->getIr();
  return std::any_of(touched.begin(), touched.end(), [&](const Tensor *tensor) {
    bool isLoss = ir.isTraining() && !ir.hasConstructedBackwards() &&
                  tensor->id == ir.loss;
    return tensor->isAnchored() || isLoss;
  });
}

std::unique_ptr<Op>
PreAliasPattern::makeReplacementOp(const OperatorIdentifier &opid, Op *oldOp,
                                   const std::string &name) const {
  Op::Settings settings(oldOp->getGraph(), getReplacementOpName(oldOp, name));
  auto op = OpManager::createOp(opid, oldOp->getGraph(), settings);
  transferBaseProperties(oldOp, op.get());
  return op;
}

Op *PreAliasPattern::makeReplacementOpInIr(const OperatorIdentifier &opid,
                                           Op *oldOp,
                                           const std::string &name) const {
  auto op = makeReplacementOp(opid, oldOp, name);
  Op *made = op.get();
  oldOp->getGraph().moveIntoGraph(std::move(op));
  return made;
}

void applyUserPatterns(PassContext &context) {
  for (Graph *graph : context.ir.getAllGraphs()) {
    applyAll(context.ir, *graph);
    joinUpdates(context.ir, *graph);
  }
}

} // namespace popart
