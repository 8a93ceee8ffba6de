// What callbacks of streams are asked, and when: the traces that the SDK
// documents for fetching and prefetching.
#include "EngineProgram.hpp"
#include "ExpectError.hpp"

#include "engine/CallbackEnd.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace poplar;
using poplar::test::EngineProgram;

// Counts up from zero and writes down how it was called: F fetch, P prefetch,
// n a prefetch that was declined, C complete, I invalidatePrefetched.
class Recorder : public StreamCallback {
public:
  Recorder(std::string &trace, int available = 1000)
      : trace_(trace), available_(available) {}

  Result prefetch(void *buffer) override {
    if (available_ == 0) {
      trace_ += 'n';
      return Result::NotAvailable;
    }
    --available_;
    trace_ += 'P';
    *static_cast<float *>(buffer) = next_++;
    return Result::Success;
  }
  void fetch(void *__restrict buffer) noexcept override {
    trace_ += 'F';
    *static_cast<float *>(buffer) = next_++;
  }
  void complete() override { trace_ += 'C'; }
  void invalidatePrefetched() override { trace_ += 'I'; }

private:
  std::string &trace_;
  int available_;
  float next_ = 0;
};

// Sums up the five transfers of a run.
class HostStreamsProtocol : public testing::Test {
protected:
  Engine makeEngine(const OptionFlags &options, const char *depth = "1") {
    const DataStream in = p.graph.addHostToDeviceFIFO(
        "in", FLOAT, 1, ReplicatedStreamMode::REPLICATE,
        {{"bufferingDepth", depth}});
    const Tensor x = p.addTemporary("x", {1});
    sum = p.addHostVariable("sum", {1}, 0); // starts as -5
    p.repeat(5, [&] {
      p.program.add(program::Copy(in, x));
      p.elementwise("a+b", {x, sum}, sum);
    });
    Engine engine(p.graph, p.program, options);
    engine.load(p.device());
    return engine;
  }
  void connect(Engine &engine) {
    engine.connectStreamToCallback("in", std::make_unique<Recorder>(trace));
  }

  const OptionFlags prefetching = {{"exchange.streamBufferOverlap", "none"}};
  EngineProgram p;
  Tensor sum;
  std::string trace;
};

TEST_F(HostStreamsProtocol, FetchesEveryTransferByDefault) {
  Engine engine = makeEngine({});
  connect(engine);
  engine.run();
  EXPECT_EQ(trace, "FCFCFCFCFC");
}

TEST_F(HostStreamsProtocol, PrefetchesTheNextTransferAcrossRuns) {
  Engine engine = makeEngine(prefetching);
  connect(engine);
  engine.run();
  EXPECT_EQ(trace, "FCPCPCPCPCP");
  trace.clear();
  engine.run();
  EXPECT_EQ(trace, "CPCPCPCPCP");
  EXPECT_EQ(p.read(engine)[0][0], -5 + 45); // 0 + 1 + ... + 9, each once
}

TEST_F(HostStreamsProtocol, PrefetchesWhenOnlyHostRearrangementOverlaps) {
  Engine engine =
      makeEngine({{"exchange.streamBufferOverlap", "hostRearrangeOnly"}});
  connect(engine);
  engine.run();
  EXPECT_EQ(trace, "FCPCPCPCPCP");
}

TEST_F(HostStreamsProtocol, DoesNotPrefetchWhenItIsTurnedOff) {
  Engine engine = makeEngine({{"exchange.streamBufferOverlap", "none"},
                              {"exchange.enablePrefetch", "false"}});
  connect(engine);
  engine.run();
  EXPECT_EQ(trace, "FCFCFCFCFC");
}

TEST_F(HostStreamsProtocol, PrefetchesAsDeepAsTheStream) {
  Engine engine = makeEngine(prefetching, "2");
  connect(engine);
  engine.run();
  EXPECT_EQ(trace, "FCPPCPCPCPCP");
  EXPECT_EQ(p.read(engine)[0][0], -5 + 10);
}

