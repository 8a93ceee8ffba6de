// What is refused of vertices when their graph is compiled.
#include "EngineProgram.hpp"
#include "ExpectError.hpp"
#include "HandMadeVertices.hpp"

#include "compiler/CheckVertices.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace {

using namespace poplar;
using program::Execute;
using test::EngineProgram;

class VertexChecks : public testing::Test {
protected:
  VertexChecks() {
    internal::addCodeletFile(graph, test::handMadeCodelets());
    graph.setTileMapping(a, 0);
    graph.setTileMapping(b, 0);
  }

  VertexRef increment(const Tensor &values) {
    VertexRef vertex =
        graph.addVertex(computeSet, "IncrementEven", {{"values", values}});
    graph.setTileMapping(vertex, 0);
    return vertex;
  }
  VertexRef add(const Tensor &x, const Tensor &y, const Tensor &sum) {
    VertexRef vertex =
        graph.addVertex(computeSet, "Add", {{"a", x}, {"b", y}, {"sum", sum}});
    graph.setTileMapping(vertex, 0);
    return vertex;
  }
  void compile() { compileGraph(graph, {Execute(computeSet)}); }

  EngineProgram base;
  Graph &graph = base.graph;
  Tensor a = graph.addVariable(FLOAT, {16}, "net/a");
  Tensor b = graph.addVariable(FLOAT, {16}, "net/b");
  ComputeSet computeSet = graph.addComputeSet("step");
};

TEST_F(VertexChecks, EveryEdgeIsConnected) {
  VertexRef vertex = graph.addVertex(computeSet, "Add");
  graph.connect(vertex["a"], a[0]);
  graph.connect(vertex["sum"], a[1]);
  graph.setTileMapping(vertex, 0);
  expectError<graph_connection_error>([&] { compile(); }, "'b'", "Add",
                                      "'step'");
  graph.connect(vertex["b"], a[2]);
  compile();

  VertexRef parts = graph.addVertex(computeSet, "SumParts", {{"total", b[0]}});
  graph.setTileMapping(parts, 0);
  graph.setFieldSize(parts["parts"], 2);
  graph.connect(parts["parts"][0], b.slice(4, 8));
  expectError<graph_connection_error>([&] { compile(); }, "'parts[1]'",
                                      "SumParts", "'step'");
}

TEST_F(VertexChecks, VectorsThatAreNotEdgesHaveASize) {
  VertexRef vertex = graph.addVertex(
      computeSet, "Scale", {{"in", a.slice(0, 4)}, {"out", b.slice(0, 4)}});
  graph.setTileMapping(vertex, 0);
  expectError<no_size_specified>([&] { compile(); }, "'offsets'", "Scale");
  graph.setFieldSize(vertex["offsets"], 0);
  compile();
}

TEST_F(VertexChecks, EveryVertexIsOnATile) {
  graph.addVertex(computeSet, "IncrementEven", {{"values", a}});
  expectError<invalid_tile_mapping>([&] { compile(); }, "IncrementEven",
                                    "'step'");
}

TEST_F(VertexChecks, VariablesOfVerticesAreOnTiles) {
  Tensor unmapped = graph.addVariable(FLOAT, {4}, "net/unmapped");
  increment(unmapped);
  expectError<invalid_tile_mapping>([&] { compile(); }, "'net/unmapped'");
}

TEST_F(VertexChecks, NoTwoVerticesWriteOneElement) {
  increment(a.slice(0, 8));
  increment(a.slice(8, 16));
  compile();
  add(b[0], b[1], a[5]);
  expectError<graph_connection_error>([&] { compile(); }, "element 5 ",
                                      "'net/a'", "Add", "IncrementEven",
                                      "written", "'step'");
}

TEST_F(VertexChecks, NoVertexReadsWhatAnotherWrites) {
  increment(a.slice(0, 8));
  add(a[7], b[0], b[1]);
  expectError<graph_connection_error>(
      [&] { compile(); }, "element 7 ", "'net/a'", "read by vertex type Add",
      "written by vertex type IncrementEven", "'step'");
}

