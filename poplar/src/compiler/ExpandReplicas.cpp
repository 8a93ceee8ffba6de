#include "compiler/ExpandReplicas.hpp"

#include "compiler/ExchangeReplicas.hpp"
#include "compiler/ExpandCollective.hpp"
#include "compiler/ReplicaVariables.hpp"
#include "program/VisitPrograms.hpp"

#include <support/Error.hpp>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

namespace poplar::compiler {
namespace {

using internal::ComputeSetId;
using internal::FieldSlot;
using internal::FunctionId;
using internal::GraphData;
using internal::ProgramNode;
using internal::ProgramPtr;
using internal::SequenceNode;
using internal::TensorView;
using internal::VariableId;

ProgramPtr makeNode(decltype(ProgramNode::op) op, const std::string &path) {
  return std::make_shared<ProgramNode>(ProgramNode{std::move(op), path});
}

class Expander {
public:
  Expander(const GraphData &graph, const RuntimeReplicas &runtime)
      : source_(graph), runtime_(runtime),
        replicas_(runtime.count), result_{graph, {}, {}},
        variables_(result_.graph, runtime) {
    result_.graph.replicationFactor = replicas_;
  }

  ExpandedGraph run(const std::vector<ProgramPtr> &programs) {
    for (unsigned replica = 0; replica < replicas_; ++replica) {
      addComputeSets(replica);
    }
    addHostAccess(result_.graph.hostReads);
    addHostAccess(result_.graph.hostWrites);
    addFunctions();
    for (const ProgramPtr &program : programs) {
      result_.programs.push_back(expand(program));
    }
    return std::move(result_);
  }

private:
  // Of all replicas, or of one alone.
  using Replica = std::optional<unsigned>;

  // Compute set c of replica r is number r * (compute sets) + c.
  void addComputeSets(unsigned replica) {
    GraphData &graph = result_.graph;
    for (std::size_t c = 0; c < source_.computeSets.size(); ++c) {
      const internal::ComputeSetData &from = source_.computeSets[c];
      internal::ComputeSetData to{from.debugPath, {}, {}};
      for (internal::VertexGroup group : from.groups) {
        for (TensorView &view : group.inputs) {
          view = variables_.viewOf(std::move(view), replica);
        }
        for (TensorView &view : group.outputs) {
          view = variables_.viewOf(std::move(view), replica);
        }
        group.phases.clear();
        to.groups.push_back(std::move(group));
      }
      const ComputeSetId id(replica * source_.computeSets.size() + c);
      for (internal::VertexId vertex : from.vertices) {
        to.vertices.push_back(replica == 0 ? vertex
                                           : addVertex(vertex, id, replica));
      }
      if (replica == 0) {
        graph.computeSets[c] = std::move(to);
      } else {
        graph.computeSets.push_back(std::move(to));
      }
    }
  }

  internal::VertexId addVertex(internal::VertexId vertex, ComputeSetId set,
                               unsigned replica) {
    internal::VertexTable &table = result_.graph.vertices;
    internal::VertexData data = table[vertex];
    const std::size_t fields = table.typeOf(vertex).fields.size();
    const std::size_t first = data.firstSlot;
    data.computeSet = set;
    data.firstSlot = table.slots.size();
    for (std::size_t i = 0; i < fields; ++i) {
      const FieldSlot slot = table.slots[first + i];
      table.slots.push_back(slotOf(slot, replica));
    }
    table.vertices.push_back(data);
    return internal::VertexId(table.vertices.size() - 1);
  }

  FieldSlot slotOf(FieldSlot slot, unsigned replica) {
    internal::VertexTable &table = result_.graph.vertices;
    switch (slot.kind) {
    case FieldSlot::Kind::Run:
      slot.index = variables_.of(VariableId(slot.index), replica).value;
      break;
    case FieldSlot::Kind::View:
      table.views.push_back(
          variables_.viewOf(table.views[slot.index], replica));
      slot.index = static_cast<std::uint32_t>(table.views.size() - 1);
      break;
    case FieldSlot::Kind::List: {
      std::vector<FieldSlot> list = table.lists[slot.index];
      for (FieldSlot &item : list) {
        item = slotOf(item, replica);
      }
      table.lists.push_back(std::move(list));
      slot.index = static_cast<std::uint32_t>(table.lists.size() - 1);
      break;
    }
    case FieldSlot::Kind::Unset:
    case FieldSlot::Kind::Bytes:
      break;
    }
    return slot;
  }

  void addHostAccess(std::map<std::string, internal::HostAccess> &accesses) {
    for (auto &[handle, access] : accesses) {
      access.view = variables_.joinAll(access.view);
    }
  }

