// Hand-made programs: the fast path must give the reference executor's bits at
// any thread count.
#include "EngineProgram.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace {

using namespace poplar;
using poplar::test::EngineProgram;
using Values = EngineProgram::Values;

void expectSameEverywhere(const EngineProgram &program) {
  const Values expected = program.run("reference", 1);
  for (unsigned threads : {1U, 2U, 3U}) {
    EXPECT_EQ(program.run("fast", threads), expected) << threads << " threads";
  }
}

TEST(EngineExecutors, ComputeAChainOfOperations) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {4, 6}, 1);
  const Tensor w = p.addHostVariable("w", {6, 5}, 2);
  const Tensor bias = p.addHostVariable("bias", {5}, 3);
  const Tensor y = p.addHostVariable("y", {4, 5}, 0);
  const Tensor product = p.addTemporary("product", {4, 5});
  const Tensor sum = p.addTemporary("sum", {4, 5});
  p.matmul(x, w, product);
  p.elementwise("a+b", {product, bias.expand({0}).broadcast(4, 0)}, sum);
  p.elementwise("relu(a)", {sum}, y);
  expectSameEverywhere(p);
  // One element by hand: row 0 of x times column 0 of w, plus bias 0.
  const Values values = p.run("fast", 2);
  float expected = values[2][0];
  for (std::size_t k = 0; k < 6; ++k) {
    expected += values[0][k] * values[1][k * 5];
  }
  EXPECT_EQ(values[3][0], std::max(expected, 0.0F));
}

TEST(EngineExecutors, UpdateRegionsOfVariables) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {6, 4}, 1);
  const Tensor parts = p.addHostVariable("parts", {6, 4}, 2);
  p.elementwise("a*2", {x.slice(0, 3)}, parts.slice(3, 6));
  p.elementwise("a+b", {x.slice(1, 3, 1), parts.slice(0, 2, 1)},
                parts.slice(2, 4, 1));
  p.copy(parts.slice(0, 2), x.slice(4, 6));
  expectSameEverywhere(p);
}

TEST(EngineExecutors, CopySnapshotsOfOverlappingRegions) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {40}, 1);
  p.copy(x.slice(0, 30), x.slice(10, 40));
  p.copy(x.slice(5, 25), x.slice(0, 20));
  p.copy(x.reverse(0), x);
  expectSameEverywhere(p);
}

TEST(EngineExecutors, WorkInPlaceOnlyWhereItIsSafe) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {5, 5}, 1);
  const Tensor row = p.addHostVariable("row", {5}, 2);
  p.elementwise("a+1", {x}, x);
  p.elementwise("a+b", {x, x.transpose()}, x);
  p.matmul(x, x, x);
  p.elementwise("a-b", {x, x[0].expand({0}).broadcast(5, 0)}, x);
  p.sum(x, 0, row);
  p.elementwise("a*0", {x}, x); // keeps the values small over the runs
  p.elementwise("a+b", {x, row.expand({0}).broadcast(5, 0)}, x);
  const Tensor sixteen = p.graph.addConstant<float>(FLOAT, {5, 5}, 16.0F);
  p.graph.setTileMapping(sixteen, 0);
  p.elementwise("a-b*floor(a/b)", {x, sixteen}, x);
  expectSameEverywhere(p);
}

TEST(EngineExecutors, RunLoopsWithCarriedValues) {
  EngineProgram p;
  const Tensor a = p.addHostVariable("a", {8}, 1);
  const Tensor b = p.addHostVariable("b", {8}, 2);
  const Tensor total = p.addHostVariable("total", {8}, 3);
  const Tensor last = p.addHostVariable("last", {8}, 4);
  const Tensor swap = p.addTemporary("swap", {8});
  p.repeat(3, [&] {
    p.copy(a, swap);
    p.copy(b, a);
    p.copy(swap, b);
    p.repeat(2, [&] { p.elementwise("a+b", {total, a}, total); });
    p.elementwise("a-b", {a, b}, last);
  });
  expectSameEverywhere(p);
}

TEST(EngineExecutors, FillVariablesInPiecesInsideLoops) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {4, 8}, 1);
  const Tensor whole = p.addTemporary("whole", {4, 8});
  p.repeat(4, [&] {
    p.elementwise("a+1", {x.slice(0, 2)}, whole.slice(2, 4));
    p.elementwise("a-1", {x.slice(2, 4)}, whole.slice(0, 2));
    p.copy(whole, x);
  });
  expectSameEverywhere(p);
}

TEST(EngineExecutors, ReadConcatenatedAndBroadcastViews) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {3, 4}, 1);
  const Tensor y = p.addHostVariable("y", {3, 4}, 2);
  const Tensor out = p.addHostVariable("out", {6, 4}, 3);
  p.elementwise("a+b", {concat(x, y), out}, out);
  p.elementwise("a*2", {concat(y, x)}, concat(out.slice(3, 6), x));
  p.elementwise("a-b", {out, x[1].expand({0}).broadcast(6, 0)}, out);
  p.elementwise("a*0.5", {out}, out);
  expectSameEverywhere(p);
}