// A vertex's own long read must not hide the shorter read of another.
TEST_F(VertexChecks, OwnReadsDoNotHideThoseOfOthers) {
  const auto scale = [&](const Tensor &in, const Tensor &out) {
    VertexRef vertex =
        graph.addVertex(computeSet, "Scale", {{"in", in}, {"out", out}});
    graph.setFieldSize(vertex["offsets"], 0);
    graph.setTileMapping(vertex, 0);
  };
  scale(a.slice(0, 10), a.slice(3, 4));
  compile();
  scale(a.slice(0, 5), b.slice(0, 5));
  expectError<graph_connection_error>([&] { compile(); }, "element 3 ",
                                      "'net/a'", "read");
}

TEST_F(VertexChecks, AVertexMayReadWhatItWrites) {
  add(a[0], a[0], a[0]);
  increment(concat(b.slice(0, 4), b.slice(8, 12)));
  compile();
}

TEST_F(VertexChecks, LibraryOperationsOfTheComputeSetCount) {
  increment(a.slice(0, 4));
  internal::VertexGroup group;
  group.kind = &kernels::findKind("fill");
  group.attributes = {
      {"type", static_cast<std::int64_t>(support::DataType::Float)},
      {"shape", kernels::Attributes::Ints{2}},
      {"value", 1.0}};
  group.outputs = {internal::tensorView(a.slice(3, 5))};
  group.debugPath = "net/fill";
  internal::addGroup(graph, computeSet, group);
  expectError<graph_connection_error>([&] { compile(); }, "element 3 ",
                                      "'net/a'", "IncrementEven",
                                      "library operation");
}

TEST_F(VertexChecks, OtherComputeSetsDoNotConflict) {
  increment(a);
  ComputeSet next = graph.addComputeSet("next");
  VertexRef vertex =
      graph.addVertex(next, "IncrementEven", {{"values", a.slice(0, 4)}});
  graph.setTileMapping(vertex, 0);
  compileGraph(graph,
               {program::Sequence({Execute(computeSet), Execute(next)})});
}

// The sweep against every pair of elements.
TEST(VertexChecksAgainstPairs, FindTheSameConflicts) {
  std::mt19937 random(7);
  const auto pick = [&](std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random);
  };
  int conflicts = 0;
  for (int round = 0; round < 300; ++round) {
    EngineProgram base;
    internal::addCodeletFile(base.graph, test::handMadeCodelets());
    Tensor t = base.addTemporary("t", {40});
    ComputeSet computeSet = base.graph.addComputeSet();
    std::vector<std::set<std::size_t>> reads, writes; // by vertex
    for (std::size_t v = 0; v < 4; ++v) {
      const std::size_t size = pick(1, 4);
      const unsigned stride = pick(0, 1) == 0 ? 1 : 2;
      const std::size_t in = pick(0, 40 - stride * size);
      const std::size_t out = pick(0, 40 - size);
      VertexRef vertex = base.graph.addVertex(
          computeSet, "Scale",
          {{"in", t.slice(in, in + stride * size).subSample(stride, 0)},
           {"out", t.slice(out, out + size)}});
      base.graph.setFieldSize(vertex["offsets"], 0);
      base.graph.setTileMapping(vertex, 0);
      auto &read = reads.emplace_back();
      auto &written = writes.emplace_back();
      for (std::size_t i = 0; i < size; ++i) {
        read.insert(in + stride * i);
        written.insert(out + i);
      }
    }
    bool isConflict = false;
    for (std::size_t v = 0; v < 4; ++v) {
      for (std::size_t w = 0; w < 4; ++w) {
        for (std::size_t element : writes[v]) {
          isConflict = isConflict || (v != w && (reads[w].count(element) > 0 ||
                                                 writes[w].count(element) > 0));
        }
      }
    }
    conflicts += isConflict;
    const auto check = [&] {
      compiler::checkVertices(internal::graphData(base.graph),
                              {internal::programNode(Execute(computeSet))});
    };
    if (isConflict) {
      EXPECT_THROW(check(), graph_connection_error) << round;
    } else {
      EXPECT_NO_THROW(check()) << round;
    }
  }
  EXPECT_GT(conflicts, 50);
  EXPECT_LT(conflicts, 290);
}

} // namespace
