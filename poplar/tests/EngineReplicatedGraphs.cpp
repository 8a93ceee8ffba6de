// Replicated graphs: each replica has its own variables, streams and control.
#include "EngineProgram.hpp"
#include "HandMadeVertices.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace {

using namespace poplar;
using namespace poplar::program;

constexpr unsigned replicas = 4;

struct ReplicatedProgram {
  ReplicatedProgram()
      : device(makeDevice()), graph(device, replication_factor(replicas)) {
    internal::addCodeletFile(graph, test::handMadeCodelets());
  }

  static Device makeDevice() {
    IPUModel model;
    model.numIPUs = replicas;
    return model.createDevice();
  }

  Tensor addVariable(const Type &type, const std::vector<std::size_t> &shape,
                     const std::string &name) {
    Tensor tensor = graph.addVariable(type, shape, name);
    graph.setTileMapping(tensor, 0);
    graph.createHostRead(name, tensor);
    graph.createHostWrite(name + "/write", tensor);
    return tensor;
  }
  Tensor addReplicaIndex() {
    Tensor index = graph.addConstant(UNSIGNED_INT, {}, 0);
    internal::graphData(graph).variables.back().isReplicaIndex = true;
    graph.setTileMapping(index, 0);
    return index;
  }

  // Calls f(engine) for a loaded engine of every kind.
  template <typename F> void forEachEngine(const Program &program, F &&f) {
    for (const char *executor : {"reference", "fast"}) {
      const test::Environment name("ASPEN_EXECUTOR", executor);
      Engine engine(graph, program, {{"debug.verify", "true"}});
      engine.load(device);
      f(engine);
    }
  }

  template <typename T>
  std::vector<T> read(Engine &engine, const char *name, std::size_t count) {
    std::vector<T> values(count);
    engine.readTensor(name, values.data(), values.data() + count);
    return values;
  }

  Device device;
  Graph graph;
};

TEST(EngineReplicatedGraphs, HaveVariablesOfTheirOwn) {
  ReplicatedProgram p;
  const Tensor x = p.addVariable(UNSIGNED_INT, {2}, "x");
  const Tensor index = p.addReplicaIndex();
  p.forEachEngine(Copy(index.reshape({1}), x.slice(1, 2)), [&](Engine &engine) {
    std::vector<unsigned> values = {10, 0, 11, 0, 12, 0, 13, 0};
    engine.writeTensor("x/write", values.data(), values.data() + 8);
    engine.run();
    EXPECT_EQ(p.read<unsigned>(engine, "x", 8),
              (std::vector<unsigned>{10, 0, 11, 1, 12, 2, 13, 3}));
  });
}

TEST(EngineReplicatedGraphs, CopyToEachOther) {
  ReplicatedProgram p;
  const Tensor x = p.addVariable(INT, {2}, "x");
  p.forEachEngine(CrossReplicaCopy(x, x, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}),
                  [&](Engine &engine) {
                    std::vector<int> values = {1, 2, 3, 4, 5, 6, 7, 8};
                    engine.writeTensor("x/write", values.data(),
                                       values.data() + 8);
                    engine.run();
                    EXPECT_EQ(p.read<int>(engine, "x", 8),
                              (std::vector<int>{7, 8, 1, 2, 3, 4, 5, 6}));
                  });
}

TEST(EngineReplicatedGraphs, StreamAndBroadcast) {
  ReplicatedProgram p;
  const Tensor own = p.addVariable(INT, {2}, "own");
  const Tensor shared = p.addVariable(INT, {2}, "shared");
  const DataStream ownIn = p.graph.addHostToDeviceFIFO("ownIn", INT, 2);
  const DataStream sharedIn = p.graph.addHostToDeviceFIFO(
      "sharedIn", INT, 2, ReplicatedStreamMode::BROADCAST);
  const DataStream out = p.graph.addDeviceToHostFIFO("out", INT, 2);
  p.forEachEngine(
      Sequence({Copy(ownIn, own), Copy(sharedIn, shared), Copy(own, out)}),
      [&](Engine &engine) {
        std::vector<int> values = {1, 2, 3, 4, 5, 6, 7, 8};
        std::vector<int> broadcast = {20, 21}, received(8);
        engine.connectStream("ownIn", values.data(), values.data() + 8);
        engine.connectStream("sharedIn", broadcast.data(),
                             broadcast.data() + 2);
        engine.connectStream("out", received.data(), received.data() + 8);
        engine.run();
        EXPECT_EQ(received, values);
        EXPECT_EQ(p.read<int>(engine, "shared", 8),
                  (std::vector<int>{20, 21, 20, 21, 20, 21, 20, 21}));
      });
}

// Each counts down from its own number.
TEST(EngineReplicatedGraphs, DecideForThemselves) {
  ReplicatedProgram p;
  const Tensor counter = p.addVariable(INT, {}, "counter");
  const Tensor running = p.addVariable(BOOL, {}, "running");
  const Tensor rounds = p.addVariable(INT, {}, "rounds");
  const Tensor ignored = p.addVariable(BOOL, {}, "ignored");
  const auto countDown = [&](const Tensor &value, const Tensor &flag) {
    ComputeSet computeSet = p.graph.addComputeSet("countDown");
    VertexRef vertex = p.graph.addVertex(
        computeSet, "CountDown", {{"counter", value}, {"running", flag}});
    p.graph.setTileMapping(vertex, 0);
    return Execute(computeSet);
  };
  const Function body = p.graph.addFunction(countDown(rounds, ignored));
  p.forEachEngine(
      Sequence(
          {RepeatWhileTrue(countDown(counter, running), running, Call(body))}),
      [&](Engine &engine) {
        std::vector<int> starts = {1, 4, 2, 7}, zeros(4);
        engine.writeTensor("counter/write", starts.data(), starts.data() + 4);
        engine.writeTensor("rounds/write", zeros.data(), zeros.data() + 4);
        engine.run();
        EXPECT_EQ(p.read<int>(engine, "rounds", 4),
                  (std::vector<int>{0, -3, -1, -6}));
      });
}

// Around copies between replicas all follow replica 0.
TEST(EngineReplicatedGraphs, StayTogetherAroundCopiesToEachOther) {
  ReplicatedProgram p;
  const Tensor flag = p.addVariable(BOOL, {}, "flag");
  const Tensor x = p.addVariable(INT, {1}, "x");
  p.forEachEngine(
      If(flag, CrossReplicaCopy(x, x, {{0, 3}, {3, 0}, {1, 2}, {2, 1}}),
         Sequence()),
      [&](Engine &engine) {
        const bool flags[] = {true, false, false, false};
        std::vector<int> values = {1, 2, 3, 4};
        engine.writeTensor("flag/write", flags, flags + 4);
        engine.writeTensor("x/write", values.data(), values.data() + 4);
        engine.run();
        EXPECT_EQ(p.read<int>(engine, "x", 4), (std::vector<int>{4, 3, 2, 1}));
      });
}

} // namespace
