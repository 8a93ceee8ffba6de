// The Engine's contract with its caller: errors, streams, options, host access.
#include "EngineProgram.hpp"

#include <poplar/internal/LinkedPrograms.hpp>

#include <gtest/gtest.h>

#include <sstream>

namespace {

using namespace poplar;
using poplar::test::EngineProgram;
using poplar::test::Environment;

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

TEST_F(EngineApi, RejectsUnknownOptionsAndValues) {
  const auto compile = [&](const OptionFlags &options) {
    return messageOf<invalid_option>(
        [&] { Engine engine(p.graph, p.program, options); });
  };
  EXPECT_NE(compile({{"debug.instrumnet", "true"}}).find("debug.instrumnet"),
            std::string::npos);
  EXPECT_NE(compile({{"debug.instrument", "yes"}}).find("true|false"),
            std::string::npos);
  EXPECT_EQ(compile({{"debug.instrument", "true"},
                     {"exchange.streamBufferOverlap", "none"},
                     {"opt.maxCompilationThreads", "2"},
                     {"streamCallbacks.multiThreadMode", "singleThread"}}),
            "");
}

TEST_F(EngineApi, TakesOptionsOfTheEnvironmentAtEachCompile) {
  {
    const Environment options("POPLAR_ENGINE_OPTIONS",
                              R"({"debug.instrument":"true"})");
    const Engine engine(p.graph, p.program, {{"debug.instrument", "false"}});
    EXPECT_EQ(engine.getEngineOptions().at("debug.instrument"), "true");
  }
  {
    const Environment options("POPLAR_ENGINE_OPTIONS", R"({"no.such":"1"})");
    EXPECT_THROW(p.makeEngine(), invalid_option);
  }
  {
    const Environment options("POPLAR_ENGINE_OPTIONS", "debug.instrument");
    EXPECT_THROW(p.makeEngine(), parse_error);
  }
  EXPECT_NO_THROW(p.makeEngine());
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
  EXPECT_THROW(engine.load(model.createDevice()), poplar_error);
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

} // namespace
