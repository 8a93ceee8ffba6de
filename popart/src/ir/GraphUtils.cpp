// Walks over a graph.
#include <popart/graphutils.hpp>

#include <popart/ir.hpp>

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

namespace popart::graphutils {
namespace {

// A step from a tensor over an operation to the tensor behind it.
struct Step {
  Op *op;
  Tensor *to;
};

std::vector<Step> stepsForward(const Tensor &tensor) {
  std::vector<Step> steps;
  for (Op *consumer : tensor.consumers.getOps()) {
    for (Tensor *made : consumer->output->tensors()) {
      steps.push_back({consumer, made});
    }
  }
  return steps;
}

std::vector<Step> stepsBackward(const Tensor &tensor) {
  std::vector<Step> steps;
  if (tensor.hasProducer()) {
    for (Tensor *read : tensor.producer->input->tensors()) {
      steps.push_back({tensor.producer, read});
    }
  }
  return steps;
}

std::vector<Step> stepsFrom(const Tensor &tensor,
                            TraversalDirection direction) {
  using enum TraversalDirection;
  std::vector<Step> steps;
  auto add = [&](std::vector<Step> more) {
    steps.insert(steps.end(), more.begin(), more.end());
  };
  if (direction == Forward || direction == ForwardBackward) {
    add(stepsForward(tensor));
  }
  if (direction != Forward) {
    add(stepsBackward(tensor));
  }
  if (direction == BackwardForward) {
    add(stepsForward(tensor));
  }
  return steps;
}

class Walk {
public:
  Walk(const TensorVisitor &visitor, const EdgeFilter &filter,
       TraversalType type, VisitType visit, TraversalDirection direction)
      : visitor_(visitor), filter_(filter), type_(type), visit_(visit),
        direction_(direction) {}

  void run(const std::vector<Tensor *> &starts) {
    if (type_ == TraversalType::DepthFirst) {
      for (Tensor *start : starts) {
        goDeep(start);
      }
    } else {
      goWide(starts);
    }
  }

private:
  std::vector<Tensor *> neighboursOf(Tensor *tensor) const {
    std::vector<Tensor *> neighbours;
    for (const Step &step : stepsFrom(*tensor, direction_)) {
      if (filter_(step.op, tensor, step.to)) {
        neighbours.push_back(step.to);
      }
    }
    return neighbours;
  }

  // Without recursion: graphs are deeper than stacks.
  void goDeep(Tensor *start) {
    struct Frame {
      Tensor *tensor;
      std::vector<Tensor *> waiting; // the next one last
    };
    std::vector<Frame> frames;
    auto enter = [&](Tensor *tensor) {
      if (!seen_.insert(tensor).second) {
        return;
      }
      bool goesOn = visit_ == VisitType::Post || visitor_(tensor);
      std::vector<Tensor *> waiting =
          goesOn ? neighboursOf(tensor) : std::vector<Tensor *>();
      std::reverse(waiting.begin(), waiting.end());
      frames.push_back({tensor, std::move(waiting)});
    };
    enter(start);
    while (!frames.empty()) {
      Frame &frame = frames.back();
      if (!frame.waiting.empty()) {
        Tensor *next = frame.waiting.back();
        frame.waiting.pop_back();
        enter(next);
        continue;
      }
      if (visit_ == VisitType::Post) {
        visitor_(frame.tensor);
      }
      frames.pop_back();
    }
  }

  void goWide(const std::vector<Tensor *> &starts) {
    std::deque<Tensor *> waiting;
    auto meet = [&](Tensor *tensor) {
      if (seen_.insert(tensor).second) {
        waiting.push_back(tensor);
      }
    };
    std::for_each(starts.begin(), starts.end(), meet);
    while (!waiting.empty()) {
      Tensor *tensor = waiting.front();
      waiting.pop_front();
      if (visitor_(tensor)) {
        std::vector<Tensor *> neighbours = neighboursOf(tensor);
        std::for_each(neighbours.begin(), neighbours.end(), meet);
      }
    }
  }

  const TensorVisitor &visitor_;
  const EdgeFilter &filter_;
  TraversalType type_;
  VisitType visit_;
  TraversalDirection direction_;
  std::set<Tensor *> seen_;
};

bool anyEdge(Op *, Tensor *, Tensor *) {
  return true;
}

bool isEdge(const Edge &edge, const Op &from, const Op &to) {
  for (const auto &[out, tensor] : from.output->tensorMap()) {
    for (int in : to.input->indices(tensor)) {
      if ((edge.out == -1 || edge.out == out) &&
          (edge.in == -1 || edge.in == in)) {
        return true;
      }
    }
  }
  return false;
}

// One operation after the other, as long as the edges between them are there.
class Matcher {
public:
  Matcher(Graph &graph, const OpPreds &preds, const Edges &edges)
      : preds_(preds), edges_(edges), chosen_(preds.size(), nullptr) {
    for (const auto &op : graph.getOps()) {
      ops_.push_back(op.get());
    }
  }

