// The Engine's contract with its caller: errors, streams, options, host access.
#include "EngineProgram.hpp"

#include <poplar/internal/LinkedPrograms.hpp>

#include <gtest/gtest.h>

#include <sstream>

namespace {

using namespace poplar;
using poplar::test::EngineProgram;

// The message that an action fails with, or nothing.
template <typename Error, typename Action>
std::string messageOf(Action &&action) {
  try {
    action();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

class EngineApi : public testing::Test {
protected:
  EngineApi() {
    x = p.addHostVariable("x", {4}, 1);
    p.elementwise("a+1", {x}, x);
  }
  EngineProgram p;
  Tensor x;
};

TEST_F(EngineApi, MustBeLoadedBeforeUse) {
  Engine engine = p.makeEngine();
  std::vector<float> data(4);
  EXPECT_NE(messageOf<poplar_error>([&] { engine.run(0); }).find("load"),
            std::string::npos);
  EXPECT_THROW(engine.readTensor("x", data.data(), data.data() + 4),
               tensor_io_state_error);
  EXPECT_THROW(engine.deploy(), poplar_error);
}

TEST_F(EngineApi, NamesAProgramThatDoesNotExist) {
  Engine engine = p.makeEngine();
  engine.load(p.device());
  EXPECT_NE(messageOf<poplar_error>([&] { engine.run(3); }).find("program 3"),
            std::string::npos);
}

TEST_F(EngineApi, ChecksHandlesAndSizesOfHostTensors) {
  Engine engine = p.makeEngine();
  engine.load(p.device());
  std::vector<float> data(5);
  EXPECT_NE(messageOf<poplar_error>([&] {
              engine.readTensor("y", data.data(), data.data() + 4);
            }).find("'y'"),
            std::string::npos);
  EXPECT_NE(messageOf<poplar_error>([&] {
              engine.writeTensor("x/write", data.data(), data.data() + 5);
            }).find("20 bytes"),
            std::string::npos);
}

TEST_F(EngineApi, WritesAndReadsHostTensors) {
  Engine engine = p.makeEngine();
  engine.load(p.device());
  const std::vector<float> written = {1, 2, 3, 4};
  engine.writeTensor("x/write", written.data(), written.data() + 4);
  engine.run(0);
  EXPECT_EQ(p.read(engine)[0], (std::vector<float>{2, 3, 4, 5}));
  engine.load(p.device());
  EXPECT_EQ(p.read(engine)[0], (std::vector<float>{-3, 4, 0, -4}));
}

TEST_F(EngineApi, NamesStreamsThatAreNotConnected) {
  const DataStream in = p.graph.addHostToDeviceFIFO("images", FLOAT, 4);
  p.program.add(program::Copy(in, x));
  Engine engine = p.makeEngine();
  engine.load(p.device());
  EXPECT_NE(messageOf<stream_connection_error>([&] {
              engine.run(0);
            }).find("'images'"),
            std::string::npos);
  EXPECT_THROW(engine.connectStream("labels", nullptr),
               stream_connection_error);
  float data[6];
  EXPECT_THROW(engine.connectStream("images", data, data + 6),
               stream_connection_error);
}

TEST_F(EngineApi, KeepsThePlaceInACircularBufferBetweenRuns) {
  const DataStream out = p.graph.addDeviceToHostFIFO("out", FLOAT, 4);
  p.program.add(program::Copy(x, out));
  Engine engine = p.makeEngine();
  std::vector<float> data(8);
  engine.connectStream("out", data.data(), data.data() + 8);
  engine.load(p.device());
  engine.run(0);
  engine.run(0);
  EXPECT_EQ(data, (std::vector<float>{-2, 5, 1, -3, -1, 6, 2, -2}));
  engine.run(0);
  EXPECT_EQ(data, (std::vector<float>{0, 7, 3, -1, -1, 6, 2, -2}));
}

TEST_F(EngineApi, CallsBackForEveryTransfer) {
  const DataStream in = p.graph.addHostToDeviceFIFO("in", FLOAT, 4);
  const DataStream out = p.graph.addDeviceToHostFIFO("out", FLOAT, 4);
  p.program =
      program::Sequence{program::Copy(in, x), p.program, program::Copy(x, out)};
  Engine engine = p.makeEngine();
  engine.load(p.device());
  float next = 0;
  std::vector<float> received;
  engine.connectStreamToCallback("in", [&](void *data) {
    std::fill_n(static_cast<float *>(data), 4, next++);
  });
  engine.connectStreamToCallback("out", [&](void *data) {
    received.push_back(*static_cast<float *>(data));
  });
  engine.run(0);
  engine.run(0);
  EXPECT_EQ(received, (std::vector<float>{1, 2}));
}

TEST_F(EngineApi, NamesAVariableWithoutTileMapping) {
  const Tensor lost = p.graph.addVariable(FLOAT, {4}, "lost");
  p.copy(x, lost);
  EXPECT_NE(
      messageOf<invalid_tile_mapping>([&] { p.makeEngine(); }).find("'lost'"),
      std::string::npos);
}

TEST_F(EngineApi, RejectsADeviceOfAnotherSize) {
  Engine engine = p.makeEngine();
  IPUModel model;
  model.numIPUs = 2;
  EXPECT_NE(messageOf<poplar_error>([&] {
              engine.load(model.createDevice());
            }).find("with 2 IPUs of 1472 tiles; the graph was built for"),
            std::string::npos);
}

TEST_F(EngineApi, RejectsADeviceOfAnotherKind) {
  Engine engine = p.makeEngine();
  EXPECT_NE(messageOf<poplar_error>([&] {
              engine.load(Device::createCPUDevice());
            }).find("the device is CPU"),
            std::string::npos);
  EXPECT_THROW(engine.run(), poplar_error);
}

TEST_F(EngineApi, MovesItsContentsAway) {
  Engine engine = p.makeEngine();
  Engine other = std::move(engine);
  EXPECT_THROW(engine.load(p.device()), poplar_error);
  EXPECT_THROW(engine.run(), poplar_error);
  EXPECT_THROW(engine.listStreams(), poplar_error);
  other.load(p.device());
  other.run();
  engine = std::move(other);
  EXPECT_EQ(p.read(engine)[0], (std::vector<float>{-2, 5, 1, -3}));
}

TEST_F(EngineApi, TakesVectorsAndArrayRefs) {
  const DataStream in = p.graph.addHostToDeviceFIFO("in", FLOAT, 4);
  Engine engine(p.graph, {p.program, program::Copy(in, x)});
  engine.load(p.device());
  std::vector<float> values = {1, 2, 3, 4};
  engine.writeTensor("x/write", values);
  engine.run(0);
  std::vector<float> result(4);
  engine.readTensor("x", result);
  EXPECT_EQ(result, (std::vector<float>{2, 3, 4, 5}));
  engine.writeTensor("x/write", ArrayRef<float>(values));
  engine.readTensor("x", ArrayRef<float>(result));
  EXPECT_EQ(result, values);
  engine.connectStream("in", values);
  values = {5, 6, 7, 8};
  engine.run(1);
  engine.readTensor("x", result.data()); // as before SDK 2.1
  EXPECT_EQ(result, values);
  engine.connectStream("in", ArrayRef<float>(values));
  result.resize(3);
  EXPECT_THROW(engine.readTensor("x", result), tensor_io_state_error);
}

TEST_F(EngineApi, CopiesRowsOfRemoteBuffers) {
  p.graph.addRemoteBuffer("rows", FLOAT, 2, 3);
  Engine engine = p.makeEngine();
  std::vector<float> row = {1, 2};
  EXPECT_THROW(engine.copyToRemoteBuffer(row, "rows", 0),
               tensor_io_state_error);
  engine.load(p.device());
  engine.copyToRemoteBuffer(row, "rows", 2);
  std::vector<float> result(2);
  engine.copyFromRemoteBuffer("rows", result.data(), 2);
  EXPECT_EQ(result, row);
  engine.copyFromRemoteBuffer("rows", result, 1, 0);
  EXPECT_EQ(result, (std::vector<float>{0, 0}));
  EXPECT_THROW(engine.copyToRemoteBuffer(row.data(), "rows", 3),
               application_runtime_error);
  row.resize(3);
  EXPECT_NE(messageOf<tensor_io_state_error>([&] {
              engine.copyToRemoteBuffer(row, "rows", 0);
            }).find("'rows' has 8 bytes; 12 were given"),
            std::string::npos);
  EXPECT_THROW(engine.copyToRemoteBuffer(row.data(), "lines", 0),
               tensor_io_state_error);
}

TEST_F(EngineApi, MeasuresTime) {
  Engine engine = p.makeEngine();
  const Engine::TimerTimePoint from = engine.getTimeStamp();
  const Engine::TimerTimePoint to{from.host + std::chrono::microseconds(1500)};
  EXPECT_EQ(engine.reportTiming(from, to), "Host time: 0.001500 s");
}

TEST_F(EngineApi, RunsTheValueProgramOfALinkedPair) {
  EngineProgram machine;
  const Tensor unused = machine.addHostVariable("x", {4}, 2);
  machine.elementwise("a*100", {unused}, unused);
  Engine engine(internal::compileLinked(p.graph, {p.program}, machine.graph,
                                        {machine.program}, {}));
  engine.load(p.device());
  engine.run(0);
  EXPECT_EQ(p.read(engine)[0], (std::vector<float>{-2, 5, 1, -3}));
}

TEST_F(EngineApi, PrintsASummaryOfWhatRan) {
  Engine engine = p.makeEngine();
  engine.load(p.device());
  engine.run(0, "train");
  std::ostringstream text;
  engine.printProfileSummary(text, {{"showExecutionSteps", "true"}});
  EXPECT_FALSE(text.str().empty());
  EXPECT_THROW(engine.printProfileSummary(text, {{"showAll", "true"}}),
               invalid_option);
}

TEST_F(EngineApi, SummarisesTheRunsSinceTheLastReset) {
  Engine engine = p.makeEngine();
  engine.load(p.device());
  const auto summary = [&] {
    std::ostringstream text;
    engine.printProfileSummary(text, {{"showExecutionSteps", "true"}});
    return text.str();
  };
  const std::string before = summary();
  engine.disableExecutionProfiling();
  engine.run(0, "warm-up");
  EXPECT_EQ(summary(), before);
  engine.enableExecutionProfiling();
  engine.run(0, "train");
  EXPECT_NE(summary(), before);
  engine.resetExecutionProfile();
  EXPECT_EQ(summary(), before);
}

} // namespace
