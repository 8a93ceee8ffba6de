#include "compiler/ControlTree.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace poplar::compiler {
namespace {

using internal::CallNode;
using internal::CycleCountNode;
using internal::ProgramNode;
using internal::ProgramPtr;
using internal::SequenceNode;

// Functions of at most this many programs are put in place of their calls:
// then their values need not cross a cut.
constexpr std::size_t maxInlined = 32;

class Cutter {
public:
  explicit Cutter(const internal::GraphData &graph)
      : graph_(graph), isStraightFunction_(graph.functions.size()) {
    // A function can only call those that were added before it.
    for (std::size_t f = 0; f < graph.functions.size(); ++f) {
      isStraightFunction_[f] = isStraight(graph.functions[f]) &&
                               countPrograms(graph.functions[f]) <= maxInlined;
    }
  }

  ControlProgram run(const std::vector<ProgramPtr> &programs) {
    result_.functions.resize(graph_.functions.size());
    for (const ProgramPtr &program : programs) {
      ControlTree tree = cut(program);
      result_.programs.push_back(std::move(tree));
    }
    return std::move(result_);
  }

private:
  // Whether the value IR takes it whole.
  bool isStraight(const ProgramPtr &program) const {
    return program == nullptr ||
           std::visit([&](const auto &op) { return isStraight(op); },
                      program->op);
  }
  bool isStraight(const SequenceNode &op) const {
    return std::all_of(op.children.begin(), op.children.end(),
                       [&](const auto &child) { return isStraight(child); });
  }
  bool isStraight(const internal::RepeatNode &op) const {
    return op.count != internal::RepeatNode::forever && isStraight(op.body);
  }
  bool isStraight(const internal::BlockNode &op) const {
    return isStraight(op.body);
  }
  bool isStraight(const CycleCountNode &op) const {
    return isStraight(op.body);
  }
  bool isStraight(const CallNode &op) const {
    return isStraightFunction_[op.function.index()];
  }
  bool isStraight(const internal::WhileNode &) const { return false; }
  bool isStraight(const internal::IfNode &) const { return false; }
  bool isStraight(const internal::SwitchNode &) const { return false; }
  template <typename Leaf> bool isStraight(const Leaf &) const { return true; }

  // Of a straight program.
  std::size_t countPrograms(const ProgramPtr &program) const {
    if (program == nullptr) {
      return 0;
    }
    if (const auto *sequence = std::get_if<SequenceNode>(&program->op)) {
      std::size_t count = 0;
      for (const ProgramPtr &child : sequence->children) {
        count += countPrograms(child);
      }
      return count;
    }
    if (const auto *repeat = std::get_if<internal::RepeatNode>(&program->op)) {
      return countPrograms(repeat->body);
    }
    if (const auto *block = std::get_if<internal::BlockNode>(&program->op)) {
      return countPrograms(block->body);
    }
    if (const auto *call = std::get_if<CallNode>(&program->op)) {
      return countPrograms(graph_.functions[call->function.index()]);
    }
    return 1;
  }

  ControlTree cut(const ProgramPtr &program) {
    if (isStraight(program)) {
      return stretch({program});
    }
    return std::visit([&](const auto &op) { return cut(*program, op); },
                      program->op);
  }

  ControlTree stretch(std::vector<ProgramPtr> programs) {
    ControlTree tree;
    tree.kind = ControlTree::Kind::Stretch;
    tree.index = result_.stretches.size();
    result_.stretches.push_back(
        programs.size() == 1 ? std::move(programs[0])
                             : std::make_shared<ProgramNode>(ProgramNode{
                                   SequenceNode{std::move(programs)}, ""}));
    return tree;
  }

  // Neighbours that are straight become one stretch.
  ControlTree cut(const ProgramNode &, const SequenceNode &op) {
    ControlTree tree;
    std::vector<ProgramPtr> straight;
    const auto flush = [&] {
      if (!straight.empty()) {
        tree.children.push_back(stretch(std::exchange(straight, {})));
      }
    };
    for (const ProgramPtr &child : op.children) {
      if (isStraight(child)) {
        straight.push_back(child);
      } else {
        flush();
        tree.children.push_back(cut(child));
      }
    }
    flush();
    return tree;
  }
  ControlTree cut(const ProgramNode &node, const internal::RepeatNode &op) {
    ControlTree tree;
    tree.node = op.count == internal::RepeatNode::forever ? &node : nullptr;
    tree.count = op.count;
    tree.children.push_back(cut(op.body));
    return tree;
  }
  ControlTree cut(const ProgramNode &, const internal::BlockNode &op) {
    return cut(op.body);
  }
  // The body, and then the writing of the result as a program of its own.
  ControlTree cut(const ProgramNode &node, const CycleCountNode &op) {
    ControlTree tree;
    tree.children.push_back(cut(op.body));
    tree.children.push_back(stretch({std::make_shared<ProgramNode>(ProgramNode{
        CycleCountNode{nullptr, op.result, op.cycles}, node.debugPath})}));
    return tree;
  }
  ControlTree cut(const ProgramNode &, const CallNode &op) {
    ControlTree tree;
    tree.kind = ControlTree::Kind::Call;
    tree.index = op.function.index();
    if (isCut_.insert(tree.index).second) {
      ControlTree body = cut(graph_.functions[tree.index]);
      result_.functions[tree.index] = std::move(body);
    }
    return tree;
  }
  ControlTree cut(const ProgramNode &node, const internal::WhileNode &op) {
    ControlTree tree;
    tree.node = &node;
    tree.kind = ControlTree::Kind::While;
    tree.control = op.predicate;
    tree.continuesOn = op.continuesOn;
    tree.children.push_back(cut(op.condition));
    tree.children.push_back(cut(op.body));
    return tree;
  }
  // Zero is the only value that is false.
  ControlTree cut(const ProgramNode &node, const internal::IfNode &op) {
    ControlTree tree;
    tree.node = &node;
    tree.kind = ControlTree::Kind::Switch;
    tree.control = op.predicate;
    tree.keys = {0};
    tree.children.push_back(cut(op.elseBody));
    tree.children.push_back(cut(op.thenBody));
    return tree;
  }
  ControlTree cut(const ProgramNode &node, const internal::SwitchNode &op) {
    ControlTree tree;
    tree.node = &node;
    tree.kind = ControlTree::Kind::Switch;
    tree.control = op.control;
    for (const auto &[key, body] : op.cases) {
      tree.keys.push_back(key);
      tree.children.push_back(cut(body));
    }
    tree.children.push_back(cut(op.defaultBody));
    return tree;
  }
  template <typename Leaf> ControlTree cut(const ProgramNode &, const Leaf &) {
    return {}; // leaves are straight
  }

  const internal::GraphData &graph_;
  std::vector<bool> isStraightFunction_;
  std::unordered_set<std::size_t> isCut_;
  ControlProgram result_;
};

} // namespace

ControlProgram cutPrograms(const internal::GraphData &graph,
                           const std::vector<ProgramPtr> &programs) {
  return Cutter(graph).run(programs);
}

} // namespace poplar::compiler