  // Function f for all replicas keeps its number; for replica r alone it is
  // (r + 1) * (functions) + f.
  void addFunctions() {
    const std::size_t count = source_.functions.size();
    result_.graph.functions.resize(count * (replicas_ + 1));
    for (std::size_t f = 0; f < count; ++f) {
      result_.graph.functions[f] = expand(source_.functions[f]);
      for (unsigned r = 0; r < replicas_; ++r) {
        result_.graph.functions[(r + 1) * count + f] =
            expand(source_.functions[f], r);
      }
    }
  }

  bool joinsReplicas(const ProgramNode &node) const {
    bool isFound =
        std::holds_alternative<internal::CrossReplicaCopyNode>(node.op) ||
        std::holds_alternative<internal::CollectiveNode>(node.op);
    internal::forEachChild(source_, node, [&](const ProgramPtr &child) {
      isFound = isFound || joinsReplicas(*child);
    });
    return isFound;
  }

  ProgramPtr expand(const ProgramPtr &program, Replica replica = {}) {
    if (program == nullptr) {
      return nullptr;
    }
    return std::visit(
        [&](const auto &op) { return expand(*program, op, replica); },
        program->op);
  }

  // A node that each replica runs for itself.
  template <typename Make>
  ProgramPtr forEach(const ProgramNode &node, Replica replica, Make &&make) {
    if (replica) {
      return makeNode(make(*replica), node.debugPath);
    }
    SequenceNode all;
    for (unsigned r = 0; r < replicas_; ++r) {
      all.children.push_back(makeNode(make(r), node.debugPath));
    }
    return makeNode(std::move(all), node.debugPath);
  }

  // Control that depends on data: together around copies between replicas,
  // alone otherwise. make(replica of the predicate, replica of the bodies).
  template <typename Make>
  ProgramPtr decide(const ProgramNode &node, Replica replica, Make &&make) {
    if (replica) {
      return withOrigin(node, make(*replica, replica));
    }
    if (joinsReplicas(node)) {
      return withOrigin(node, make(0U, Replica()));
    }
    SequenceNode all;
    for (unsigned r = 0; r < replicas_; ++r) {
      all.children.push_back(withOrigin(node, make(r, Replica(r))));
    }
    return makeNode(std::move(all), node.debugPath);
  }

  ProgramPtr withOrigin(const ProgramNode &node, decltype(ProgramNode::op) op) {
    ProgramPtr result = makeNode(std::move(op), node.debugPath);
    result_.origins.emplace(result.get(), &node);
    return result;
  }

