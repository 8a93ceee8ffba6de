// Random programs for the model: on one IPU or several, user vertices with and
// without estimates, library operations, copies, transfers, loops, branches,
// calls and replicas.
#pragma once

#include "ModelGraph.hpp"

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace poplar::testing {

class RandomProgram {
public:
  explicit RandomProgram(unsigned seed)
      : random_(seed), ipus_(1U << (seed % 3)), graph_(smallTarget(ipus_, 16)) {
    for (std::size_t i = 0; i < variables; ++i) {
      addVariable();
    }
    addConstants();
    addTypes();
    addHost();
  }

  ModelGraph &graph() { return graph_; }
  unsigned ipus() const { return ipus_; }

  // Sequences and loops of leaves, with branches and calls or without.
  ProgramPtr make(unsigned depth, bool hasBranches = true) {
    std::vector<ProgramPtr> children;
    for (std::uint64_t i = pick(1, 5); i > 0; --i) {
      if (depth > 0 && pick(0, 3) == 0) {
        children.push_back(
            ModelGraph::repeat(pick(0, 40), make(depth - 1, hasBranches)));
      } else if (depth > 0 && hasBranches && pick(0, 2) == 0) {
        children.push_back(makeControl(depth - 1));
      } else {
        children.push_back(makeLeaf());
      }
    }
    return ModelGraph::sequence(std::move(children));
  }

  // User vertices anywhere, with edges to anywhere.
  ProgramPtr makeVertices() {
    const ComputeSetId set = graph_.addComputeSet("vertices");
    const auto run = [&](VariableId variable) {
      const auto begin = static_cast<std::int64_t>(pick(0, 50));
      return ModelGraph::run(variable, begin,
                             static_cast<std::int64_t>(pick(0, 9)));
    };
    for (std::uint64_t i = pick(1, 30); i > 0; --i) {
      const auto tile = static_cast<unsigned>(pick(0, ipus_ * 16 - 1));
      const auto type = static_cast<std::uint32_t>(pick(0, 2));
      FieldSlot in = run(anySource());
      if (type == 1) {
        in = graph_.listSlot({run(anySource()), run(anySource())});
      } else if (type == 2) {
        in = graph_.viewSlot({support::DataType::Float,
                              {4, 5},
                              {{anySource(), 2, {4, 5}, {11, 2}}}});
      }
      graph_.addVertex(set, type, tile, {in, run(anyVariable()), {}},
                       pick(0, 1) == 0 ? VertexData::noEstimate : pick(1, 300));
    }
    const bool hasStatus = pick(0, 3) == 0;
    return hasStatus ? ModelGraph::make(
                           ExecuteNode{set, graph_.slice(anyVariable(), 0, 1)})
                     : ModelGraph::make(ExecuteNode{set});
  }

private:
  static constexpr std::size_t variables = 8; // then constants, temporaries

  // Of two values, so that tiles hold equal ones.
  void addConstants() {
    for (int i = 0; i < 3; ++i) {
      Variable &constant = graph_.data[addVariable()];
      constant.isConstant = true;
      constant.initialData.assign(
          static_cast<std::size_t>(constant.elements()) * 4,
          static_cast<std::byte>(pick(0, 1)));
    }
  }

  void addHost() {
    graph_.data.hostWrites["written"] = {graph_.view(anyVariable())};
    graph_.data.hostReads["read"] = {graph_.view(anyVariable())};
    in_ = graph_.addStream("in", 49, true);
    out_ = graph_.addStream("out", 49, false);
    graph_.data.remoteBuffers.push_back({.handle = "remote", .elements = 49});
    graph_.data.replicationFactor = pick(0, 2) == 0 ? 2 : 1;
  }

  ProgramPtr makeLeaf() {
    switch (pick(0, 7)) {
    case 0:
    case 1:
      return makeCopy();
    case 2:
    case 3:
      return makeVertices();
    case 4:
    case 5:
      return makeExecute(anySource(), anyVariable());
    case 6:
      return makeTemporary();
    default:
      return makeTransfer();
    }
  }

  // A variable that lives from one operation to another.
  ProgramPtr makeTemporary() {
    const VariableId temporary = addVariable();
    return ModelGraph::sequence({makeExecute(anyVariable(), temporary),
                                 makeExecute(anySource(), anyVariable()),
                                 makeExecute(temporary, anyVariable())});
  }

  // To and from the host, remote buffers and other replicas.
  ProgramPtr makeTransfer() {
    const TensorView view = graph_.slice(anyVariable(), 3, 52);
    const TensorView other = graph_.slice(anyVariable(), 5, 54);
    constexpr RemoteBufferId buffer(0);
    switch (pick(0, 7)) {
    case 0:
      return ModelGraph::make(StreamInNode{in_, view});
    case 1:
      return ModelGraph::make(StreamOutNode{view, out_});
    case 2:
      return ModelGraph::make(RemoteReadNode{buffer, view, {}});
    case 3:
      return ModelGraph::make(RemoteWriteNode{view, buffer, {}});
    case 4:
      return ModelGraph::make(PrintTensorNode{"title", view, {}});
    case 5:
      return ModelGraph::make(
          SyncNode{pick(0, 1) == 0 ? SyncType::INTERNAL : SyncType::GLOBAL});
    case 6:
      return ModelGraph::make(WriteUndefNode{graph_.view(anyVariable())});
    default:
      return graph_.data.replicationFactor == 1
                 ? makeCopy()
                 : ModelGraph::make(
                       CrossReplicaCopyNode{view, other, {{0, 1}, {1, 0}}});
    }
  }

  void addTypes() {
    const VertexField out = edge("out", EdgeDirection::InOut);
    const VertexField flag = value("flag", support::DataType::Bool);
    graph_.addType(
        vertexType("plain", {edge("in", EdgeDirection::Input), out, flag}));
    VertexField list = edge("in", EdgeDirection::Input, FieldShape::VectorList);
    list.itemLayout = FieldLayout::ShortSpan;
    graph_.addType(vertexType("list", {list, out, flag}, VertexBase::Multi));
    VertexField wide = edge("in", EdgeDirection::Input);
    wide.alignment = 16;
    wide.isInterleaved = true;
    graph_.addType(
        vertexType("strided", {wide, out, flag}, VertexBase::Supervisor));
  }

  ProgramPtr makeControl(unsigned depth) {
    const TensorView condition = graph_.slice(anyVariable(), 3, 4);
    switch (pick(0, 3)) {
    case 0:
      return ModelGraph::make(IfNode{condition, make(depth), make(depth)});
    case 1:
      return ModelGraph::make(WhileNode{make(depth), condition, make(depth)});
    case 2:
      return ModelGraph::make(
          SwitchNode{condition, {{0, make(depth)}, {1, nullptr}}, make(depth)});
    default:
      graph_.data.functions.push_back(make(depth));
      return ModelGraph::make(
          CallNode{FunctionId(graph_.data.functions.size() - 1)});
    }
  }

  std::uint64_t pick(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random_);
  }

  VariableId addVariable() {
    const auto ipu = static_cast<unsigned>(pick(0, ipus_ - 1));
    const auto first = static_cast<unsigned>(pick(0, 15));
    const auto parts = static_cast<unsigned>(pick(1, 16 - first));
    return graph_.addVariable(static_cast<std::int64_t>(60 * pick(1, 4)),
                              {.firstTile = ipu * 16 + first,
                               .parts = parts,
                               .grain = static_cast<std::int64_t>(pick(1, 4))});
  }

  VariableId anyVariable() { return VariableId(pick(0, variables - 1)); }
  VariableId anySource() { // constants and temporaries too
    return VariableId(pick(0, graph_.data.variables.size() - 1));
  }

  ProgramPtr makeCopy() {
    const VariableId from = anySource();
    const VariableId to = anyVariable();
    return ModelGraph::make(
        CopyNode{graph_.slice(from, 7, 60), graph_.slice(to, 3, 56)});
  }

  ProgramPtr makeExecute(VariableId in, VariableId out) {
    std::vector<GroupPhase> phases(pick(1, 2));
    for (GroupPhase &phase : phases) {
      for (std::uint64_t i = pick(1, 3); i > 0; --i) {
        const auto ipu = static_cast<unsigned>(pick(0, ipus_ - 1));
        const auto first = static_cast<unsigned>(pick(0, 15));
        TileRun run = tiles(ipu * 16 + first,
                            static_cast<unsigned>(pick(1, 16 - first)), {});
        run.bytesIn = pick(0, 500);
        run.bytesOut = pick(0, 500);
        run.fragmentsIn = static_cast<std::uint32_t>(pick(0, 9));
        run.temporaryBytes = pick(0, 99);
        VertexUse use =
            worker(pick(0, 1) == 0 ? "a" : "b",
                   static_cast<std::uint32_t>(pick(1, 20)), pick(1, 900));
        use.isSupervisor = pick(0, 2) == 0;
        use.edges = static_cast<std::uint32_t>(pick(0, 4));
        use.stateBytes = static_cast<std::uint32_t>(pick(0, 30));
        use.codeBytes = 100;
        run.vertices.push_back(std::move(use));
        phase.runs.push_back(std::move(run));
      }
    }
    return graph_.execute("op", std::move(phases), {in}, {out});
  }

  std::mt19937 random_;
  unsigned ipus_;
  ModelGraph graph_;
  StreamId in_;
  StreamId out_;
};

} // namespace poplar::testing
