#include "compiler/CheckVertices.hpp"

#include "program/VisitPrograms.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <span>
#include <string>

namespace poplar::compiler {
namespace {

using internal::ComputeSetData;
using internal::FieldShape;
using internal::FieldSlot;
using internal::GraphData;
using internal::VariableId;
using internal::VertexData;
using internal::VertexField;
using internal::VertexId;
using support::requireUser;

// Who uses an element: a vertex, or the library operations together.
constexpr VertexId libraryOperations{};

// Elements [begin, end) of a variable that one vertex uses.
struct Use {
  std::int64_t begin;
  std::int64_t end;
  VariableId variable;
  VertexId owner;
  bool isWritten;

  bool isBefore(const Use &other) const {
    return variable != other.variable ? variable < other.variable
                                      : begin < other.begin;
  }
};

std::string describe(const GraphData &graph, VertexId owner) {
  return owner == libraryOperations
             ? "a library operation"
             : "vertex type " + graph.vertices.typeOf(owner).name;
}

// Of the uses seen so far, the two that reach furthest and belong to different
// owners: if any use of another owner overlaps a new one, one of them does.
class Furthest {
public:
  void add(const Use &use) {
    if (first_ == nullptr || use.end > first_->end) {
      if (first_ != nullptr && first_->owner != use.owner) {
        second_ = first_;
      }
      first_ = &use;
    } else if (use.owner != first_->owner &&
               (second_ == nullptr || use.end > second_->end)) {
      second_ = &use;
    }
  }
  // A use by another owner that overlaps `use`, which begins no earlier.
  const Use *overlap(const Use &use) const {
    for (const Use *other : {first_, second_}) {
      if (other != nullptr && other->owner != use.owner &&
          other->end > use.begin) {
        return other;
      }
    }
    return nullptr;
  }

private:
  const Use *first_ = nullptr;
  const Use *second_ = nullptr;
};

void requireNoOverlap(const GraphData &graph, const ComputeSetData &computeSet,
                      const Use &use, const Use *other) {
  if (other == nullptr) {
    return;
  }
  const bool areBothWritten = use.isWritten && other->isWritten;
  const Use &writer = use.isWritten ? use : *other;
  const Use &second = use.isWritten ? *other : use;
  throw graph_connection_error(fmt::format(
      "[Execute] element {} of variable '{}' is written by {} and {} by {} in "
      "compute set '{}', whose vertices run in no order",
      use.begin, graph[use.variable].debugPath, describe(graph, writer.owner),
      areBothWritten ? "written" : "read", describe(graph, second.owner),
      computeSet.debugPath));
}

// `uses` of one variable, by first element.
void checkOverlaps(const GraphData &graph, const ComputeSetData &computeSet,
                   std::span<const Use> uses) {
  Furthest reads, writes;
  for (const Use &use : uses) {
    requireNoOverlap(graph, computeSet, use, writes.overlap(use));
    if (use.isWritten) {
      requireNoOverlap(graph, computeSet, use, reads.overlap(use));
    }
    (use.isWritten ? writes : reads).add(use);
  }
}

// Collects what a compute set uses of the variables that it writes. What it
// only reads cannot conflict.
class UseCollector {
public:
  explicit UseCollector(const GraphData &graph)
      : graph_(graph), isWritten_(graph.variables.size()) {}

  // Sorted by variable and first element.
  std::vector<Use> collect(const ComputeSetData &computeSet) {
    std::vector<Use> uses;
    forEachUse(computeSet, [&](const Use &use) {
      if (use.isWritten) {
        isWritten_[use.variable.index()] = true;
        uses.push_back(use);
      }
    });
    const std::size_t writes = uses.size();
    forEachUse(computeSet, [&](const Use &use) {
      if (!use.isWritten && isWritten_[use.variable.index()]) {
        uses.push_back(use);
      }
    });
    for (std::size_t i = 0; i < writes; ++i) {
      isWritten_[uses[i].variable.index()] = false;
    }
    // Vertices are mostly added in the order of their elements.
    const auto isBefore = [](const Use &a, const Use &b) {
      return a.isBefore(b);
    };
    if (!std::is_sorted(uses.begin(), uses.end(), isBefore)) {
      std::sort(uses.begin(), uses.end(), isBefore);
    }
    return uses;
  }

private:
  template <typename F>
  void forEachUse(const ComputeSetData &computeSet, F &&f) const {
    for (VertexId vertex : computeSet.vertices) {
      forEachEdge(graph_.vertices, vertex,
                  [&](const VertexField &field, const FieldSlot &slot) {
                    forEachRun(graph_.vertices, slot,
                               [&](VariableId variable, std::int64_t begin,
                                   std::int64_t count) {
                                 f(Use{begin, begin + count, variable, vertex,
                                       field.isWritten()});
                               });
                  });
    }
    for (const internal::VertexGroup &group : computeSet.groups) {
      for (const auto *views : {&group.inputs, &group.outputs}) {
        for (const internal::TensorView &view : *views) {
          forEachRun(view, [&](VariableId variable, std::int64_t begin,
                               std::int64_t count) {
            f(Use{begin, begin + count, variable, libraryOperations,
                  views == &group.outputs});
          });
        }
      }
    }
  }

