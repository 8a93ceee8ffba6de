#include "compiler/CheckPrograms.hpp"

#include "program/VisitPrograms.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <set>
#include <string>

namespace poplar::compiler {
namespace {

using internal::GraphData;
using internal::Piece;
using internal::ProgramNode;
using internal::ProgramPtr;
using internal::TensorView;
using support::DataType;
using support::requireUser;

template <typename Error>
void requireWriteable(const GraphData &graph, const TensorView &view,
                      const std::string &what) {
  for (const Piece &piece : view.pieces) {
    requireUser<Error>(!graph[piece.variable].isConstant,
                       "{} writes to the constant '{}'", what,
                       graph[piece.variable].debugPath);
  }
  if (internal::containsAliases(view)) {
    throw Error(fmt::format(
        "{} writes to a tensor of shape {} of '{}' in which an element appears "
        "more than once; write to a tensor without aliases and copy it",
        what, support::toString(view.shape),
        graph[view.pieces[0].variable].debugPath));
  }
}

// One element that decides what runs.
void requireScalar(const GraphData &graph, const TensorView &view,
                   bool mayBeBool, const std::string &what) {
  const bool isAllowed = view.type == DataType::Int ||
                         view.type == DataType::UnsignedInt ||
                         (mayBeBool && view.type == DataType::Bool);
  requireUser<control_program_error>(
      isAllowed && view.elements() == 1,
      "{} looks at a tensor of {}{} of '{}'; one element of {}INT or "
      "UNSIGNED_INT is needed",
      what, support::toString(view.type), support::toString(view.shape),
      view.pieces.empty() ? std::string()
                          : graph[view.pieces[0].variable].debugPath,
      mayBeBool ? "BOOL, " : "");
}

void requireSame(const std::string &what, support::DataType sourceType,
                 std::int64_t sourceElements, support::DataType type,
                 std::int64_t elements) {
  requireUser<control_program_error>(
      sourceType == type, "{} copies {} elements to {} elements", what,
      support::toString(sourceType), support::toString(type));
  requireUser<control_program_error>(sourceElements == elements,
                                     "{} copies {} elements to {} elements",
                                     what, sourceElements, elements);
}

void check(const GraphData &graph, const ProgramNode &node,
           const internal::CopyNode &copy) {
  const std::string what = fmt::format("[Copy] '{}'", node.debugPath);
  requireSame(what, copy.source.type, copy.source.elements(),
              copy.destination.type, copy.destination.elements());
  requireWriteable<control_program_error>(graph, copy.destination, what);
}

void check(const GraphData &graph, const ProgramNode &node,
           const internal::StreamInNode &copy) {
  const internal::StreamData &stream = graph.streams[copy.stream.index()];
  const std::string what = fmt::format("[Copy] '{}' from stream '{}'",
                                       node.debugPath, stream.handle);
  requireSame(what, stream.type, stream.elements, copy.destination.type,
              copy.destination.elements());
  requireWriteable<control_program_error>(graph, copy.destination, what);
}

void check(const GraphData &graph, const ProgramNode &node,
           const internal::StreamOutNode &copy) {
  const internal::StreamData &stream = graph.streams[copy.stream.index()];
  requireSame(
      fmt::format("[Copy] '{}' to stream '{}'", node.debugPath, stream.handle),
      copy.source.type, copy.source.elements(), stream.type, stream.elements);
}

// Rows of `buffer` and the tensor that they are copied to or from.
void checkRows(const GraphData &graph, const internal::RemoteBufferData &buffer,
               const TensorView &view, const TensorView &offsets,
               const std::string &what) {
  std::int64_t rows = 1;
  if (isPresent(offsets)) {
    rows = offsets.elements();
    requireUser<control_program_error>(
        offsets.type == DataType::UnsignedInt && offsets.shape.size() <= 1,
        "{} takes its offsets from '{}', a tensor of {}{}; one of UNSIGNED_INT "
        "and rank 1 is needed",
        what, graph[offsets.pieces[0].variable].debugPath,
        support::toString(offsets.type), support::toString(offsets.shape));
  }
  requireUser<control_program_error>(
      view.type == buffer.type && view.elements() == rows * buffer.elements,
      "{} copies a tensor of {}{}; {} rows of {} elements of {} are needed",
      what, support::toString(view.type), support::toString(view.shape), rows,
      buffer.elements, support::toString(buffer.type));
}

void check(const GraphData &graph, const ProgramNode &node,
           const internal::RemoteReadNode &copy) {
  const auto &buffer = graph.remoteBuffers[copy.buffer.index()];
  const std::string what = fmt::format("[Copy] '{}' from remote buffer '{}'",
                                       node.debugPath, buffer.handle);
  checkRows(graph, buffer, copy.destination, copy.offsets, what);
  requireWriteable<control_program_error>(graph, copy.destination, what);
}

void check(const GraphData &graph, const ProgramNode &node,
           const internal::RemoteWriteNode &copy) {
  const auto &buffer = graph.remoteBuffers[copy.buffer.index()];
  checkRows(graph, buffer, copy.source, copy.offsets,
            fmt::format("[Copy] '{}' to remote buffer '{}'", node.debugPath,
                        buffer.handle));
}

void check(const GraphData &graph, const ProgramNode &node,
           const internal::CrossReplicaCopyNode &copy) {
  const std::string what =
      fmt::format("[CrossReplicaCopy] '{}'", node.debugPath);
  requireSame(what, copy.source.type, copy.source.elements(),
              copy.destination.type, copy.destination.elements());
  requireWriteable<control_program_error>(graph, copy.destination, what);
  // Each replica sends once and receives once.
  std::vector<bool> receives(graph.replicationFactor);
  for (const auto &[from, to] : copy.replicas) {
    requireUser<graph_replication_error>(
        from < receives.size() && to < receives.size() && !receives[to],
        "{} maps replica {} to {}; the graph has {} replicas, and each is "
        "written once",
        what, from, to, receives.size());
    receives[to] = true;
  }
  requireUser<graph_replication_error>(
      copy.replicas.size() == receives.size(),
      "{} maps {} replicas; the graph has {}, and each must be mapped", what,
      copy.replicas.size(), receives.size());
}

// What a member of a group of `members` gets.
std::int64_t resultElements(const internal::CollectiveNode &collective,
                            std::int64_t members) {
  const std::int64_t given = collective.source.elements();
  switch (collective.plan.kind) {
  case internal::CollectiveKind::ReduceScatter:
    return (given + members - 1) / members;
  case internal::CollectiveKind::AllGather:
    return given * members;
  case internal::CollectiveKind::AllToAll:
    return given / members * members; // elements that all parts can share
  case internal::CollectiveKind::AllReduce:
  case internal::CollectiveKind::Broadcast:
    break;
  }
  return given;
}

void check(const GraphData &graph, const ProgramNode &node,
           const internal::CollectiveNode &collective) {
  const std::string what = fmt::format("[Collective] '{}'", node.debugPath);
  requireWriteable<control_program_error>(graph, collective.destination, what);
  const auto &groups = collective.plan.groups;
  std::vector<bool> isMember(graph.replicationFactor);
  std::size_t members = 0;
  for (const auto &group : groups) {
    members += group.size();
    requireUser<graph_replication_error>(
        !group.empty() && group.size() == groups[0].size(),
        "{} has groups of {} and {} replicas; they must be the same", what,
        groups[0].size(), group.size());
    requireUser<graph_replication_error>(
        collective.plan.root < group.size(),
        "{} has member {} of each group send; a group has {}", what,
        collective.plan.root, group.size());
    requireSame(
        what, collective.source.type,
        resultElements(collective, static_cast<std::int64_t>(group.size())),
        collective.destination.type, collective.destination.elements());
    for (unsigned replica : group) {
      requireUser<graph_replication_error>(
          replica < isMember.size() && !isMember[replica],
          "{} has replica {} in a group; the graph has {}, and each is in one",
          what, replica, isMember.size());
      isMember[replica] = true;
    }
  }
  requireUser<graph_replication_error>(
      members == isMember.size(),
      "{} groups {} replicas; the graph has {}, and each must be in one", what,
      members, isMember.size());
}

void check(const GraphData &graph, const ProgramNode &node,
           const internal::ExecuteNode &execute) {
  for (const internal::VertexGroup &group :
       graph.computeSets[execute.computeSet.index()].groups) {
    for (const TensorView &output : group.outputs) {
      requireWriteable<graph_connection_error>(
          graph, output,
          fmt::format("[{}] '{}'", group.kind->name, group.debugPath));
    }
  }
  if (isPresent(execute.exitStatus)) {
    const TensorView &status = execute.exitStatus;
    const std::string what = fmt::format("[Execute] '{}'", node.debugPath);
    requireUser<control_program_error>(
        status.type == DataType::Bool && status.elements() == 1,
        "{} writes its exit status to a tensor of {}{}; one BOOL is needed",
        what, support::toString(status.type), support::toString(status.shape));
    requireWriteable<control_program_error>(graph, status, what);
  }
}

void check(const GraphData &graph, const ProgramNode &node,
           const internal::WhileNode &loop) {
  requireScalar(graph, loop.predicate, true,
                fmt::format("[RepeatWhile{}] '{}'",
                            loop.continuesOn ? "True" : "False",
                            node.debugPath));
}

void check(const GraphData &graph, const ProgramNode &node,
           const internal::IfNode &branch) {
  requireScalar(graph, branch.predicate, true,
                fmt::format("[If] '{}'", node.debugPath));
}

void check(const GraphData &graph, const ProgramNode &node,
           const internal::SwitchNode &branch) {
  const std::string what = fmt::format("[Switch] '{}'", node.debugPath);
  requireScalar(graph, branch.control, false, what);
  std::set<std::int32_t> seen;
  for (const auto &[value, body] : branch.cases) {
    requireUser<control_program_error>(seen.insert(value).second,
                                       "{} has two cases for {}", what, value);
  }
}

void check(const GraphData &graph, const ProgramNode &node,
           const internal::AbortNode &abort) {
  if (isPresent(abort.condition)) {
    requireScalar(graph, abort.condition, true,
                  fmt::format("[AbortOnCondition] '{}'", node.debugPath));
  }
}

template <typename Op>
void check(const GraphData &, const ProgramNode &, const Op &) {}

// Checks that programs refer to things of their own graph, which everything
// that walks over them relies on.
class ReferenceCheck {
public:
  explicit ReferenceCheck(const GraphData &graph)
      : graph_(graph), calls_(graph.functions.size(), Calls::None) {}

