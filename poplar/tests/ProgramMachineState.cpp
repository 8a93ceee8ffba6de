// What programs read of the machine itself: cycles, seeds, control registers.
#include "EngineProgram.hpp"
#include "ExpectError.hpp"

#include <poplar/CSRFunctions.hpp>
#include <poplar/CycleCount.hpp>
#include <poplar/RandomSeed.hpp>

#include <gtest/gtest.h>

namespace {

using namespace poplar;
using namespace poplar::program;

Device smallDevice() {
  IPUModel model;
  model.tilesPerIPU = 4;
  return model.createDevice();
}

TEST(ProgramMachineState, CyclesOfALoopGrowWithItsCount) {
  Device device = smallDevice();
  Graph graph(device);
  Tensor a = graph.addVariable(FLOAT, {1000});
  Tensor b = graph.addVariable(FLOAT, {1000});
  graph.setTileMapping(a, 0);
  graph.setTileMapping(b, 1);
  Sequence all;
  const std::vector<unsigned> counts = {1, 2, 101};
  for (unsigned count : counts) {
    Sequence body({Repeat(count, Copy(a, b))});
    Tensor cycles = cycleCount(graph, body, 2, SyncType::INTERNAL, "count");
    EXPECT_EQ(cycles.shape(), std::vector<std::size_t>{2});
    EXPECT_EQ(graph.getTileMapping(cycles).at(2).size(), 1U);
    graph.createHostRead(std::to_string(count), cycles);
    all.add(body);
  }
  Engine engine(graph, all);
  engine.load(device);
  engine.run();
  std::vector<double> cycles;
  for (unsigned count : counts) {
    std::uint32_t words[2] = {};
    engine.readTensor(std::to_string(count), words, words + 2);
    EXPECT_EQ(words[1], 0U);
    cycles.push_back(words[0]);
  }
  // A copy of 4,000 bytes at 4 bytes a cycle, and as much for each more.
  EXPECT_GE(cycles[0], 1000);
  const double one = cycles[1] - cycles[0];
  EXPECT_GE(one, 1000);
  EXPECT_NEAR(cycles[2] - cycles[1], 99 * one, 99);
}

TEST(ProgramMachineState, SeedsAreKept) {
  Device device = smallDevice();
  Graph graph(device);
  Graph last = graph.createVirtualGraph(3, 4);
  const unsigned workers = graph.getTarget().getNumWorkerContexts();
  Tensor seeds = graph.addVariable(UNSIGNED_INT, {1, workers, 4}, "seeds");
  graph.setTileMapping(seeds, 0);
  graph.setInitialValue(seeds, 7U);
  Sequence program;
  setHwSeeds(last, seeds, program);
  Tensor all = getHwSeeds(graph, program, "all");
  EXPECT_EQ(all.shape(), (std::vector<std::size_t>{4, workers, 4}));
  graph.createHostRead("all", all);
  expectError<poplar_error>([&] { setHwSeeds(graph, seeds, program); },
                            "{1,6,4}", "{4,6,4}");
  Engine engine(graph, program);
  engine.load(device);
  engine.run();
  std::vector<unsigned> values(all.numElements());
  engine.readTensor("all", values.data(), values.data() + values.size());
  std::vector<unsigned> expected(values.size(), 0U);
  std::fill(expected.end() - 4 * workers, expected.end(), 7U);
  EXPECT_EQ(values, expected);
}

TEST(ProgramMachineState, BehavioursAreChecked) {
  Graph graph(smallDevice());
  Sequence program;
  const Tensor before = getAndModifyFloatingPointBehaviour(
      graph, program, FloatingPointBehaviour(), !FloatingPointBehaviour());
  EXPECT_EQ(before.shape(), std::vector<std::size_t>{4});
  EXPECT_FALSE((!FloatingPointBehaviour()).nanoo);
  const Tensor wrong = graph.addVariable(FLOAT, {4}, "wrong");
  expectError<poplar_error>(
      [&] { setFloatingPointBehaviour(graph, program, wrong); }, "float{4}",
      "getAndModifyFloatingPointBehaviour");
}

} // namespace
