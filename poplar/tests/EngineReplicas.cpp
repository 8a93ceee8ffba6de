// Data of replicated graphs between the host and the engine.
#include "EngineProgram.hpp"
#include "ExpectError.hpp"

#include "engine/HostServices.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace poplar;
using poplar::test::Environment;

using Values = std::vector<float>;

// Two replicas of one IPU each: x is streamed in, y is broadcast, and both are
// streamed out.
class EngineReplicas : public testing::TestWithParam<const char *> {
protected:
  EngineReplicas() : executor("ASPEN_EXECUTOR", GetParam()) {
    IPUModel model;
    model.numIPUs = 2;
    device = model.createDevice();
    Graph graph(device, replication_factor(2));
    const auto addVariable = [&](const char *name) {
      const Tensor variable = graph.addVariable(FLOAT, {2}, name);
      graph.setTileMapping(variable, 0);
      return variable;
    };
    const Tensor x = addVariable("x");
    const Tensor y = addVariable("y");
    const DataStream in = graph.addHostToDeviceFIFO("in", FLOAT, 2);
    const DataStream shared = graph.addHostToDeviceFIFO(
        "shared", FLOAT, 2, ReplicatedStreamMode::BROADCAST);
    const DataStream out = graph.addDeviceToHostFIFO("out", FLOAT, 2);
    graph.createHostRead("x", x);
    graph.createHostWrite("x", x);
    const std::vector<program::Program> programs = {
        program::Sequence{program::Copy(in, x), program::Copy(shared, y),
                          program::Copy(x, out), program::Copy(y, out)},
        program::Copy(x, out)};
    engine = std::make_unique<Engine>(graph, programs);
    engine->load(device);
  }

  Environment executor;
  Device device;
  std::unique_ptr<Engine> engine;
};

TEST_P(EngineReplicas, StreamAPartOfABufferEach) {
  Values in = {1, 2, 3, 4}, shared = {5, 6}, out(8);
  engine->connectStream("in", in);
  engine->connectStream("shared", shared);
  engine->connectStream("out", out);
  engine->run(0);
  EXPECT_EQ(out, (Values{1, 2, 3, 4, 5, 6, 5, 6}));
}

TEST_P(EngineReplicas, AskCallbacksByReplica) {
  const auto fill = [](float value) {
    return [value](void *data) mutable {
      std::fill_n(static_cast<float *>(data), 2, value++);
    };
  };
  Values out(8);
  engine->connectStreamToCallback("in", 0, fill(10));
  engine->connectStreamToCallback("in", 1, fill(20));
  engine->connectStreamToCallback("shared", 0, fill(30));
  engine->connectStream("out", out);
  engine->run(0);
  engine->run(0);
  EXPECT_EQ(out, (Values{11, 11, 21, 21, 31, 31, 31, 31}));
}

TEST_P(EngineReplicas, AreReadAndWrittenOneAfterAnother) {
  const Values values = {1, 2, 3, 4};
  engine->writeTensor("x", values);
  Values result(4);
  engine->readTensor("x", result);
  EXPECT_EQ(result, values);
  Values out(4);
  engine->connectStream("out", out);
  engine->run(1);
  EXPECT_EQ(out, values);
  result.resize(2);
  expectError<tensor_io_state_error>([&] { engine->readTensor("x", result); },
                                     "8 bytes", "has 16");
}

TEST_P(EngineReplicas, RunOnAllIpusOfADevice) {
  expectError<poplar_error>([&] { engine->load(IPUModel().createDevice()); },
                            "with 1 IPUs",
                            "built for IPU_MODEL 'ipu2' with 2 IPUs");
}

INSTANTIATE_TEST_SUITE_P(Executors, EngineReplicas,
                         testing::Values("fast", "reference"),
                         [](const auto &info) { return info.param; });

TEST(HostPrinting, NamesTheReplicaInReplicatedGraphs) {
  internal::GraphData graph;
  const int values[] = {1, 2};
  const auto *packed = reinterpret_cast<const std::byte *>(values);
  const internal::TensorView view{support::DataType::Int, {2}, {}};
  const auto print = [&] {
    engine::HostServices host(graph, {});
    std::ostringstream text;
    host.printTensorStream = &text;
    host.printTensor("x", view, packed, {}, 1);
    return text.str();
  };
  EXPECT_EQ(print(), "x: [1 2]\n");
  graph.replicationFactor = 2;
  EXPECT_EQ(print(), "x[replica 1]: [1 2]\n");
}

} // namespace
