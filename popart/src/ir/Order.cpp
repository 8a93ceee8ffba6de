// A walk from each operation to those that come before it.
#include <ir/Order.hpp>

#include <support/Error.hpp>

#include <map>

namespace popart {
namespace {

class Scheduler {
public:
  Scheduler(const Graph &graph, const OpMap<std::vector<Op *>> &befores)
      : graph_(graph) {
    for (const auto &[after, all] : befores) {
      befores_[after] = all;
    }
    for (const auto &op : graph.getOps()) {
      for (Op *after : graph.topoCons->getAfters(op.get())) {
        befores_[after].push_back(op.get());
      }
    }
    keepReadersBeforeUpdates();
  }

  std::vector<Op *> make() {
    for (const auto &op : graph_.getOps()) {
      visit(*op);
    }
    return order_;
  }

private:
  // Who reads a version of a variable comes before who makes the next one.
  void keepReadersBeforeUpdates() {
    for (const auto &op : graph_.getOps()) {
      for (OutIndex out = 0; out <= op->output->maxIndex(); ++out) {
        InIndex in = op->modifiedInput(out);
        if (in < 0 || !op->hasInput(in)) {
          continue;
        }
        for (Op *reader : op->inTensor(in)->consumers) {
          if (reader != op.get()) {
            befores_[op.get()].push_back(reader);
          }
        }
      }
    }
  }

  void visit(Op &op) {
    State &state = states_[&op];
    if (state == State::Done) {
      return;
    }
    support::requireUser<error>(state == State::New,
                                "[{}] needs its own result: a pattern has "
                                "connected operations in a circle",
                                op.str());
    state = State::Visiting;
    for (const TensorId &id : op.inputs) {
      Op *producer = id.empty() ? nullptr : graph_.getTensor(id).producer;
      if (producer) {
        visit(*producer);
      }
    }
    auto found = befores_.find(&op);
    if (found != befores_.end()) {
      for (Op *before : found->second) {
        visit(*before);
      }
    }
    states_[&op] = State::Done;
    order_.push_back(&op);
  }

  enum class State { New, Visiting, Done };

  const Graph &graph_;
  std::map<const Op *, std::vector<Op *>> befores_;
  std::map<const Op *, State> states_;
  std::vector<Op *> order_;
};

} // namespace

std::vector<Op *> scheduleOf(const Graph &graph,
                             const OpMap<std::vector<Op *>> &befores) {
  return Scheduler(graph, befores).make();
}

} // namespace popart
