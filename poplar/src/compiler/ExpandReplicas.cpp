#include "compiler/ExpandReplicas.hpp"

#include "compiler/ExpandCollective.hpp"
#include "program/VisitPrograms.hpp"

#include <support/Error.hpp>

#include <cstring>
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
using internal::Variable;
using internal::VariableId;

ProgramPtr makeNode(decltype(ProgramNode::op) op, const std::string &path) {
  return std::make_shared<ProgramNode>(ProgramNode{std::move(op), path});
}

class Expander {
public:
  explicit Expander(const GraphData &graph)
      : source_(graph), replicas_(graph.replicationFactor) {
    result_.graph = graph;
  }

  ExpandedGraph run(const std::vector<ProgramPtr> &programs) {
    addVariables();
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

  void addVariables() {
    GraphData &graph = result_.graph;
    const std::size_t count = source_.variables.size();
    variables_.resize(replicas_, std::vector<VariableId>(count));
    for (std::size_t v = 0; v < count; ++v) {
      const Variable &variable = source_.variables[v];
      const bool isShared = variable.isConstant && !variable.isReplicaIndex;
      variables_[0][v] = VariableId(v);
      for (unsigned r = 1; r < replicas_; ++r) {
        if (isShared) {
          variables_[r][v] = VariableId(v);
          continue;
        }
        variables_[r][v] = VariableId(graph.variables.size());
        graph.variables.push_back(variable);
        if (variable.isReplicaIndex) {
          const std::uint32_t index = r;
          std::memcpy(graph.variables.back().initialData.data(), &index,
                      sizeof(index));
        }
      }
    }
  }

  TensorView viewOf(TensorView view, unsigned replica) const {
    for (internal::Piece &piece : view.pieces) {
      piece.variable = variables_[replica][piece.variable.index()];
    }
    return view;
  }

  // The views of the replicas in this order, after each other.
  TensorView join(const TensorView &view,
                  const std::vector<unsigned> &order) const {
    TensorView joined = view;
    joined.pieces.clear();
    joined.shape.insert(joined.shape.begin(),
                        static_cast<std::int64_t>(order.size()));
    for (unsigned replica : order) {
      const TensorView part = viewOf(view, replica);
      joined.pieces.insert(joined.pieces.end(), part.pieces.begin(),
                           part.pieces.end());
    }
    return joined;
  }

  // Compute set c of replica r is number r * (compute sets) + c.
  void addComputeSets(unsigned replica) {
    GraphData &graph = result_.graph;
    for (std::size_t c = 0; c < source_.computeSets.size(); ++c) {
      const internal::ComputeSetData &from = source_.computeSets[c];
      internal::ComputeSetData to{from.debugPath, {}, {}};
      for (internal::VertexGroup group : from.groups) {
        for (TensorView &view : group.inputs) {
          view = viewOf(std::move(view), replica);
        }
        for (TensorView &view : group.outputs) {
          view = viewOf(std::move(view), replica);
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
      slot.index = variables_[replica][slot.index].value;
      break;
    case FieldSlot::Kind::View:
      table.views.push_back(viewOf(table.views[slot.index], replica));
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

  std::vector<unsigned> allReplicas() const {
    std::vector<unsigned> order;
    for (unsigned r = 0; r < replicas_; ++r) {
      order.push_back(r);
    }
    return order;
  }

  void addHostAccess(std::map<std::string, internal::HostAccess> &accesses) {
    for (auto &[handle, access] : accesses) {
      access.view = join(access.view, allReplicas());
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
      return internal::CycleCountNode{nullptr, viewOf(op.result, r), op.cycles};
    }));
    return makeNode(std::move(result), node.debugPath);
  }
  ProgramPtr expand(const ProgramNode &node, const internal::WhileNode &op,
                    Replica replica) {
    return decide(node, replica, [&](unsigned r, Replica body) {
      return internal::WhileNode{expand(op.condition, body),
                                 viewOf(op.predicate, r), expand(op.body, body),
                                 op.continuesOn};
    });
  }
  ProgramPtr expand(const ProgramNode &node, const internal::IfNode &op,
                    Replica replica) {
    return decide(node, replica, [&](unsigned r, Replica body) {
      return internal::IfNode{viewOf(op.predicate, r),
                              expand(op.thenBody, body),
                              expand(op.elseBody, body)};
    });
  }
  ProgramPtr expand(const ProgramNode &node, const internal::SwitchNode &op,
                    Replica replica) {
    return decide(node, replica, [&](unsigned r, Replica body) {
      internal::SwitchNode result{viewOf(op.control, r), {}, {}};
      for (const auto &[key, child] : op.cases) {
        result.cases.emplace_back(key, expand(child, body));
      }
      result.defaultBody = expand(op.defaultBody, body);
      return result;
    });
  }
  // One copy, which reads all sources before it writes.
  ProgramPtr expand(const ProgramNode &node,
                    const internal::CrossReplicaCopyNode &op, Replica) {
    std::vector<unsigned> from, to;
    for (const auto &[source, destination] : op.replicas) {
      from.push_back(source);
      to.push_back(destination);
    }
    return makeNode(
        internal::CopyNode{join(op.source, from), join(op.destination, to)},
        node.debugPath);
  }
  ProgramPtr expand(const ProgramNode &node, const internal::CollectiveNode &op,
                    Replica) {
    return expandCollective(result_.graph, op, node.debugPath,
                            [&](const TensorView &view, unsigned replica) {
                              return viewOf(view, replica);
                            });
  }
  ProgramPtr expand(const ProgramNode &node, const internal::ExecuteNode &op,
                    Replica replica) {
    return forEach(node, replica, [&](unsigned r) {
      return internal::ExecuteNode{
          ComputeSetId(r * source_.computeSets.size() + op.computeSet.index()),
          viewOf(op.exitStatus, r)};
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
        view = viewOf(std::move(view), r);
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
  unsigned replicas_;
  ExpandedGraph result_;
  std::vector<std::vector<VariableId>> variables_; // by replica, then variable
};

} // namespace

ExpandedGraph expandReplicas(const GraphData &graph,
                             const std::vector<ProgramPtr> &programs) {
  return Expander(graph).run(programs);
}

} // namespace poplar::compiler