TEST_F(HostStreamsProtocol, TellsTheOldCallbackThatItsDataIsNotUsed) {
  Engine engine = makeEngine(prefetching);
  connect(engine);
  engine.run();
  trace.clear();
  connect(engine);
  EXPECT_EQ(trace, "I");
  engine.run();
  EXPECT_EQ(trace, "IFCPCPCPCPCP");
  EXPECT_EQ(p.read(engine)[0][0], -5 + 10 + 10);
  std::vector<float> buffer = {100};
  engine.connectStream("in", buffer.data());
  EXPECT_EQ(trace.back(), 'I');
  engine.run();
  EXPECT_EQ(p.read(engine)[0][0], -5 + 10 + 10 + 500);
}

TEST_F(HostStreamsProtocol, LetsACallbacksExceptionOutOfTheRun) {
  Engine engine = makeEngine({});
  int calls = 0;
  engine.connectStreamToCallback("in", [&](void *) {
    if (++calls == 3) {
      throw std::range_error("no more data");
    }
  });
  expectError<std::range_error>([&] { engine.run(); }, "no more data");
  connect(engine);
  EXPECT_NO_THROW(engine.run());
}

TEST_F(HostStreamsProtocol, RejectsACallbackThatIsNotThere) {
  Engine engine = makeEngine({});
  expectError<stream_connection_error>(
      [&] {
        engine.connectStreamToCallback("in", std::unique_ptr<Recorder>());
      },
      "'in'", "empty");
}

// Five transfers; the sum of what was received.
float receiveFive(engine::CallbackEnd &end) {
  float sum = 0;
  for (int i = 0; i < 5; ++i) {
    float value = 0;
    end.receive(reinterpret_cast<std::byte *>(&value));
    sum += value;
  }
  return sum;
}

TEST(HostStreamsBuffering, FillsAsManyBuffersAsTheStreamHas) {
  std::string trace;
  engine::CallbackEnd end(std::make_unique<Recorder>(trace), sizeof(float), 3);
  EXPECT_EQ(receiveFive(end), 0 + 1 + 2 + 3 + 4);
  EXPECT_EQ(trace, "FCPPPCPCPCPCP");
  EXPECT_EQ(receiveFive(end), 5 + 6 + 7 + 8 + 9);
}

TEST(HostStreamsBuffering, FetchesWhatCouldNotBePrefetched) {
  std::string trace;
  engine::CallbackEnd end(std::make_unique<Recorder>(trace, 3), sizeof(float),
                          2);
  EXPECT_EQ(receiveFive(end), 0 + 1 + 2 + 3 + 4);
  EXPECT_EQ(trace, "FCPPCPCnCnFCn");
}

TEST(HostStreamsSending, ShowsDataToTheCallbackAndCompletes) {
  EngineProgram p;
  const Tensor x = p.addHostVariable("x", {1}, 1); // -3
  const DataStream out = p.graph.addDeviceToHostFIFO("out", FLOAT, 1);
  p.program.add(program::Copy(x, out));
  Engine engine(p.graph, p.program, {{"exchange.streamBufferOverlap", "none"}});
  engine.load(p.device());
  std::string trace;
  engine.connectStreamToCallback("out", std::make_unique<Recorder>(trace));
  engine.run();
  EXPECT_EQ(trace, "FC");
  EXPECT_EQ(p.read(engine)[0][0], -3); // what the callback wrote is not kept
}

// Large enough for several threads to copy parts of it. What a transfer left in
// the host's memory is there when the next one reads it.
TEST(HostStreamsBuffers, HoldATransferBeforeTheNextBegins) {
  constexpr std::size_t count = 200'001;
  EngineProgram p;
  const DataStream in = p.graph.addHostToDeviceFIFO("in", FLOAT, count);
  const DataStream out = p.graph.addDeviceToHostFIFO("out", FLOAT, count);
  const Tensor x = p.addTemporary("x", {count});
  p.repeat(5, [&] {
    p.program.add(program::Copy(in, x));
    p.elementwise("a+1", {x}, x);
    p.program.add(program::Copy(x, out));
  });
  for (const char *threads : {"1", "2"}) {
    const test::Environment environment("ASPEN_THREADS", threads);
    Engine engine = p.makeEngine();
    engine.load(p.device());
    std::vector<float> buffer(count);
    engine.connectStream("in", buffer.data());
    engine.connectStream("out", buffer.data());
    engine.run();
    EXPECT_EQ(buffer, std::vector<float>(count, 5));
  }
}

} // namespace
