#include "compiler/Coverage.hpp"

#include "program/VisitPrograms.hpp"

#include <algorithm>
#include <map>

namespace poplar::compiler {
namespace {

using internal::GraphData;
using internal::Piece;
using internal::ProgramPtr;
using internal::TensorView;

// Disjoint, non-adjacent element intervals: begin to end.
class IntervalSet {
public:
  void add(std::int64_t begin, std::int64_t end) {
    auto next = intervals_.upper_bound(begin);
    if (next != intervals_.begin() && std::prev(next)->second >= begin) {
      --next;
      begin = next->first;
    }
    while (next != intervals_.end() && next->first <= end) {
      end = std::max(end, next->second);
      next = intervals_.erase(next);
    }
    intervals_.emplace(begin, end);
  }

  bool contains(std::int64_t begin, std::int64_t end) const {
    const auto next = intervals_.upper_bound(begin);
    return begin >= end ||
           (next != intervals_.begin() && std::prev(next)->second >= end);
  }

private:
  std::map<std::int64_t, std::int64_t> intervals_;
};

// Views of more runs than this are not tracked: reads are taken to need all of
// the variable, writes to cover nothing.
constexpr std::int64_t maxRuns = 4096;

// At most how many runs forEachRun() makes of the piece.
std::int64_t runCount(const Piece &piece) {
  const std::size_t rank = piece.extents.size();
  const bool isInnerRun = rank > 0 && piece.strides[rank - 1] == 1;
  std::int64_t runs = 1;
  for (std::size_t d = 0; d + (isInnerRun ? 1 : 0) < rank; ++d) {
    runs *= piece.extents[d];
  }
  // One long run, whatever its dimensions.
  std::int64_t next = 1;
  for (std::size_t d = rank; d-- > 0;) {
    if (piece.extents[d] != 1 && piece.strides[d] != next) {
      return runs;
    }
    next *= piece.extents[d];
  }
  return 1;
}

// The same elements, without the dimensions that repeat them.
Piece withoutBroadcasts(const Piece &piece) {
  Piece once = piece;
  once.extents.clear();
  once.strides.clear();
  for (std::size_t d = 0; d < piece.extents.size(); ++d) {
    if (piece.strides[d] != 0 || piece.extents[d] == 0) {
      once.extents.push_back(piece.extents[d]);
      once.strides.push_back(piece.strides[d]);
    }
  }
  return once;
}

// Calls f(variable) for every variable that a vertex of the set touches, as
// often as it does.
template <typename F>
void forEachTouched(const GraphData &graph,
                    const internal::ComputeSetData &computeSet, F &&f) {
  for (internal::VertexId vertex : computeSet.vertices) {
    internal::forEachEdge(
        graph.vertices, vertex,
        [&](const internal::VertexField &, const internal::FieldSlot &slot) {
          if (slot.kind == internal::FieldSlot::Kind::Run) {
            f(internal::VariableId(slot.index));
            return;
          }
          for (const Piece &piece : graph.vertices.views[slot.index].pieces) {
            f(piece.variable);
          }
        });
  }
}

std::vector<bool> findPinned(const GraphData &graph) {
  std::vector<bool> isPinned(graph.variables.size());
  for (const internal::ComputeSetData &computeSet : graph.computeSets) {
    forEachTouched(graph, computeSet, [&](internal::VariableId variable) {
      isPinned[variable.index()] = true;
    });
  }
  return isPinned;
}

// Vertices may leave elements of an Output as they are: what they touch has to
// be there before.
void exposeVertices(const GraphData &graph, const internal::ProgramNode &node,
                    std::vector<VariableUse> &uses) {
  if (const auto *execute = std::get_if<internal::ExecuteNode>(&node.op)) {
    forEachTouched(graph, graph.computeSets[execute->computeSet.index()],
                   [&](internal::VariableId variable) {
                     VariableUse &use = uses[variable.index()];
                     use.isExposed = use.isExposed || !use.isCovered;
                   });
  }
}

void markDecisions(const ControlTree &tree, std::vector<bool> &isDecision) {
  for (const Piece &piece : tree.control.pieces) {
    isDecision[piece.variable.index()] = true;
  }
  for (const ControlTree &child : tree.children) {
    markDecisions(child, isDecision);
  }
}

} // namespace

std::vector<VariableUse> findVariableUses(const GraphData &graph,
                                          const ProgramPtr &program) {
  std::vector<VariableUse> uses(graph.variables.size());
  std::vector<IntervalSet> written(graph.variables.size());
  const auto look = [&](const TensorView &view, bool isWrite) {
    for (const Piece &repeated : view.pieces) {
      const Piece piece = withoutBroadcasts(repeated);
      const std::size_t v = piece.variable.index();
      const TensorView single = {view.type, piece.extents, {piece}};
      VariableUse &use = uses[v];
      use.isWritten = use.isWritten || isWrite;
      const bool isTracked = runCount(piece) <= maxRuns;
      if (isWrite && isTracked && !use.isCovered) {
        forEachRun(single, [&](internal::VariableId, std::int64_t first,
                               std::int64_t count) {
          written[v].add(first, first + count);
        });
        use.isCovered = written[v].contains(0, graph.variables[v].elements());
      } else if (!isWrite && !use.isCovered && !use.isExposed) {
        use.isExposed = !isTracked;
        if (isTracked) {
          forEachRun(single, [&](internal::VariableId, std::int64_t first,
                                 std::int64_t count) {
            use.isExposed =
                use.isExposed || !written[v].contains(first, first + count);
          });
        }
      }
    }
  };
  internal::forEachNode(graph, program, [&](const internal::ProgramNode &node) {
    exposeVertices(graph, node, uses);
    internal::forEachView(graph, node, look);
  });
  return uses;
}

VariableRoles findRoles(const GraphData &graph, const ControlProgram &control) {
  VariableRoles roles;
  roles.isPinned = findPinned(graph);
  roles.isDecision.resize(graph.variables.size());
  for (const auto *trees : {&control.programs, &control.functions}) {
    for (const ControlTree &tree : *trees) {
      markDecisions(tree, roles.isDecision);
    }
  }
  roles.isPersistent.resize(graph.variables.size());
  std::vector<bool> &isPersistent = roles.isPersistent;
  for (std::size_t v = 0; v < isPersistent.size(); ++v) {
    isPersistent[v] = roles.isPinned[v] || roles.isDecision[v] ||
                      graph.variables[v].isConstant ||
                      !graph.variables[v].initialData.empty();
  }
  for (const auto *accesses : {&graph.hostReads, &graph.hostWrites}) {
    for (const auto &[handle, access] : *accesses) {
      for (const Piece &piece : access.view.pieces) {
        isPersistent[piece.variable.index()] = true;
      }
    }
  }
  for (const ProgramPtr &stretch : control.stretches) {
    const std::vector<VariableUse> uses = findVariableUses(graph, stretch);
    for (std::size_t v = 0; v < uses.size(); ++v) {
      isPersistent[v] = isPersistent[v] || uses[v].isExposed;
    }
  }
  return roles;
}

} // namespace poplar::compiler
