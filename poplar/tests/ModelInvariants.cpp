// What must hold for every program, on random ones: repeats equal their
// unrolling, copies and user vertices move what a walk over single elements
// moves. That sums add up is in ModelSums.
#include "ModelRandomProgram.hpp"

#include "model/CopySteps.hpp"
#include "model/ExecuteSteps.hpp"
#include "model/Timeline.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace poplar::testing {
namespace {

using model::ExecutionCost;

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
