// When the variables of a graph hold values that are still needed.
#include "model/Liveness.hpp"

#include "program/VisitPrograms.hpp"

#include <algorithm>
#include <span>

namespace poplar::model {

using internal::GraphData;
using internal::Piece;
using internal::ProgramNode;
using internal::ProgramPtr;
using internal::TensorView;
using internal::VariableId;

namespace {

// What one leaf does to one variable; it reads before it writes.
struct Access {
  std::size_t leaf = 0;
  std::size_t program = 0;
  bool isConditional = false; // in a branch
  bool isRead = false;
  bool isUndef = false;     // ends the life of the value
  std::int64_t written = 0; // elements
};

struct Loop {
  std::size_t begin; // leaves, both included
  std::size_t end;
};

struct Trace {
  std::vector<const ProgramNode *> schedule;
  std::vector<std::vector<Access>> accesses; // by variable
  std::vector<Loop> loops;                   // inner before outer
};

class Tracer {
public:
  explicit Tracer(const GraphData &graph) : graph_(graph) {
    trace_.accesses.resize(graph.variables.size());
  }

  void addProgram(const ProgramPtr &program) {
    addNode(program);
    ++program_;
  }
  Trace take() { return std::move(trace_); }

private:
  void addNode(const ProgramPtr &node) {
    if (!node) {
      return;
    }
    const std::size_t begin = trace_.schedule.size();
    if (const auto *loop = std::get_if<internal::WhileNode>(&node->op)) {
      addNode(loop->condition);
      addOwn(*node);
      addNode(loop->body);
      addLoop(begin);
    } else if (std::holds_alternative<internal::RepeatNode>(node->op)) {
      addChildren(*node);
      addLoop(begin);
    } else if (std::holds_alternative<internal::IfNode>(node->op) ||
               std::holds_alternative<internal::SwitchNode>(node->op)) {
      addOwn(*node);
      ++branchDepth_;
      addChildren(*node);
      --branchDepth_;
    } else if (std::holds_alternative<internal::SequenceNode>(node->op) ||
               std::holds_alternative<internal::CallNode>(node->op) ||
               std::holds_alternative<internal::BlockNode>(node->op)) {
      addChildren(*node);
    } else { // a leaf, or CycleCount, which writes when its body is done
      addChildren(*node);
      addOwn(*node);
    }
  }

  void addChildren(const ProgramNode &node) {
    forEachChild(graph_, node,
                 [&](const ProgramPtr &child) { addNode(child); });
  }

  void addLoop(std::size_t begin) {
    if (trace_.schedule.size() > begin) {
      trace_.loops.push_back({begin, trace_.schedule.size() - 1});
    }
  }

  void addOwn(const ProgramNode &node) {
    forEachView(graph_, node, [&](const TensorView &view, bool isWritten) {
      for (const Piece &piece : view.pieces) {
        Access &access = accessOf(piece.variable);
        if (isWritten) {
          access.written += support::elementCount(piece.extents);
        } else {
          access.isRead = true;
        }
      }
    });
    if (const auto *undef = std::get_if<internal::WriteUndefNode>(&node.op)) {
      for (const Piece &piece : undef->view.pieces) {
        Access &access = accessOf(piece.variable);
        // Part of a variable stays where it is: only a whole one dies.
        access.isUndef = undef->view.elements() ==
                         graph_.variables[piece.variable.index()].elements();
      }
    }
    trace_.schedule.push_back(&node);
  }

  Access &accessOf(VariableId variable) {
    auto &accesses = trace_.accesses[variable.index()];
    const std::size_t leaf = trace_.schedule.size();
    if (accesses.empty() || accesses.back().leaf != leaf) {
      accesses.push_back({.leaf = leaf,
                          .program = program_,
                          .isConditional = branchDepth_ != 0});
    }
    return accesses.back();
  }