  ProgramPtr expand(const ProgramNode &node, const SequenceNode &op,
                    Replica replica) {
    SequenceNode result;
    for (const ProgramPtr &child : op.children) {
      result.children.push_back(expand(child, replica));
    }
    return makeNode(std::move(result), node.debugPath);
  }
  ProgramPtr expand(const ProgramNode &node, const internal::RepeatNode &op,
                    Replica replica) {
    return withOrigin(node,
                      internal::RepeatNode{op.count, expand(op.body, replica)});
  }
  ProgramPtr expand(const ProgramNode &, const internal::BlockNode &op,
                    Replica replica) {
    return expand(op.body, replica);
  }
  ProgramPtr expand(const ProgramNode &node, const internal::CallNode &op,
                    Replica replica) {
    const std::size_t first =
        replica ? (*replica + 1) * source_.functions.size() : 0;
    return makeNode(internal::CallNode{FunctionId(first + op.function.index())},
                    node.debugPath);
  }
  ProgramPtr expand(const ProgramNode &node, const internal::CycleCountNode &op,
                    Replica replica) {
    SequenceNode result;
    result.children.push_back(expand(op.body, replica));
    result.children.push_back(forEach(node, replica, [&](unsigned r) {
      return internal::CycleCountNode{nullptr, variables_.viewOf(op.result, r),
                                      op.cycles};
    }));
    return makeNode(std::move(result), node.debugPath);
  }
  ProgramPtr expand(const ProgramNode &node, const internal::WhileNode &op,
                    Replica replica) {
    return decide(node, replica, [&](unsigned r, Replica body) {
      return internal::WhileNode{expand(op.condition, body),
                                 variables_.viewOf(op.predicate, r),
                                 expand(op.body, body), op.continuesOn};
    });
  }
  ProgramPtr expand(const ProgramNode &node, const internal::IfNode &op,
                    Replica replica) {
    return decide(node, replica, [&](unsigned r, Replica body) {
      return internal::IfNode{variables_.viewOf(op.predicate, r),
                              expand(op.thenBody, body),
                              expand(op.elseBody, body)};
    });
  }
  ProgramPtr expand(const ProgramNode &node, const internal::SwitchNode &op,
                    Replica replica) {
    return decide(node, replica, [&](unsigned r, Replica body) {
      internal::SwitchNode result{variables_.viewOf(op.control, r), {}, {}};
      for (const auto &[key, child] : op.cases) {
        result.cases.emplace_back(key, expand(child, body));
      }
      result.defaultBody = expand(op.defaultBody, body);
      return result;
    });
  }
  // The view of any replica, once `program`, which may be empty, has exchanged
  // `source` with other engines.
  ReplicaView exchange(const TensorView &source, bool isNeeded,
                       const std::string &path, SequenceNode &program) {
    TensorView all;
    if (isNeeded) {
      all = addExchange(result_.graph, variables_.joinAll(source),
                        source_.replicationFactor, path, program);
    }
    return [this, all](const TensorView &view, unsigned replica) {
      return runtime_.has(replica)
                 ? variables_.viewOf(view, replica - runtime_.first)
                 : exchangedPart(all, replica);
    };
  }
  // One copy, which reads all sources before it writes.
  ProgramPtr expand(const ProgramNode &node,
                    const internal::CrossReplicaCopyNode &op, Replica) {
    std::vector<unsigned> from, to;
    bool isNeeded = false;
    for (const auto &[source, destination] : op.replicas) {
      isNeeded = isNeeded || runtime_.areApart({source, destination});
      if (runtime_.has(destination)) {
        from.push_back(source);
        to.push_back(destination);
      }
    }
    SequenceNode program;
    const ReplicaView viewIn =
        exchange(op.source, isNeeded, node.debugPath, program);
    const auto joinOf = [&](const TensorView &view, const auto &order) {
      return joinViews(view, order.size(),
                       [&](std::size_t i) { return viewIn(view, order[i]); });
    };
    program.children.push_back(makeNode(
        internal::CopyNode{joinOf(op.source, from), joinOf(op.destination, to)},
        node.debugPath));
    return makeNode(std::move(program), node.debugPath);
  }
  ProgramPtr expand(const ProgramNode &node, const internal::CollectiveNode &op,
                    Replica) {
    const auto &groups = op.plan.groups;
    const bool isNeeded =
        op.source.elements() > 0 &&
        std::any_of(groups.begin(), groups.end(), [&](const auto &group) {
          return runtime_.areApart(group);
        });
    SequenceNode program;
    const ReplicaView viewIn =
        exchange(op.source, isNeeded, node.debugPath, program);
    program.children.push_back(
        expandCollective(result_.graph, op, node.debugPath, runtime_, viewIn));
    return makeNode(std::move(program), node.debugPath);
  }
  ProgramPtr expand(const ProgramNode &node, const internal::ExecuteNode &op,
                    Replica replica) {
    return forEach(node, replica, [&](unsigned r) {
      return internal::ExecuteNode{
          ComputeSetId(r * source_.computeSets.size() + op.computeSet.index()),
          variables_.viewOf(op.exitStatus, r)};
    });
  }
  ProgramPtr expand(const ProgramNode &node, const internal::SyncNode &op,
                    Replica) {
    return makeNode(op, node.debugPath);
  }
  // The other leaves: their views, and their replica's number where they have
  // one.
  template <typename Leaf>
  ProgramPtr expand(const ProgramNode &node, const Leaf &leaf,
                    Replica replica) {
    return forEach(node, replica, [&](unsigned r) {
      Leaf copy = leaf;
      const auto move = [&](TensorView &view) {
        view = variables_.viewOf(std::move(view), r);
      };
      if constexpr (requires { copy.source.pieces; }) {
        move(copy.source);
      }
      if constexpr (requires { copy.destination.pieces; }) {
        move(copy.destination);
      }
      if constexpr (requires { copy.offsets.pieces; }) {
        move(copy.offsets);
      }
      if constexpr (requires { copy.view.pieces; }) {
        move(copy.view);
      }
      if constexpr (requires { copy.condition.pieces; }) {
        move(copy.condition);
      }
      if constexpr (requires { copy.replica = r; }) {
        copy.replica = r;
      }
      return copy;
    });
  }

  const GraphData &source_;
  RuntimeReplicas runtime_;
  unsigned replicas_; // that are run here
  ExpandedGraph result_;
  ReplicaVariables variables_;
};

} // namespace

bool RuntimeReplicas::areApart(const std::vector<unsigned> &replicas) const {
  return std::any_of(replicas.begin(), replicas.end(), [&](unsigned replica) {
    return replica / count != replicas.front() / count;
  });
}

ExpandedGraph expandReplicas(const GraphData &graph,
                             const std::vector<ProgramPtr> &programs,
                             const RuntimeReplicas &runtime) {
  return Expander(graph, runtime).run(programs);
}

} // namespace poplar::compiler
