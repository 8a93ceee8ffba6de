// The profile of programs whose course depends on data or on the host has the
// cycles of what ran: hand-computed sums, with every executor.
#include "EngineProgram.hpp"
#include "HandMadeVertices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace {

using namespace poplar;
using namespace poplar::program;
using poplar::test::Environment;

// No sync delays. A decision is a word to all tiles, 84 + 3 cycles, and a
// branch of 60. Vertices are alone on tile 0: six cycles each for one of
// theirs.
constexpr std::uint64_t decision = 84 + 3 + 60;
constexpr std::uint64_t countCycles = 6 * 10;
constexpr std::uint64_t hostLatency = 13300; // 10 us
constexpr std::uint64_t iteration = 20;      // of a Repeat

Device makeDevice(unsigned ipus) {
  IPUModel model;
  model.numIPUs = ipus;
  model.minIPUSyncDelay = 0;
  model.relativeSyncDelay = IPUModel::RelativeSyncDelayType::NO_DELAY;
  return model.createDevice();
}

std::uint64_t totalCycles(Engine &engine) {
  std::ostringstream text;
  engine.printProfileSummary(text);
  const std::string label = "Total cycles:";
  std::string number = text.str().substr(text.str().find(label) + label.size());
  number = number.substr(0, number.find('('));
  std::erase(number, ',');
  return std::stoull(number);
}

class EngineRunCounts
    : public testing::TestWithParam<std::pair<const char *, const char *>> {
protected:
  explicit EngineRunCounts(unsigned replicas = 1)
      : executor_("ASPEN_EXECUTOR", GetParam().first),
        threads_("ASPEN_THREADS", GetParam().second),
        device_(makeDevice(replicas)),
        graph_(device_, replication_factor(replicas)) {
    internal::addCodeletFile(graph_, test::handMadeCodelets());
    counter_ = addScalar(INT, "counter");
    running_ = addScalar(BOOL, "running");
  }

  Tensor addScalar(const Type &type, const std::string &name) {
    Tensor tensor = graph_.addVariable(type, {}, name);
    graph_.setTileMapping(tensor, 0);
    graph_.createHostWrite(name, tensor);
    return tensor;
  }

  // counter -= 1; running = counter > 0
  Execute countDown() {
    return execute("CountDown", {{"counter", counter_}, {"running", running_}},
                   10);
  }

  // Takes 6 * `cycles`.
  Execute work(std::uint64_t cycles) {
    Tensor values = graph_.addVariable(FLOAT, {2}, "values");
    graph_.setTileMapping(values, 0);
    graph_.setInitialValue(values, ArrayRef<float>({1, 2}));
    return execute("IncrementEven", {{"values", values}}, cycles);
  }

  Engine load(const Program &program, const OptionFlags &options = {}) {
    Engine engine(graph_, program, options);
    engine.load(device_);
    return engine;
  }

  static void run(Engine &engine, std::vector<int> counters) {
    engine.writeTensor("counter", counters.data(),
                       counters.data() + counters.size());
    engine.run(0);
  }

  Execute execute(const char *type, const std::vector<ConnectionDesc> &edges,
                  std::uint64_t cycles) {
    ComputeSet computeSet = graph_.addComputeSet(type);
    VertexRef vertex = graph_.addVertex(computeSet, type, edges);
    graph_.setTileMapping(vertex, 0);
    graph_.setPerfEstimate(vertex, cycles);
    return Execute(computeSet);
  }

  Environment executor_;
  Environment threads_;
  Device device_;
  Graph graph_;
  Tensor counter_;
  Tensor running_;
};

std::uint64_t whileCycles(std::uint64_t iterations) {
  return (iterations + 1) * (countCycles + decision) + iterations * 6000;
}

TEST_P(EngineRunCounts, AWhileCostsTheIterationsThatItRan) {
  Engine engine = load(RepeatWhileTrue(countDown(), running_, work(1000)));
  run(engine, {5}); // 4, 3, 2, 1
  EXPECT_EQ(totalCycles(engine), whileCycles(4));
  run(engine, {11});
  EXPECT_EQ(totalCycles(engine), whileCycles(4) + whileCycles(10));
  engine.resetExecutionProfile();
  run(engine, {1});
  EXPECT_EQ(totalCycles(engine), whileCycles(0));
}