  const GraphData &graph_;
  std::vector<bool> isWritten_; // by variable; all false between compute sets
};

[[noreturn]] void throwUnconnected(const GraphData &graph, VertexId vertex,
                                   const std::string &field) {
  throw graph_connection_error(fmt::format(
      "[Execute] field '{}' of a vertex of type {} in compute set '{}' is not "
      "connected; call Graph::connect",
      field, graph.vertices.typeOf(vertex).name,
      graph.computeSets[graph.vertices[vertex].computeSet.index()].debugPath));
}

void checkConnections(const GraphData &graph, VertexId vertex) {
  const internal::VertexType &type = graph.vertices.typeOf(vertex);
  const FieldSlot *slots = graph.vertices.slotsOf(vertex);
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    const VertexField &field = type.fields[i];
    if (slots[i].kind == FieldSlot::Kind::List) {
      const auto &items = graph.vertices.lists[slots[i].index];
      for (std::size_t k = 0; k < items.size(); ++k) {
        if (items[k].kind == FieldSlot::Kind::Unset) {
          throwUnconnected(graph, vertex, fmt::format("{}[{}]", field.name, k));
        }
      }
    }
    if (slots[i].kind != FieldSlot::Kind::Unset) {
      continue;
    }
    if (field.isEdge()) {
      throwUnconnected(graph, vertex, field.name);
    }
    requireUser<no_size_specified>(
        field.shape != FieldShape::ValueVector,
        "[Execute] field '{}' of a vertex of type {} is a vector without a "
        "size; call Graph::setInitialValue or Graph::setFieldSize",
        field.name, type.name);
  }
}

void checkComputeSet(const GraphData &graph, const ComputeSetData &computeSet,
                     UseCollector &collector) {
  for (VertexId vertex : computeSet.vertices) {
    checkConnections(graph, vertex);
    requireUser<invalid_tile_mapping>(
        graph.vertices[vertex].tile != VertexData::unmapped,
        "[Execute] a vertex of type {} in compute set '{}' is not mapped to a "
        "tile; call Graph::setTileMapping",
        graph.vertices.typeOf(vertex).name, computeSet.debugPath);
  }
  const std::vector<Use> uses = collector.collect(computeSet);
  for (auto first = uses.begin(); first != uses.end();) {
    const auto last = std::find_if(first, uses.end(), [&](const Use &use) {
      return use.variable != first->variable;
    });
    checkOverlaps(graph, computeSet, {first, last});
    first = last;
  }
}

} // namespace

void checkVertices(const GraphData &graph,
                   const std::vector<internal::ProgramPtr> &programs) {
  if (graph.vertices.vertices.empty()) {
    return;
  }
  UseCollector collector(graph);
  std::vector<bool> isChecked(graph.computeSets.size());
  for (const internal::ProgramPtr &program : programs) {
    internal::forEachNode(graph, program, [&](const internal::ProgramNode &n) {
      const auto *execute = std::get_if<internal::ExecuteNode>(&n.op);
      if (execute == nullptr || isChecked[execute->computeSet.index()]) {
        return;
      }
      isChecked[execute->computeSet.index()] = true;
      const ComputeSetData &computeSet =
          graph.computeSets[execute->computeSet.index()];
      if (!computeSet.vertices.empty()) {
        checkComputeSet(graph, computeSet, collector);
      }
    });
  }
}

} // namespace poplar::compiler