  void visit(const ProgramPtr &program) {
    if (program == nullptr) {
      return;
    }
    const ProgramNode &node = *program;
    requireUser<control_program_error>(
        node.graph == 0 || node.graph == graph_.id,
        "[poplar::program] '{}' refers to tensors, streams, compute sets or "
        "functions of another graph than the one that is compiled",
        node.debugPath);
    if (const auto *execute = std::get_if<internal::ExecuteNode>(&node.op)) {
      requireIn(node, execute->computeSet.index(), graph_.computeSets.size(),
                "Execute", "compute set");
    } else if (const auto *in = std::get_if<internal::StreamInNode>(&node.op)) {
      requireIn(node, in->stream.index(), graph_.streams.size(), "Copy",
                "stream");
    } else if (const auto *out =
                   std::get_if<internal::StreamOutNode>(&node.op)) {
      requireIn(node, out->stream.index(), graph_.streams.size(), "Copy",
                "stream");
    } else if (const auto *read =
                   std::get_if<internal::RemoteReadNode>(&node.op)) {
      requireIn(node, read->buffer.index(), graph_.remoteBuffers.size(), "Copy",
                "remote buffer");
    } else if (const auto *write =
                   std::get_if<internal::RemoteWriteNode>(&node.op)) {
      requireIn(node, write->buffer.index(), graph_.remoteBuffers.size(),
                "Copy", "remote buffer");
    } else if (const auto *call = std::get_if<internal::CallNode>(&node.op)) {
      requireIn(node, call->function.index(), graph_.functions.size(), "Call",
                "function");
      visitFunction(node, call->function.index());
      return;
    }
    forEachChild(graph_, node, [&](const ProgramPtr &child) { visit(child); });
  }

private:
  enum class Calls : std::uint8_t { None, Open, Checked };

