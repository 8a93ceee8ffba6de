// Walks over program trees that only care about leaves.
#pragma once

#include <poplar/internal/ProgramNode.hpp>

#include <type_traits>
#include <variant>

namespace poplar::compiler {

// Calls f(node) for every node of the tree in execution order, bodies of loops
// once, or not at all when the loop never runs.
template <typename F>
void forEachNode(const internal::ProgramPtr &program, F &&f) {
  if (program == nullptr) {
    return;
  }
  f(*program);
  if (const auto *sequence =
          std::get_if<internal::SequenceNode>(&program->op)) {
    for (const internal::ProgramPtr &child : sequence->children) {
      forEachNode(child, f);
    }
  } else if (const auto *repeat =
                 std::get_if<internal::RepeatNode>(&program->op)) {
    if (repeat->count > 0) {
      forEachNode(repeat->body, f);
    }
  }
}

// Calls f(view, isWritten) for every view that the tree reads or writes.
template <typename F>
void forEachView(const internal::GraphData &graph,
                 const internal::ProgramPtr &program, F &&f) {
  forEachNode(program, [&](const internal::ProgramNode &node) {
    std::visit(
        [&](const auto &op) {
          using Op = std::decay_t<decltype(op)>;
          if constexpr (std::is_same_v<Op, internal::ExecuteNode>) {
            for (const auto &group :
                 graph.computeSets[op.computeSet.index()].groups) {
              for (const auto &view : group.inputs) {
                f(view, false);
              }
              for (const auto &view : group.outputs) {
                f(view, true);
              }
            }
          } else if constexpr (std::is_same_v<Op, internal::CopyNode>) {
            f(op.source, false);
            f(op.destination, true);
          } else if constexpr (std::is_same_v<Op, internal::StreamInNode>) {
            f(op.destination, true);
          } else if constexpr (std::is_same_v<Op, internal::StreamOutNode>) {
            f(op.source, false);
          }
        },
        node.op);
  });
}

} // namespace poplar::compiler
