// What must hold for every program, on random ones: sums add up, repeats equal
// their unrolling, copies and user vertices move what a walk over single
// elements moves.
#include "ModelGraph.hpp"

#include "model/CopySteps.hpp"
#include "model/ExecuteSteps.hpp"
#include "model/Timeline.hpp"
#include "model/VertexTypes.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace poplar::testing {
namespace {

using model::ExecutionCost;
using model::IpuCosts;

class RandomProgram {
public:
  explicit RandomProgram(unsigned seed)
      : random_(seed), ipus_(1U << (seed % 3)), graph_(smallTarget(ipus_, 16)) {
    for (int i = 0; i < 8; ++i) {
      addVariable();
    }
    addTypes();
  }

  ModelGraph &graph() { return graph_; }
  unsigned ipus() const { return ipus_; }

  ProgramPtr make(unsigned depth) {
    std::vector<ProgramPtr> children;
    for (std::uint64_t i = pick(1, 5); i > 0; --i) {
      if (depth > 0 && pick(0, 3) == 0) {
        children.push_back(ModelGraph::repeat(pick(0, 40), make(depth - 1)));
      } else if (depth > 0 && pick(0, 2) == 0) {
        children.push_back(makeControl(depth - 1));
      } else if (pick(0, 2) == 0) {
        children.push_back(makeCopy());
      } else if (pick(0, 1) == 0) {
        children.push_back(makeVertices());
      } else {
        children.push_back(makeExecute());
      }
    }
    return ModelGraph::sequence(std::move(children));
  }

