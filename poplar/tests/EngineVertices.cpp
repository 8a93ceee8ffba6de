// User vertices in both executors, at several thread counts.
#include "EngineProgram.hpp"
#include "ExpectError.hpp"
#include "HandMadeVertices.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using namespace poplar;
using namespace poplar::program;
using poplar::test::EngineProgram;

struct VertexProgram : EngineProgram {
  VertexProgram() { internal::addCodeletFile(graph, test::handMadeCodelets()); }

  VertexRef vertex(ComputeSet computeSet, const char *type,
                   const std::vector<std::pair<const char *, Tensor>> &edges) {
    VertexRef result = graph.addVertex(computeSet, type);
    for (const auto &[field, tensor] : edges) {
      graph.connect(result[field], tensor);
    }
    graph.setTileMapping(result, 0);
    return result;
  }

  VertexRef scale(ComputeSet computeSet, const Tensor &in, const Tensor &out,
                  float factor) {
    VertexRef result = vertex(computeSet, "Scale", {{"in", in}, {"out", out}});
    graph.setInitialValue(result["factor"], factor);
    graph.setInitialValue(result["calls"], 0.0f);
    graph.setInitialValue(result["offsets"], ArrayRef<float>({100}));
    return result;
  }
};

// Two runs in every executor; all must give the reference's bits.
EngineProgram::Values runEverywhere(const EngineProgram &p) {
  const EngineProgram::Values expected = p.run("reference", 1);
  for (unsigned threads : {1U, 2U, 3U}) {
    EXPECT_EQ(p.run("fast", threads), expected) << threads << " threads";
  }
  return expected;
}

TEST(EngineVertices, ReadAndWriteThroughScalarEdges) {
  VertexProgram p;
  const Tensor a = p.addHostVariable("a", {4}, 1);
  const Tensor b = p.addHostVariable("b", {4}, 2);
  const Tensor sum = p.addHostVariable("sum", {4}, 3);
  ComputeSet computeSet = p.graph.addComputeSet("add");
  for (std::size_t i = 0; i < 4; ++i) {
    p.vertex(computeSet, "Add",
             {{"a", a[i]}, {"b", b[3 - i]}, {"sum", sum[i]}});
  }
  p.program.add(Execute(computeSet));
  const auto values = runEverywhere(p);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(values[2][i], values[0][i] + values[1][3 - i]);
  }
}

// Fields keep what vertices leave in them from run to run.
TEST(EngineVertices, KeepTheirFieldsBetweenRuns) {
  VertexProgram p;
  const Tensor in = p.addHostVariable("in", {5}, 1);
  const Tensor out = p.addHostVariable("out", {5}, 2);
  ComputeSet computeSet = p.graph.addComputeSet("scale");
  p.scale(computeSet, in, out, 3);
  p.program.add(Execute(computeSet));
  const auto values = runEverywhere(p);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(values[1][i], values[0][i] * 3 + 100 + 2); // the second call
  }
}

// Wherever a compute set is executed, its vertices are the same objects.
TEST(EngineVertices, AreTheSameWhereverTheyAreExecuted) {
  VertexProgram p;
  const Tensor in = p.addHostVariable("in", {5}, 1);
  const Tensor out = p.addHostVariable("out", {5}, 2);
  ComputeSet computeSet = p.graph.addComputeSet("scale");
  p.scale(computeSet, in, out, 3);
  p.program.add(Execute(computeSet));
  p.fill(0, out);
  p.repeat(2, [&] { p.program.add(Execute(computeSet)); });
  const auto values = runEverywhere(p);
  EXPECT_EQ(values[1][4], values[0][4] * 3 + 100 + 6);
}

TEST(EngineVertices, LoadingGivesFieldsTheirFirstValues) {
  VertexProgram p;
  const Tensor in = p.addHostVariable("in", {1}, 1);
  const Tensor out = p.addHostVariable("out", {1}, 2);
  ComputeSet computeSet = p.graph.addComputeSet("scale");
  p.scale(computeSet, in, out, 0);
  p.program.add(Execute(computeSet));
  for (const char *executor : {"reference", "fast"}) {
    const test::Environment name("ASPEN_EXECUTOR", executor);
    Engine engine = p.makeEngine();
    for (int load = 0; load < 2; ++load) {
      engine.load(p.device());
      engine.run();
      EXPECT_EQ(p.read(engine)[1][0], 101) << executor;
    }
  }
}

// A column, a reversed row, and both at once: none of them is one run.
TEST(EngineVertices, SeeScatteredTensorsAsVectors) {
  VertexProgram p;
  const Tensor matrix = p.addHostVariable("matrix", {4, 6}, 1);
  const Tensor out = p.addHostVariable("out", {6, 4}, 2);
  ComputeSet computeSet = p.graph.addComputeSet("scale");
  for (unsigned i = 0; i < 6; ++i) {
    p.scale(computeSet, matrix.transpose()[i], out[5 - i].reverse(0), 2);
  }
  p.program.add(Execute(computeSet));
  const auto values = runEverywhere(p);
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_EQ(values[1][(5 - i) * 4 + 3 - j], values[0][j * 6 + i] * 2 + 102);
    }
  }
}

TEST(EngineVertices, LeaveElementsOfAnOutputAsTheyWere) {
  VertexProgram p;
  const Tensor values = p.addHostVariable("values", {7}, 1);
  const Tensor scratch = p.addTemporary("scratch", {7});
  const Tensor seen = p.addHostVariable("seen", {7}, 2);
  ComputeSet computeSet = p.graph.addComputeSet("increment");
  p.vertex(computeSet, "IncrementEven", {{"values", values}});
  p.vertex(computeSet, "IncrementEven", {{"values", scratch}});
  p.program.add(Execute(computeSet));
  p.copy(scratch, seen);
  const auto results = runEverywhere(p);
  for (std::size_t i = 0; i < 7; ++i) {
    const int increments = i % 2 == 0 ? 2 : 0;
    const int before = static_cast<int>((7 * i + 13) % 11) - 5;
    EXPECT_EQ(results[1][i], increments) << i;
    EXPECT_EQ(results[0][i], before + increments) << i;
  }
}