  const GraphData &graph_;
  Trace trace_;
  std::size_t program_ = 0;
  unsigned branchDepth_ = 0;
};

enum class Entry { Defined, Partly, Read };

// What the accesses do first to the value from before: replace it, replace a
// part of it, or read it.
Entry entryOf(std::span<const Access> accesses, std::int64_t elements) {
  std::int64_t written = 0;
  for (const Access &access : accesses) {
    if (access.isRead) {
      return Entry::Read;
    }
    written += access.written;
    if (access.isUndef || written >= elements) {
      return Entry::Defined;
    }
  }
  return Entry::Partly;
}

std::vector<LiveRange> splitRanges(VariableId variable,
                                   std::span<const Access> accesses,
                                   std::int64_t elements) {
  std::vector<LiveRange> ranges;
  bool isOpen = false;
  for (const Access &access : accesses) {
    if (access.isUndef) {
      isOpen = isOpen && access.isConditional;
      continue;
    }
    // The way around a branch still sees the value from before.
    const bool isNewValue =
        !access.isRead && !access.isConditional && access.written >= elements;
    if (!isOpen || isNewValue) {
      ranges.push_back({variable, access.leaf, access.leaf});
      isOpen = true;
    } else {
      ranges.back().end = access.leaf;
    }
  }
  return ranges;
}

// A value that enters a loop from before must survive all its iterations.
void extendOverLoop(std::vector<LiveRange> &ranges, const Loop &loop) {
  std::vector<LiveRange> merged;
  LiveRange whole{ranges.front().variable, loop.begin, loop.end};
  for (const LiveRange &range : ranges) {
    if (range.end < loop.begin || range.begin > loop.end) {
      merged.push_back(range);
    } else {
      whole.begin = std::min(whole.begin, range.begin);
      whole.end = std::max(whole.end, range.end);
    }
  }
  merged.push_back(whole);
  ranges = std::move(merged);
}

std::span<const Access> accessesIn(std::span<const Access> accesses,
                                   const Loop &loop) {
  const auto first = std::partition_point(
      accesses.begin(), accesses.end(),
      [&](const Access &access) { return access.leaf < loop.begin; });
  const auto last =
      std::partition_point(first, accesses.end(), [&](const Access &access) {
        return access.leaf <= loop.end;
      });
  return accesses.subspan(static_cast<std::size_t>(first - accesses.begin()),
                          static_cast<std::size_t>(last - first));
}

std::vector<bool> hostVariables(const GraphData &graph) {
  std::vector<bool> result(graph.variables.size());
  for (const auto *handles : {&graph.hostWrites, &graph.hostReads}) {
    for (const auto &[handle, access] : *handles) {
      for (const Piece &piece : access.view.pieces) {
        result[piece.variable.index()] = true;
      }
    }
  }
  return result;
}

} // namespace

Liveness analyseLiveness(const GraphData &graph,
                         const std::vector<ProgramPtr> &programs) {
  Tracer tracer(graph);
  for (const ProgramPtr &program : programs) {
    tracer.addProgram(program);
  }
  Trace trace = tracer.take();
  const std::vector<bool> isHostVariable = hostVariables(graph);

  Liveness result;
  for (std::size_t index = 0; index < graph.variables.size(); ++index) {
    const internal::Variable &variable = graph.variables[index];
    const VariableId id(index);
    const std::vector<Access> &accesses = trace.accesses[index];
    if (accesses.empty()) {
      if (isHostVariable[index]) {
        result.alwaysLive.push_back(id);
      }
      continue; // nothing uses it: it is not allocated
    }
    const std::int64_t elements = variable.elements();
    if (variable.isConstant || !variable.initialData.empty() ||
        isHostVariable[index] ||
        accesses.front().program != accesses.back().program ||
        entryOf(accesses, elements) == Entry::Read) {
      result.alwaysLive.push_back(id);
      continue;
    }
    auto ranges = splitRanges(id, accesses, elements);
    for (const Loop &loop : trace.loops) {
      const auto inside = accessesIn(accesses, loop);
      if (!inside.empty() && !ranges.empty() &&
          entryOf(inside, elements) != Entry::Defined) {
        extendOverLoop(ranges, loop);
      }
    }
    result.ranges.insert(result.ranges.end(), ranges.begin(), ranges.end());
  }
  std::stable_sort(
      result.ranges.begin(), result.ranges.end(),
      [](const LiveRange &a, const LiveRange &b) { return a.begin < b.begin; });
  result.schedule = std::move(trace.schedule);
  return result;
}

} // namespace poplar::model