TEST_P(EngineRunCounts, RunsThatAreNotRecordedCountNothing) {
  Engine engine = load(RepeatWhileTrue(countDown(), running_, work(1000)));
  run(engine, {5});
  engine.disableExecutionProfiling();
  run(engine, {100});
  EXPECT_EQ(totalCycles(engine), whileCycles(4));
  engine.enableExecutionProfiling();
  run(engine, {11});
  EXPECT_EQ(totalCycles(engine), whileCycles(4) + whileCycles(10));
  engine.load(device_);
  run(engine, {3});
  EXPECT_EQ(totalCycles(engine), whileCycles(2));
}

TEST_P(EngineRunCounts, BranchesCostWhatWasTaken) {
  Engine engine =
      load(Repeat(5, Sequence({countDown(), If(running_, work(1000),
                                               Sequence({work(100)}))})));
  run(engine, {3}); // two of five times
  EXPECT_EQ(totalCycles(engine),
            5 * (iteration + countCycles + decision) + 2 * 6000 + 3 * 600);
}

TEST_P(EngineRunCounts, CasesCostWhatWasTaken) {
  Engine engine =
      load(Repeat(4, Sequence({countDown(),
                               Switch(counter_, {{7, work(1000)}, {2, work(2)}},
                                      work(200))})));
  run(engine, {3}); // 2, 1, 0, -1
  EXPECT_EQ(totalCycles(engine),
            4 * (iteration + countCycles + decision) + 12 + 3 * 1200);
}

TEST_P(EngineRunCounts, AnEndlessLoopCostsWhatItRan) {
  const DataStream out = graph_.addDeviceToHostFIFO("out", INT, 1);
  Engine engine =
      load(Loop(Sequence({countDown(), Copy(counter_.reshape({1}), out)})));
  engine.connectStreamToCallback("out", [&](void *data) {
    if (*static_cast<int *>(data) == 0) {
      engine.stop();
    }
  });
  run(engine, {7});
  // Each transfer: a sync of 600, 2,078 cycles and one word.
  EXPECT_EQ(totalCycles(engine),
            7 * (iteration + countCycles + 600 + 2078 + 1));
}

struct Prefetching : StreamCallback {
  Result prefetch(void *) override { return Result::Success; }
  void fetch(void *) override {}
  void complete() override {}
};

TEST_P(EngineRunCounts, TransfersThatWereNotPrefetchedWaitForTheHost) {
  const DataStream in = graph_.addHostToDeviceFIFO("in", INT, 1);
  const Copy copy(in, counter_.reshape({1}));
  constexpr std::uint64_t transfer = 600 + 2078 + 1;
  const OptionFlags prefetch = {{"exchange.streamBufferOverlap", "none"}};
  int buffer = 3;
  Engine engine = load(copy, prefetch);
  const auto cyclesOfFourRuns = [&] {
    engine.resetExecutionProfile();
    for (int i = 0; i < 4; ++i) {
      engine.run(0);
    }
    return totalCycles(engine);
  };
  engine.connectStream("in", &buffer);
  EXPECT_EQ(cyclesOfFourRuns(), 4 * transfer);
  engine.connectStreamToCallback("in", [](void *) {});
  EXPECT_EQ(cyclesOfFourRuns(), 4 * (transfer + hostLatency));
  // The first one finds nothing there.
  engine.connectStreamToCallback("in", std::make_unique<Prefetching>());
  EXPECT_EQ(cyclesOfFourRuns(), 4 * transfer + hostLatency);
  EXPECT_EQ(cyclesOfFourRuns(), 4 * transfer);
}

class EngineRunCountsOfReplicas : public EngineRunCounts {
protected:
  EngineRunCountsOfReplicas() : EngineRunCounts(2) {}
};

TEST_P(EngineRunCountsOfReplicas, AreTheAverageOfTheirOwn) {
  Engine engine = load(RepeatWhileTrue(countDown(), running_, work(1000)));
  run(engine, {5, 11}); // 4 and 10
  EXPECT_EQ(totalCycles(engine), whileCycles(7));
}

const auto executors =
    testing::Values(std::pair("reference", "1"), std::pair("fast", "1"),
                    std::pair("fast", "3"));
const auto nameOf = [](const auto &info) {
  return std::string(info.param.first) + info.param.second;
};
INSTANTIATE_TEST_SUITE_P(Executors, EngineRunCounts, executors, nameOf);
INSTANTIATE_TEST_SUITE_P(Executors, EngineRunCountsOfReplicas, executors,
                         nameOf);

} // namespace