  static void requireIn(const ProgramNode &node, std::size_t index,
                        std::size_t size, const char *program,
                        const char *what) {
    requireUser<control_program_error>(
        index < size,
        "[{}] '{}' refers to a {} that was default-constructed or belongs to "
        "another graph",
        program, node.debugPath, what);
  }

  void visitFunction(const ProgramNode &node, std::size_t function) {
    requireUser<graph_recursion_error>(
        calls_[function] != Calls::Open,
        "[Call] '{}' calls function {}, which is running already",
        node.debugPath, function);
    if (calls_[function] == Calls::None) {
      calls_[function] = Calls::Open;
      visit(graph_.functions[function]);
      calls_[function] = Calls::Checked;
    }
  }

  const GraphData &graph_;
  std::vector<Calls> calls_; // by function
};

} // namespace

void checkPrograms(const GraphData &graph,
                   const std::vector<ProgramPtr> &programs) {
  ReferenceCheck references(graph);
  for (const ProgramPtr &program : programs) {
    references.visit(program);
    forEachNode(graph, program, [&](const ProgramNode &node) {
      std::visit([&](const auto &op) { check(graph, node, op); }, node.op);
    });
  }
}

void checkTileMapping(const GraphData &graph,
                      const std::vector<ProgramPtr> &programs) {
  std::vector<bool> isUsed(graph.variables.size());
  for (const ProgramPtr &program : programs) {
    forEachView(graph, program, [&](const TensorView &view, bool) {
      for (const Piece &piece : view.pieces) {
        isUsed[piece.variable.index()] = true;
      }
    });
  }
  for (std::size_t v = 0; v < isUsed.size(); ++v) {
    if (!isUsed[v]) {
      continue;
    }
    const internal::Variable &variable = graph.variables[v];
    const std::int64_t unmapped =
        variable.mapping.firstUnmapped(variable.elements());
    requireUser<invalid_tile_mapping>(
        unmapped < 0,
        "Element {} of variable '{}' of shape {} is not mapped to a tile; call "
        "Graph::setTileMapping before compiling",
        unmapped, variable.debugPath, support::toString(variable.shape));
  }
}

} // namespace poplar::compiler