TEST(EngineVertices, TakeListsOfTensors) {
  VertexProgram p;
  const Tensor parts = p.addHostVariable("parts", {3, 4}, 1);
  const Tensor total = p.addHostVariable("total", {1}, 2);
  ComputeSet computeSet = p.graph.addComputeSet("sum");
  VertexRef vertex = p.graph.addVertex(computeSet, "SumParts");
  p.graph.connect(vertex["parts"],
                  {parts[0], parts.transpose()[1], parts[2].slice(1, 3)});
  p.graph.connect(vertex["total"], total[0]);
  p.graph.setTileMapping(vertex, 0);
  p.program.add(Execute(computeSet));
  const auto values = runEverywhere(p);
  const std::vector<float> &x = values[0];
  EXPECT_EQ(values[1][0],
            x[0] + x[1] + x[2] + x[3] + x[1] + x[5] + x[9] + x[9] + x[10]);
}

TEST(EngineVertices, TellWhetherAllSucceeded) {
  for (const bool isNegative : {false, true}) {
    VertexProgram p;
    const Tensor a = p.addHostVariable("a", {2}, 1);
    const Tensor sum = p.addHostVariable("sum", {2}, 1);
    const Tensor status = p.graph.addVariable(BOOL, {}, "status");
    p.graph.setTileMapping(status, 0);
    p.graph.createHostRead("status", status);
    const Tensor b = p.graph.addConstant<float>(
        FLOAT, {2}, {isNegative ? -50.0f : 50.0f, 50.0f});
    p.graph.setTileMapping(b, 0);
    ComputeSet computeSet = p.graph.addComputeSet("add");
    for (std::size_t i = 0; i < 2; ++i) {
      p.vertex(computeSet, "Add", {{"a", a[i]}, {"b", b[i]}, {"sum", sum[i]}});
    }
    p.program.add(Execute(computeSet, status));
    for (const char *executor : {"reference", "fast"}) {
      const test::Environment name("ASPEN_EXECUTOR", executor);
      Engine engine = p.makeEngine();
      engine.load(p.device());
      engine.run();
      bool result = isNegative;
      engine.readTensor("status", &result, &result + 1);
      EXPECT_EQ(result, !isNegative) << executor;
    }
  }
}

// Library operations write what vertices read, and the other way round, around
// loops: values move between layouts and variables' own storage.
class EngineVertexSeeds : public testing::TestWithParam<unsigned> {};

TEST_P(EngineVertexSeeds, MixWithLibraryOperations) {
  std::mt19937 random(GetParam());
  const auto below = [&](std::size_t n) { return random() % n; };
  VertexProgram p;
  std::vector<Tensor> matrices;
  for (int i = 0; i < 4; ++i) {
    const std::string name = "m" + std::to_string(i);
    matrices.push_back(i < 2 ? p.addHostVariable(name, {8, 8}, i)
                             : p.addTemporary(name, {8, 8}));
  }
  p.fill(1, matrices[2]);
  p.fill(2, matrices[3]);
  const auto step = [&] {
    const Tensor from = matrices[below(4)];
    const Tensor to = matrices[below(4)];
    switch (below(4)) {
    case 0:
      p.elementwise("a*0.5+b", {from, to}, to);
      break;
    case 1:
      if (below(2) == 0) {
        p.copy(from.transpose(), to);
      } else {
        p.copy(from[below(8)], to[below(8)]);
      }
      break;
    default: {
      ComputeSet computeSet = p.graph.addComputeSet("scale");
      for (unsigned row = 0; row < 8; ++row) {
        if (from == to) {
          p.vertex(computeSet, "IncrementEven",
                   {{"values", to.transpose()[row]}});
        } else {
          p.scale(computeSet, from[row], to.transpose()[7 - row], 0.25f);
        }
      }
      p.program.add(Execute(computeSet));
    }
    }
  };
  for (int i = 0; i < 4; ++i) {
    step();
  }
  p.repeat(3, [&] {
    for (int i = 0; i < 5; ++i) {
      step();
    }
  });
  step();
  runEverywhere(p);
}

INSTANTIATE_TEST_SUITE_P(Seeds, EngineVertexSeeds, testing::Range(0U, 30U));

TEST(EngineVertices, TrapFloatingPointExceptionsOnRequest) {
  VertexProgram p;
  const Tensor a = p.addHostVariable("a", {1}, 1);
  const Tensor sum = p.addHostVariable("sum", {1}, 1);
  const Tensor big = p.graph.addConstant<float>(FLOAT, {1}, {3e38f});
  p.graph.setTileMapping(big, 0);
  p.graph.setInitialValue(a, 3e38f);
  ComputeSet computeSet = p.graph.addComputeSet("overflowing");
  p.vertex(computeSet, "Add", {{"a", a[0]}, {"b", big[0]}, {"sum", sum[0]}});
  for (const char *executor : {"reference", "fast"}) {
    const test::Environment name("ASPEN_EXECUTOR", executor);
    Engine quiet(p.graph, Execute(computeSet));
    quiet.load(p.device());
    quiet.run();
    Engine trapping(p.graph, Execute(computeSet),
                    {{"debug.floatPointOpException", "true"}});
    trapping.load(p.device());
    expectError<application_runtime_error>([&] { trapping.run(); }, "overflow",
                                           "overflowing");
  }
}

} // namespace
