// Patterns that shared objects bring, applied until none matches.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <popart/error.hpp>
#include <popart/opmanager.hpp>
#include <popart/patterns/patterncreator.hpp>
#include <support/Error.hpp>

#include <algorithm>
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

// Producers first; where that leaves a choice, in the order they had.
class Order {
public:
  explicit Order(Graph &graph) : graph_(graph) {}

  std::vector<Op *> make() {
    for (const auto &op : graph_.getOps()) {
      visit(*op);
    }
    return order_;
  }

private:
  void visit(Op &op) {
    if (!visited_.insert(&op).second) {
      return;
    }
    for (const TensorId &id : op.inputs) {
      Op *producer = id.empty() ? nullptr : graph_.getTensor(id).producer;
      if (producer) {
        visit(*producer);
      }
    }
    order_.push_back(&op);
  }

  Graph &graph_;
  std::set<Op *> visited_;
  std::vector<Op *> order_;
};

bool applyOnce(const RegisteredPattern &entry, Graph &graph) {
  for (const auto &op : graph.getOps()) {
    bool isExcluded = op->settings.excludePatterns.count(entry.name) > 0;
    if (!isExcluded && entry.pattern->matches(op.get()) &&
        entry.pattern->apply(op.get())) {
      GraphEditor(graph).reorder(Order(graph).make());
      return true;
    }
  }
  return false;
}

} // namespace

void registerPattern(RegisteredPattern pattern) {
  std::erase_if(patterns(), [&](const RegisteredPattern &known) {
    return known.name == pattern.name;
  });
  patterns().push_back(std::move(pattern));
}

const std::vector<RegisteredPattern> &registeredPatterns() {
  return patterns();
}

Op *PreAliasPattern::makeReplacementOpInIr(const OperatorIdentifier &opid,
                                           Op *oldOp, const std::string &name) {
  Op::Settings settings = oldOp->settings;
  settings.name += name.empty() ? "" : "/" + name;
  Graph &graph = oldOp->getGraph();
  auto op = OpManager::createOp(opid, graph, settings);
  Op *made = op.get();
  graph.moveIntoGraph(std::move(op));
  return made;
}

void PreAliasPattern::transferBaseProperties(Op *from, Op *to) {
  std::string name = to->settings.name;
  to->settings = from->settings.copy(name);
}

void applyUserPatterns(PassContext &context) {
  for (const RegisteredPattern &entry : patterns()) {
    int rounds = 0;
    bool isEnabled = context.ir.patterns.isPatternEnabled(entry.name);
    while (isEnabled && applyOnce(entry, context.graph)) {
      support::requireUser<error>(++rounds < mostRounds,
                                  "Pattern '{}' still matches after {} rounds",
                                  entry.name, mostRounds);
    }
  }
}

} // namespace popart