TEST(EngineExecutors, StoreProductsThatAreReadTransposed) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {6, 3}, 1);
  const Tensor dy = p.addHostVariable("dy", {6, 4}, 2);
  const Tensor w = p.addHostVariable("w", {4, 3}, 3);
  const Tensor gradient = p.addTemporary("gradient", {3, 4});
  p.matmul(x.transpose(), dy, gradient);
  p.elementwise("a-0.5*b", {w, gradient.transpose()}, w);
  expectSameEverywhere(p);
}

TEST(EngineExecutors, StreamInLoopsThroughCircularBuffers) {
  EngineProgram p;
  const Tensor x = p.addTemporary("x", {4});
  const Tensor total = p.addHostVariable("total", {4}, 0);
  const DataStream in = p.graph.addHostToDeviceFIFO("in", FLOAT, 4);
  const DataStream out = p.graph.addDeviceToHostFIFO("out", FLOAT, 4);
  p.repeat(3, [&] {
    p.program.add(program::Copy(in, x));
    p.elementwise("a+b", {total, x}, total);
    p.program.add(program::Copy(total.reverse(0), out));
  });
  const auto runWith = [&](const std::string &executor, unsigned threads) {
    std::vector<float> input(8), output(12);
    std::iota(input.begin(), input.end(), 1.0F);
    Values values = p.run(executor, threads, [&](Engine &engine) {
      engine.connectStream("in", input.data(), input.data() + input.size());
      engine.connectStream("out", output.data(), output.data() + output.size());
    });
    values.push_back(output);
    return values;
  };
  const Values expected = runWith("reference", 1);
  for (unsigned threads : {1U, 2U, 3U}) {
    EXPECT_EQ(runWith("fast", threads), expected);
  }
  // Two runs of three transfers over two buffers' worth: each three times.
  const std::vector<float> initial = {-5, 2, -2, 5};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(expected[0][i], initial[i] + 3 * static_cast<float>(2 * i + 6));
  }
}

// Large enough for every operation to be cut into shards.
TEST(EngineExecutors, OverlapShardsAndIterations) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {64, 256}, 1);
  const Tensor w = p.addHostVariable("w", {256, 192}, 2);
  const Tensor bias = p.addHostVariable("bias", {192}, 3);
  const Tensor y = p.addTemporary("y", {64, 192});
  const Tensor dw = p.addTemporary("dw", {192, 256});
  const Tensor dx = p.addTemporary("dx", {64, 256});
  const auto bound = [&](const Tensor &t) {
    p.elementwise("a-8*floor(a*0.125)-4", {t}, t);
  };
  p.repeat(2, [&] {
    p.matmul(x, w, y);
    p.elementwise("a+b", {y, bias.expand({0}).broadcast(64, 0)}, y);
    p.elementwise("relu(a)", {y}, y);
    bound(y);
    p.sum(y, 0, bias);
    bound(bias);
    p.matmul(y.transpose(), x, dw);
    p.matmul(y, w.transpose(), dx);
    p.elementwise("a-b", {w, dw.transpose()}, w);
    bound(w);
    p.elementwise("a+b", {x, dx}, x);
    bound(x);
  });
  expectSameEverywhere(p);
}

TEST(EngineExecutors, KeepValuesOfOneProgramForAnother) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {4}, 1);
  const Tensor kept = p.addTemporary("kept", {4});
  p.elementwise("a+1", {x}, kept);
  const program::Sequence first = p.program;
  p.program = program::Sequence();
  p.elementwise("a*2", {kept}, x);
  const std::vector<program::Program> programs = {first, p.program};
  Engine engine(p.graph, programs);
  engine.load(p.device());
  engine.run(0);
  engine.run(1);
  const Values values = p.read(engine);
  EXPECT_EQ(values[0], (std::vector<float>{-4, 10, 2, -6}));
}

TEST(EngineExecutors, StopWhenACallbackThrowsAndRunAgain) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {4}, 1);
  const DataStream in = p.graph.addHostToDeviceFIFO("in", FLOAT, 4);
  p.repeat(5, [&] { p.program.add(program::Copy(in, x)); });
  const test::Environment threads("ASPEN_THREADS", "2");
  Engine engine = p.makeEngine();
  engine.load(p.device());
  int calls = 0;
  engine.connectStreamToCallback("in", [&](void *data) {
    if (++calls == 3) {
      throw std::runtime_error("no more data");
    }
    std::fill_n(static_cast<float *>(data), 4, static_cast<float>(calls));
  });
  EXPECT_THROW(engine.run(0), std::runtime_error);
  engine.run(0);
  EXPECT_EQ(p.read(engine)[0], (std::vector<float>(4, 8)));
}

} // namespace
