#include "compiler/passes/EliminateDeadCode.hpp"

#include "compiler/Analysis.hpp"
#include "compiler/Rewrite.hpp"

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace poplar::compiler {
namespace {

// What it does reaches further than its results: to the host, or, for what
// users wrote, to wherever they look.
bool isSeenOutside(const Node &node) {
  return node.op == NodeOp::StreamIn || node.op == NodeOp::StreamOut ||
         node.op == NodeOp::Host || node.op == NodeOp::Vertices;
}

class Liveness {
public:
  explicit Liveness(ValueProgram &program)
      : analysis_(program), isLive_(program.values.size()) {
    forEachNode(program.body, [&](Node &node) {
      if (node.loop != nullptr) {
        for (const Carried &carried : node.loop->carried) {
          carriedBy_[carried.result] = &carried;
          if (carried.argument.isValid()) {
            carriedBy_[carried.argument] = &carried;
          }
        }
      } else if (isSeenOutside(node)) {
        mark(node);
      }
    });
    for (const Binding &binding : program.bindings) {
      mark(binding.exit);
    }
    while (!worklist_.empty()) {
      const ValueId value = worklist_.back();
      worklist_.pop_back();
      follow(value);
    }
  }

  bool isLive(ValueId value) const {
    return value.isValid() && isLive_[value.index()];
  }
  bool isLive(const Node &node) const { return liveNodes_.contains(&node); }

private:
  void mark(ValueId value) {
    if (value.isValid() && !isLive_[value.index()]) {
      isLive_[value.index()] = true;
      worklist_.push_back(value);
    }
  }

  void mark(const Node &node) {
    liveNodes_.insert(&node);
    for (const Window &input : node.inputs) {
      mark(input.value);
    }
    if (node.op == NodeOp::Vertices) {
      for (const Definition &output : node.outputs) {
        mark(output.base);
      }
    }
  }

  void follow(ValueId value) {
    if (const auto found = carriedBy_.find(value); found != carriedBy_.end()) {
      const Carried &carried = *found->second;
      mark(carried.next);
      if (carried.argument == value) {
        mark(carried.initial);
      }
      return;
    }
    if (const Node *node = analysis_.definingNode(value)) {
      mark(*node);
      for (const Definition &output : node->outputs) {
        if (output.window.value == value) {
          mark(output.base);
        }
      }
    }
  }

  Analysis analysis_;
  std::vector<bool> isLive_;
  std::unordered_set<const Node *> liveNodes_;
  std::unordered_map<ValueId, const Carried *> carriedBy_;
  std::vector<ValueId> worklist_;
};

void pruneCarried(Loop &loop, const Liveness &liveness) {
  std::erase_if(loop.carried, [&](const Carried &carried) {
    return !liveness.isLive(carried.result) &&
           !liveness.isLive(carried.argument);
  });
  for (Carried &carried : loop.carried) {
    if (!liveness.isLive(carried.argument)) {
      carried.argument = carried.initial = {};
    }
  }
}

// Returns whether anything of the region stays.
bool removeDead(Region &region, const Liveness &liveness, NodeEdits &edits) {
  bool isAnyKept = false;
  for (Node &node : region.nodes) {
    bool isKept;
    if (node.loop != nullptr) {
      pruneCarried(*node.loop, liveness);
      isKept = removeDead(node.loop->body, liveness, edits);
    } else {
      isKept = liveness.isLive(node);
    }
    if (!isKept) {
      edits.remove(node);
    }
    isAnyKept = isAnyKept || isKept;
  }
  return isAnyKept;
}

} // namespace

void eliminateDeadCode(ValueProgram &program) {
  const Liveness liveness(program);
  NodeEdits edits;
  removeDead(program.body, liveness, edits);
  edits.apply(program.body);
}

} // namespace poplar::compiler