  // User vertices anywhere, with edges to anywhere.
  ProgramPtr makeVertices() {
    const ComputeSetId set = graph_.addComputeSet("vertices");
    const auto run = [&] {
      const auto begin = static_cast<std::int64_t>(pick(0, 50));
      return ModelGraph::run(anyVariable(), begin,
                             static_cast<std::int64_t>(pick(0, 9)));
    };
    for (std::uint64_t i = pick(1, 30); i > 0; --i) {
      const auto tile = static_cast<unsigned>(pick(0, ipus_ * 16 - 1));
      const auto type = static_cast<std::uint32_t>(pick(0, 2));
      FieldSlot in = run();
      if (type == 1) {
        in = graph_.listSlot({run(), run()});
      } else if (type == 2) {
        in = graph_.viewSlot({support::DataType::Float,
                              {4, 5},
                              {{anyVariable(), 2, {4, 5}, {11, 2}}}});
      }
      graph_.addVertex(set, type, tile, {in, run(), {}},
                       pick(0, 1) == 0 ? VertexData::noEstimate : pick(1, 300));
    }
    const bool hasStatus = pick(0, 3) == 0;
    return hasStatus ? ModelGraph::make(
                           ExecuteNode{set, graph_.slice(anyVariable(), 0, 1)})
                     : ModelGraph::make(ExecuteNode{set});
  }

private:
  void addTypes() {
    const VertexField out = edge("out", EdgeDirection::InOut);
    const VertexField flag = value("flag", support::DataType::Bool);
    graph_.addType(
        vertexType("plain", {edge("in", EdgeDirection::Input), out, flag}));
    VertexField list = edge("in", EdgeDirection::Input, FieldShape::VectorList);
    list.itemLayout = FieldLayout::ShortSpan;
    graph_.addType(vertexType("list", {list, out, flag}, VertexBase::Multi));
    graph_.addType(vertexType("strided",
                              {edge("in", EdgeDirection::Input), out, flag},
                              VertexBase::Supervisor));
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

  VariableId anyVariable() {
    return VariableId(pick(0, graph_.data.variables.size() - 1));
  }

  ProgramPtr makeCopy() {
    const VariableId from = anyVariable();
    const VariableId to = anyVariable();
    return ModelGraph::make(
        CopyNode{graph_.slice(from, 7, 60), graph_.slice(to, 3, 56)});
  }

  ProgramPtr makeExecute() {
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
    return graph_.execute("op", std::move(phases), {anyVariable()},
                          {anyVariable()});
  }

  std::mt19937 random_;
  unsigned ipus_;
  ModelGraph graph_;
};

constexpr unsigned programs = 200;

// Every repeat as a sequence of repeats of one.
ProgramPtr unroll(const ProgramPtr &node) {
  if (const auto *sequence = std::get_if<SequenceNode>(&node->op)) {
    std::vector<ProgramPtr> children;
    for (const ProgramPtr &child : sequence->children) {
      children.push_back(unroll(child));
    }
    return ModelGraph::sequence(std::move(children));
  }
  if (const auto *repeat = std::get_if<RepeatNode>(&node->op)) {
    const ProgramPtr body = ModelGraph::repeat(1, unroll(repeat->body));
    return ModelGraph::sequence(std::vector<ProgramPtr>(repeat->count, body));
  }
  return node;
}

TEST(ModelInvariants, PhasesOfEveryIpuAddUpToTheTotal) {
  for (unsigned seed = 0; seed < programs; ++seed) {
    RandomProgram random(seed);
    const ProgramPtr program = random.make(2);
    model::StepTable steps(random.graph().data);
    const ExecutionCost cost = model::Timeline(steps).run(program);
    ASSERT_EQ(cost.ipus.size(), random.ipus());
    std::uint64_t threads = 0;
    for (const IpuCosts &ipu : cost.ipus) {
      EXPECT_EQ(ipu.compute + ipu.exchange + ipu.globalExchange +
                    ipu.hostExchange + ipu.sync + ipu.control + ipu.wait,
                cost.total)
          << "seed " << seed;
      EXPECT_LE(ipu.tileCompute, ipu.compute * 16);
      EXPECT_LE(ipu.tileExchange, ipu.exchange * 16);
      EXPECT_LE(ipu.threadCycles, ipu.tileCompute);
      threads += ipu.threadCycles;
    }
    const std::uint64_t runs[] = {1};
    std::uint64_t byType = 0;
    for (const auto &[type, vertices] :
         model::costByVertexType(steps, {program}, runs)) {
      byType += vertices.cycles;
    }
    EXPECT_EQ(byType, threads) << "seed " << seed;
  }
}

TEST(ModelInvariants, RepeatsCostWhatTheirIterationsCost) {
  for (unsigned seed = 0; seed < programs; ++seed) {
    RandomProgram random(seed);
    const ProgramPtr program = random.make(2);
    model::StepTable steps(random.graph().data);
    model::Timeline timeline(steps);
    const ExecutionCost repeated = timeline.run(program);
    const ExecutionCost unrolled = timeline.run(unroll(program));
    EXPECT_EQ(repeated.total, unrolled.total) << "seed " << seed;
    for (unsigned ipu = 0; ipu < random.ipus(); ++ipu) {
      EXPECT_EQ(repeated.ipus[ipu].busy(), unrolled.ipus[ipu].busy());
      EXPECT_EQ(repeated.ipus[ipu].sync, unrolled.ipus[ipu].sync);
      EXPECT_EQ(repeated.ipus[ipu].wait, unrolled.ipus[ipu].wait);
    }
  }
}

unsigned tileOf(const Variable &variable, std::int64_t element) {
  for (const MappingPiece &piece : variable.mapping.pieces()) {
    for (unsigned part = 0; part < piece.parts; ++part) {
      const auto range = piece.partRange(part);
      if (element >= range.begin && element < range.end) {
        return piece.firstTile + part;
      }
    }
  }
  return 0;
}

// Bytes by (kind of step, direction, tile); on-tile copies have no direction.
using Moves = std::map<std::tuple<bool, bool, unsigned>, std::uint64_t>;

Moves walkElements(const GraphData &graph, const CopyNode &copy) {
  Moves moves;
  const Piece &from = copy.source.pieces[0];
  const Piece &to = copy.destination.pieces[0];
  for (std::int64_t i = 0; i < copy.source.elements(); ++i) {
    const unsigned source =
        tileOf(graph.variables[from.variable.index()], from.offset + i);
    const unsigned destination =
        tileOf(graph.variables[to.variable.index()], to.offset + i);
    if (source != destination) {
      const bool isGlobal = source / 16 != destination / 16;
      moves[{isGlobal, false, source}] += 4;
      moves[{isGlobal, true, destination}] += 4;
    }
  }
  return moves;
}

Moves movesOf(const std::vector<model::Step> &steps) {
  Moves moves;
  for (const model::Step &step : steps) {
    const bool isGlobal = step.kind == model::StepKind::GlobalExchange;
    for (const TileRun *run : step.runs) {
      for (unsigned i = 0; i < run->tileCount; ++i) {
        if (run->bytesOut != 0) {
          moves[{isGlobal, false, run->firstTile + i}] += run->bytesOut;
        }
        if (run->bytesIn != 0) {
          moves[{isGlobal, true, run->firstTile + i}] += run->bytesIn;
        }
      }
    }
  }
  return moves;
}

TEST(ModelInvariants, CopiesMoveWhatAWalkOverElementsMoves) {
  for (unsigned seed = 0; seed < programs; ++seed) {
    RandomProgram random(seed);
    const auto &variables = random.graph().data.variables;
    for (std::size_t i = 0; i + 1 < variables.size(); ++i) {
      const CopyNode copy{random.graph().slice(VariableId(i), 7, 60),
                          random.graph().slice(VariableId(i + 1), 3, 56)};
      EXPECT_EQ(movesOf(model::lowerCopy(random.graph().data, copy)),
                walkElements(random.graph().data, copy))
          << "seed " << seed;
    }
  }
}

Moves walkVertices(const GraphData &graph, const ComputeSetData &computeSet) {
  using Element = std::pair<VariableId, std::int64_t>;
  std::map<unsigned, std::set<Element>> taken; // by the tile of the vertices
  std::map<unsigned, std::set<Element>> given;
  for (const VertexId vertex : computeSet.vertices) {
    const unsigned tile = graph.vertices[vertex].tile;
    forEachEdge(
        graph.vertices, vertex, [&](const auto &field, const FieldSlot &slot) {
          forEachRun(
              graph.vertices, slot,
              [&](VariableId id, std::int64_t first, std::int64_t count) {
                for (std::int64_t i = first; i < first + count; ++i) {
                  taken[tile].emplace(id, i); // the output is InOut
                  if (field.isWritten()) {
                    given[tile].emplace(id, i);
                  }
                }
              });
        });
  }
  Moves moves;
  std::set<std::pair<bool, Element>> sent; // inside the IPU, or beyond
  const auto move = [&](unsigned from, unsigned to, bool isSent) {
    const bool isGlobal = from / 16 != to / 16;
    if (isSent) {
      moves[{isGlobal, false, from}] += 4;
    }
    moves[{isGlobal, true, to}] += 4;
  };
  for (const auto &[tile, elements] : taken) {
    for (const Element &element : elements) {
      const unsigned home = tileOf(graph[element.first], element.second);
      if (home != tile) {
        move(home, tile, sent.emplace(home / 16 != tile / 16, element).second);
      }
    }
  }
  for (const auto &[tile, elements] : given) {
    for (const Element &element : elements) {
      const unsigned home = tileOf(graph[element.first], element.second);
      if (home != tile) {
        move(tile, home, true);
      }
    }
  }
  return moves;
}

TEST(ModelInvariants, VerticesMoveWhatAWalkOverElementsMoves) {
  for (unsigned seed = 0; seed < programs; ++seed) {
    RandomProgram random(seed);
    const ProgramPtr program = random.makeVertices();
    const auto &execute = std::get<ExecuteNode>(program->op);
    if (isPresent(execute.exitStatus)) {
      continue; // its words are no edges
    }
    const GraphData &graph = random.graph().data;
    EXPECT_EQ(
        movesOf(model::lowerExecute(graph, execute)),
        walkVertices(graph, graph.computeSets[execute.computeSet.index()]))
        << "seed " << seed;
  }
}

} // namespace
} // namespace poplar::testing
