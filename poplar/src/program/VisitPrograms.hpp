// Walks over program trees: children of a node, all nodes, and the views that
// they read and write. Whoever adds a kind of node adds it here.
#pragma once

#include <poplar/internal/ProgramNode.hpp>

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace poplar::internal {

// Calls f(child) for the programs that a node may run, in order: all branches,
// bodies of loops unless they never run, the body of a called function. Leaves
// have none.
template <typename F>
void forEachChild(const GraphData &graph, const ProgramNode &node, F &&f) {
  const auto call = [&](const ProgramPtr &child) {
    if (child != nullptr) {
      f(child);
    }
  };
  std::visit(
      [&](const auto &op) {
        using Op = std::decay_t<decltype(op)>;
        if constexpr (std::is_same_v<Op, SequenceNode>) {
          for (const ProgramPtr &child : op.children) {
            call(child);
          }
        } else if constexpr (std::is_same_v<Op, RepeatNode>) {
          if (op.count != 0) {
            call(op.body);
          }
        } else if constexpr (std::is_same_v<Op, WhileNode>) {
          call(op.condition);
          call(op.body);
        } else if constexpr (std::is_same_v<Op, IfNode>) {
          call(op.thenBody);
          call(op.elseBody);
        } else if constexpr (std::is_same_v<Op, SwitchNode>) {
          for (const auto &[value, body] : op.cases) {
            call(body);
          }
          call(op.defaultBody);
        } else if constexpr (std::is_same_v<Op, CallNode>) {
          call(graph.functions[op.function.index()]);
        } else if constexpr (std::is_same_v<Op, BlockNode> ||
                             std::is_same_v<Op, CycleCountNode>) {
          call(op.body);
        }
      },
      node.op);
}

namespace detail {

template <typename F>
void visitNodes(const GraphData &graph, const ProgramPtr &program,
                std::vector<bool> &isVisited, F &f) {
  if (program == nullptr) {
    return;
  }
  f(*program);
  if (const auto *call = std::get_if<CallNode>(&program->op)) {
    if (isVisited[call->function.index()]) {
      return;
    }
    isVisited[call->function.index()] = true;
  }
  forEachChild(graph, *program, [&](const ProgramPtr &child) {
    visitNodes(graph, child, isVisited, f);
  });
}

// Reads of a compute set, or its writes. Edges that are runs of one variable
// are shown as views too.
template <bool isWrite, typename F>
void visitEdges(const GraphData &graph, const ComputeSetData &computeSet,
                F &&f) {
  for (const VertexGroup &group : computeSet.groups) {
    for (const TensorView &view : isWrite ? group.outputs : group.inputs) {
      f(view, isWrite);
    }
  }
  TensorView run{support::DataType::Float, {0}, {{{}, 0, {0}, {1}}}};
  for (const VertexId vertex : computeSet.vertices) {
    forEachEdge(graph.vertices, vertex,
                [&](const VertexField &field, const FieldSlot &slot) {
                  if (isWrite ? !field.isWritten()
                              : field.direction == EdgeDirection::Output) {
                    return;
                  }
                  if (slot.kind == FieldSlot::Kind::View) {
                    f(graph.vertices.views[slot.index], isWrite);
                    return;
                  }
                  run.type = field.type;
                  run.shape[0] = slot.count;
                  run.pieces[0].variable = VariableId(slot.index);
                  run.pieces[0].offset = slot.begin;
                  run.pieces[0].extents[0] = slot.count;
                  f(std::as_const(run), isWrite);
                });
  }
}

} // namespace detail

// Calls f(node) for every node of the tree in execution order, bodies of loops
// once, or not at all when the loop never runs. A function's body follows its
// first call; a node is shown before its children.
template <typename F>
void forEachNode(const GraphData &graph, const ProgramPtr &program, F &&f) {
  std::vector<bool> isVisited(graph.functions.size());
  detail::visitNodes(graph, program, isVisited, f);
}

// Calls f(view, isWritten) for every view that the node itself, not its
// children, reads and then for every one that it writes. A view is only good
// during the call. WriteUndef does neither.
template <typename F>
void forEachView(const GraphData &graph, const ProgramNode &node, F &&f) {
  const auto optional = [&](const TensorView &view, bool isWritten) {
    if (isPresent(view)) {
      f(view, isWritten);
    }
  };
  std::visit(
      [&](const auto &op) {
        using Op = std::decay_t<decltype(op)>;
        if constexpr (std::is_same_v<Op, ExecuteNode>) {
          const ComputeSetData &computeSet =
              graph.computeSets[op.computeSet.index()];
          detail::visitEdges<false>(graph, computeSet, f);
          detail::visitEdges<true>(graph, computeSet, f);
          optional(op.exitStatus, true);
        } else if constexpr (std::is_same_v<Op, CopyNode> ||
                             std::is_same_v<Op, CrossReplicaCopyNode> ||
                             std::is_same_v<Op, CollectiveNode>) {
          f(op.source, false);
          f(op.destination, true);
        } else if constexpr (std::is_same_v<Op, StreamInNode>) {
          f(op.destination, true);
        } else if constexpr (std::is_same_v<Op, StreamOutNode>) {
          f(op.source, false);
        } else if constexpr (std::is_same_v<Op, RemoteReadNode>) {
          optional(op.offsets, false);
          f(op.destination, true);
        } else if constexpr (std::is_same_v<Op, RemoteWriteNode>) {
          optional(op.offsets, false);
          f(op.source, false);
        } else if constexpr (std::is_same_v<Op, WhileNode> ||
                             std::is_same_v<Op, IfNode>) {
          f(op.predicate, false);
        } else if constexpr (std::is_same_v<Op, SwitchNode>) {
          f(op.control, false);
        } else if constexpr (std::is_same_v<Op, PrintTensorNode> ||
                             std::is_same_v<Op, ErrorNode>) {
          f(op.view, false);
        } else if constexpr (std::is_same_v<Op, AbortNode>) {
          optional(op.condition, false);
        } else if constexpr (std::is_same_v<Op, CycleCountNode>) {
          f(op.result, true);
        }
      },
      node.op);
}

// The same for every node of a program.
template <typename F>
void forEachView(const GraphData &graph, const ProgramPtr &program, F &&f) {
  forEachNode(graph, program,
              [&](const ProgramNode &node) { forEachView(graph, node, f); });
}

} // namespace poplar::internal