  std::vector<std::vector<Op *>> run() {
    choose(0);
    return matches_;
  }

private:
  void choose(std::size_t index) {
    if (index == preds_.size()) {
      matches_.push_back(chosen_);
      return;
    }
    for (Op *op : ops_) {
      bool isTaken =
          std::find(chosen_.begin(), chosen_.end(), op) != chosen_.end();
      if (!isTaken && preds_[index](op)) {
        chosen_[index] = op;
        if (edgesFit(index)) {
          choose(index + 1);
        }
        chosen_[index] = nullptr;
      }
    }
  }

  // Those between the operations that are chosen by now.
  bool edgesFit(std::size_t last) const {
    return std::all_of(edges_.begin(), edges_.end(), [&](const Edge &edge) {
      auto from = static_cast<std::size_t>(edge.i);
      auto to = static_cast<std::size_t>(edge.j);
      return from > last || to > last ||
             isEdge(edge, *chosen_[from], *chosen_[to]);
    });
  }

  const OpPreds &preds_;
  const Edges &edges_;
  std::vector<Op *> ops_;
  std::vector<Op *> chosen_;
  std::vector<std::vector<Op *>> matches_;
};

// The operations that a walk from the loss goes over.
std::set<Op *> opsFromLoss(Graph &graph, TraversalDirection direction) {
  std::set<Op *> ops;
  const TensorId &loss = graph.getIr().loss;
  if (loss.empty() || !graph.hasTensor(loss)) {
    return ops;
  }
  traverse(
      {&graph.getTensor(loss)}, [](Tensor *) { return true; },
      [&](Op *op, Tensor *, Tensor *) {
        ops.insert(op);
        return true;
      },
      TraversalType::BreadthFirst, VisitType::Pre, direction);
  return ops;
}

} // namespace

void traverse(std::vector<Tensor *> tensors, const TensorVisitor &visitor,
              const EdgeFilter &filter, TraversalType traversal,
              VisitType visit, TraversalDirection direction,
              TraverseCallSites) {
  Walk(visitor, filter, traversal, visit, direction).run(tensors);
}

void traverseBreadthFirst(std::vector<Tensor *> tensors,
                          const TensorVisitor &visitor) {
  traverse(std::move(tensors), visitor, anyEdge, TraversalType::BreadthFirst,
           VisitType::Pre, TraversalDirection::ForwardBackward);
}

void traverseDepthFirst(std::vector<Tensor *> tensors,
                        const TensorVisitor &visitor) {
  traverse(std::move(tensors), visitor, anyEdge, TraversalType::DepthFirst,
           VisitType::Pre, TraversalDirection::ForwardBackward);
}

std::vector<Tensor *> rootTensors(Tensor *tensor) {
  std::vector<Tensor *> roots;
  traverse(
      {tensor},
      [&](Tensor *t) {
        if (!t->hasProducer()) {
          roots.push_back(t);
        }
        return true;
      },
      anyEdge, TraversalType::DepthFirst, VisitType::Pre,
      TraversalDirection::Backward);
  return roots;
}

std::map<Op *, std::vector<Op *>, POpCmp>
getOpsWithBefores(const std::set<Op *, POpCmp> &ops) {
  std::map<Op *, std::vector<Op *>, POpCmp> result;
  for (Op *op : ops) {
    std::set<Op *, POpCmp> befores;
    traverse(
        op->input->tensors(),
        [&](Tensor *tensor) {
          Op *producer = tensor->producer;
          if (producer && ops.count(producer) > 0) {
            befores.insert(producer);
          }
          return true;
        },
        anyEdge, TraversalType::BreadthFirst, VisitType::Pre,
        TraversalDirection::Backward);
    result[op] = {befores.begin(), befores.end()};
  }
  return result;
}

std::vector<std::vector<Op *>>
findMatchingOps(Graph &graph, const OpPreds &preds, const Edges &edges) {
  return Matcher(graph, preds, edges).run();
}

std::map<Op *, OpFinalLossRelation, POpCmp>
getOpFinalLossRelations(Graph &graph) {
  std::set<Op *> to = opsFromLoss(graph, TraversalDirection::Backward);
  std::set<Op *> from = opsFromLoss(graph, TraversalDirection::Forward);
  std::map<Op *, OpFinalLossRelation, POpCmp> relations;
  for (const auto &op : graph.getOps()) {
    bool isTo = to.count(op.get()) > 0;
    bool isFrom = from.count(op.get()) > 0 || op->settings.isBackward;
    relations[op.get()] = isTo && isFrom ? OpFinalLossRelation::FromToLoss
                          : isTo         ? OpFinalLossRelation::ToLoss
                          : isFrom       ? OpFinalLossRelation::FromLoss
                                         : OpFinalLossRelation::None;
  }
  return relations;
}

} // namespace popart::graphutils
